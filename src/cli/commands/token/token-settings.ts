import { type OwnerBudget, type Problem, roundUsd, TroupeError } from '../../../contracts/index.ts'
import { type RateLimits, type Scope, scopes, type TokenSettings } from '../../../server/http/index.ts'
import { parseAge } from '../../../util/parse-time.ts'
import type { TokenInvocation } from '../../arguments/serve-invocations.ts'

type Written = Pick<TokenInvocation, 'name' | 'scopes' | 'agents' | 'budget' | 'rate' | 'expires'>
type Parsed<Value> = { readonly value: Value } | { readonly message: string; readonly remedy: string }

const defaultScopes = 'run,read'

/** The flags of `token create`. @throws TroupeError `usage` with all wrong values. */
export function tokenSettings(written: Written, now: number): TokenSettings {
  const problems: Problem[] = []
  function read<Value>(flag: string, text: string | undefined, parse: (text: string) => Parsed<Value>): Value | undefined {
    if (text === undefined) return undefined
    const parsed = parse(text)
    if ('value' in parsed) return parsed.value
    problems.push({ place: `--${flag}`, ...parsed })
    return undefined
  }
  const { name } = written
  if (name === undefined) problems.push({ place: '--name', message: 'The flag is missing.', remedy: 'Write it like --name ci.' })
  const given = read('scopes', written.scopes ?? defaultScopes, parseScopes)
  const agents = read('agents', written.agents, parseAgents)
  const budget = read('budget', written.budget, parseBudget)
  const rates = read('rate', written.rate, parseRates)
  const age = read('expires', written.expires, parseExpiry)
  if (problems.length > 0)
    throw new TroupeError(
      'usage',
      problems.length === 1 ? 'The command line is invalid.' : `The command line has ${problems.length} errors.`,
      {
        problems,
        remedy: 'More: troupe help token',
      },
    )
  return {
    name: name ?? '',
    scopes: given ?? [],
    ...(agents && { agents }),
    ...(budget && { budget }),
    ...(rates && { rates }),
    ...(age !== undefined && { expiresAt: now + age }),
  }
}

const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')

function parseScopes(text: string): Parsed<readonly Scope[]> {
  const words = listOf(text)
  const wrong = words.find((word) => !(scopes as readonly string[]).includes(word))
  if (words.length === 0 || wrong !== undefined)
    return {
      message: `expected a list of scopes, not "${wrong ?? text}"`,
      remedy: `Use some of ${scopes.join(', ')}: --scopes ${defaultScopes}`,
    }
  return { value: scopes.filter((scope) => words.includes(scope)) }
}

function parseAgents(text: string): Parsed<readonly string[]> {
  const names = listOf(text)
  const wrong = names.find((name) => !/^[\w.-]+\*?$|^\*$/.test(name))
  if (names.length === 0 || wrong !== undefined)
    return { message: `expected names of agents, not "${wrong ?? text}"`, remedy: 'A star can only be at the end: --agents trip,mail-*' }
  return { value: names }
}

function parseBudget(text: string): Parsed<OwnerBudget> {
  const remedy = 'Write it like --budget 5usd/day,100000tokens/day.'
  const budget: { tokensPerDay?: number; costUsdPerDay?: number } = {}
  for (const part of listOf(text)) {
    const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?)\s?(usd|tokens?)\/day$/i.exec(part) ?? []
    const isUsd = unit.toLowerCase() === 'usd'
    const key = isUsd ? 'costUsdPerDay' : 'tokensPerDay'
    if (amount === '' || Number(amount) <= 0 || (!isUsd && !Number.isInteger(Number(amount))))
      return { message: `expected an amount a day in usd or tokens, not "${part}"`, remedy }
    if (isUsd && roundUsd(Number(amount)) !== Number(amount))
      return { message: `expected whole nano-dollars, not "${part}"`, remedy: 'Write at most nine decimal places: 0.000000001usd/day.' }
    if (budget[key] !== undefined)
      return { message: `expected one amount in ${isUsd ? 'usd' : 'tokens'}, found another: "${part}"`, remedy }
    budget[key] = Number(amount)
  }
  return Object.keys(budget).length > 0 ? { value: budget } : { message: 'expected an amount', remedy }
}

function parseRates(text: string): Parsed<RateLimits> {
  const remedy = 'Write it like --rate 60/minute,1000/day.'
  const rates: { requestsPerMinute?: number; requestsPerDay?: number } = {}
  for (const part of listOf(text)) {
    const [, amount = '', unit = ''] = /^(\d+)\/(minute|day)$/i.exec(part) ?? []
    if (amount === '' || Number(amount) === 0) return { message: `expected a number of requests a minute or a day, not "${part}"`, remedy }
    const key = unit.toLowerCase() === 'minute' ? 'requestsPerMinute' : 'requestsPerDay'
    if (rates[key] !== undefined) return { message: `expected one number a ${unit.toLowerCase()}, found another: "${part}"`, remedy }
    rates[key] = Number(amount)
  }
  return Object.keys(rates).length > 0 ? { value: rates } : { message: 'expected a number of requests', remedy }
}

function parseExpiry(text: string): Parsed<number> {
  const age = parseAge(text)
  return age !== undefined && age > 0 && /[a-z]/i.test(text)
    ? { value: age }
    : { message: `expected how long it is valid, not "${text}"`, remedy: 'Write it like --expires 90d or --expires 12h.' }
}
