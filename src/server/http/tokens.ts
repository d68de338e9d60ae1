import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, type Json, localPrincipal, type OwnerBudget, type Problem, type Records, TroupeError } from '../../contracts/index.ts'
import { anything, aString, checkOnlyFields, expectObject, type FieldType, optional, usageError } from '../../util/option-problems.ts'
import { type Caller, type RateLimits, type Scope, scopes } from './caller.ts'

// Tokens are stored as hashes: `trp_NAME_SECRET`. The name finds the record, the secret is compared in constant time.

const namespace = 'token'
const secretBytes = 24

export interface TokenSettings {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly agents?: readonly string[]
  readonly budget?: OwnerBudget
  readonly rates?: RateLimits
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
}

/** What is stored. The secret is not. */
export interface TokenRecord extends TokenSettings {
  readonly hash: string
  readonly createdAt: number
}

/** Finds the caller of a token. */
export interface TokenRegistry {
  find(token: string): Promise<Caller | undefined>
}

const isName = (name: string): boolean => /^[a-z0-9][a-z0-9.-]{0,62}$/.test(name)

const aList = (expected: string, accepts: (each: unknown) => boolean): FieldType => ({
  expected,
  accepts: (value) => Array.isArray(value) && value.length > 0 && value.every(accepts),
})
const amount: FieldType = { expected: 'a number of at least 0', accepts: (value) => typeof value === 'number' && value >= 0 }
const count: FieldType = { expected: 'an integer of at least 1', accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 1 }
const budgetFields = { tokensPerDay: optional(amount), costUsdPerDay: optional(amount) } satisfies Fields<OwnerBudget>
const rateFields = { requestsPerMinute: optional(count), requestsPerDay: optional(count) } satisfies Fields<RateLimits>
const settingFields = {
  name: aString,
  scopes: aList(`a list of ${scopes.join(', ')}`, (each) => scopes.includes(each as Scope)),
  agents: optional(aList('a list of names of agents', (each) => typeof each === 'string')),
  budget: optional(anything),
  rates: optional(anything),
  expiresAt: optional({ expected: 'milliseconds since 1970', accepts: Number.isFinite }),
} satisfies Fields<TokenSettings>
type Fields<Of> = { readonly [Key in keyof Of]-?: FieldType }

/** Programs without types may pass anything, and a wrong token would allow more than was meant. */
function checkSettings(settings: TokenSettings): void {
  const problems: Problem[] = []
  const place = 'token'
  if (expectObject(problems, settings, place)) {
    checkOnlyFields(problems, settings, { fields: settingFields, place })
    const { budget, rates } = settings
    if (expectObject(problems, budget, `${place}.budget`))
      checkOnlyFields(problems, budget, { fields: budgetFields, place: `${place}.budget` })
    if (expectObject(problems, rates, `${place}.rates`)) checkOnlyFields(problems, rates, { fields: rateFields, place: `${place}.rates` })
  }
  if (problems.length > 0) throw usageError(problems)
  if (!isName(settings.name))
    throw new TroupeError('usage', `"${settings.name}" is not a name for a token.`, {
      remedy: 'Use up to 63 small letters, digits, dots and hyphens.',
    })
}

export const hashToken = (token: string): string => hash('sha256', token)

/** A new token. It is shown once. `random`: for tests. */
export async function createToken(
  records: Records,
  settings: TokenSettings,
  { clock, random = randomBytes }: { readonly clock: Pick<Clock, 'now'>; readonly random?: (bytes: number) => Uint8Array },
): Promise<string> {
  checkSettings(settings)
  const { name } = settings
  const token = `trp_${name}_${Buffer.from(random(secretBytes)).toString('base64url')}`
  const record: TokenRecord = { ...settings, hash: hashToken(token), createdAt: clock.now() }
  let isTaken = false
  await records.update(namespace, name, (before) => {
    isTaken = before !== undefined
    return before ?? { value: record as unknown as Json }
  })
  if (isTaken)
    throw new TroupeError('usage', `A token with the name "${name}" exists.`, {
      remedy: `Choose another name, or revoke it: troupe token revoke ${name}`,
    })
  return token
}

export async function listTokens(records: Records): Promise<readonly TokenRecord[]> {
  const stored = await records.list(namespace)
  return stored.map(({ value }) => value as unknown as TokenRecord)
}

/** `false` if there is no such token. Takes effect with the next request. */
export async function revokeToken(records: Records, name: string): Promise<boolean> {
  let isThere = false
  await records.update(namespace, name, (before) => {
    isThere = before !== undefined
    return undefined
  })
  return isThere
}

interface StoredTokensOptions {
  readonly clock: Pick<Clock, 'now'>
  /** The token of the user of this machine. It may do everything. */
  readonly localToken?: string
}

/** Reads the record for each request, so that a revocation by another process takes effect. */
export function storedTokens(records: Records, { clock, localToken }: StoredTokensOptions): TokenRegistry {
  const local = localToken === undefined ? undefined : hashToken(localToken)
  return {
    async find(token) {
      const given = hashToken(token)
      if (local !== undefined && isSame(given, local)) return { principal: localPrincipal, scopes }
      const name = /^trp_([a-z0-9.-]{1,63})_/.exec(token)?.[1]
      const stored = name === undefined ? undefined : await records.get(namespace, name)
      const record = stored?.value as unknown as TokenRecord | undefined
      // Compared also without a record: the answer takes the same time.
      const isRight = isSame(given, record?.hash ?? hashToken(''))
      if (!record || !isRight || (record.expiresAt !== undefined && record.expiresAt <= clock.now())) return undefined
      return callerOf(record)
    },
  }
}

/**
 * The budgets of tokens, for the runtime. Reads the record each time, so that a change takes effect with the next turn. Sessions of a
 * revoked token get no further turn.
 */
export function budgetOfTokens(records: Pick<Records, 'get'>): (owner: string) => Promise<OwnerBudget | undefined> {
  return async (owner) => {
    const prefix = tokenOwner('')
    if (!owner.startsWith(prefix)) return undefined
    const stored = await records.get(namespace, owner.slice(prefix.length))
    return stored ? (stored.value as unknown as TokenRecord).budget : { tokensPerDay: 0 }
  }
}

const tokenOwner = (name: string): string => `token:${name}`

const callerOf = ({ name, scopes: given, agents, budget, rates }: TokenRecord): Caller => ({
  principal: { id: tokenOwner(name), kind: 'token', name },
  scopes: given,
  ...(agents && { agents }),
  ...(budget && { budget }),
  ...(rates && { rates }),
})

const isSame = (one: string, other: string): boolean => timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'))
