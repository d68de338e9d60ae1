import { TroupeError } from '../../../contracts/index.ts'
import { hasStore, sessionPlace, withStore } from '../../../project/index.ts'
import { systemClock } from '../../../runtime/index.ts'
import { createToken, listTokens, revokeToken, type TokenRecord } from '../../../server/http/index.ts'
import { knownNames } from '../../../util/nearest-names.ts'
import { timeText } from '../../../view/index.ts'
import type { TokenInvocation } from '../../arguments/serve-invocations.ts'
import { columns, columnsOn, type Row } from '../../terminal/columns.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { auditAction } from '../audit/audit-action.ts'
import { tokenSettings } from './token-settings.ts'

/** `troupe token create|list|revoke`. A running server reads tokens for each request. */
export async function tokenCommand(invocation: TokenInvocation, host: Host): Promise<number> {
  const { action, argument } = invocation
  if (action !== 'revoke' && argument !== undefined)
    throw new TroupeError('usage', `The command token ${action} takes no argument, not "${argument}".`, {
      remedy: action === 'create' ? `Write: troupe token create --name ${argument}` : 'Remove it.',
    })
  switch (action) {
    case 'create':
      await create(invocation, host)
      break
    case 'list':
      await list(invocation, host)
      break
    case 'revoke':
      await revoke(invocation, host)
      break
    default:
      return action satisfies never
  }
  return exitCodes.done.code
}

/** Standard output gets the token and nothing else. */
async function create(invocation: TokenInvocation, host: Host): Promise<void> {
  const settings = tokenSettings(invocation, host.now())
  const place = await sessionPlace(invocation, host)
  const token = await withStore(place, async (store) => {
    const created = await createToken(store.records, settings, { clock: systemClock })
    await auditAction(store, { action: 'token.create', token: settings.name, scopes: settings.scopes.join(',') })
    return created
  })
  if (invocation.output === 'json') return printDocument({ token, ...settings }, host)
  await host.stdout.line(token)
  await printNotice(`This is the only time that the token "${settings.name}" is shown. Send it as: Authorization: Bearer TOKEN`, {
    host,
    display: invocation.display,
  })
}

async function list(invocation: TokenInvocation, host: Host): Promise<void> {
  const place = await sessionPlace(invocation, host)
  const tokens = hasStore(place) ? await withStore(place, ({ records }) => listTokens(records)) : []
  if (invocation.output === 'json')
    return printDocument({ tokens: tokens.map(({ hash: _, ...token }) => ({ ...token, createdAt: timeOf(token.createdAt) })) }, host)
  if (tokens.length === 0)
    return printNotice('No tokens. Create one: troupe token create --name NAME', { host, display: invocation.display })
  await host.stdout.lines(
    columns(
      tokens.map((token) => rowOf(token, host.now())),
      { maxWidth: columnsOn(host.stdout) },
    ),
  )
}

async function revoke(invocation: TokenInvocation, host: Host): Promise<void> {
  const name = invocation.argument ?? invocation.name
  if (name === undefined)
    throw new TroupeError('usage', 'The name of the token is missing.', { remedy: 'Write it like: troupe token revoke ci' })
  const place = await sessionPlace(invocation, host)
  if (!hasStore(place)) throw unknownToken(name, [])
  await withStore(place, async (store) => {
    if (!(await revokeToken(store.records, name))) throw unknownToken(name, await listTokens(store.records))
    await auditAction(store, { action: 'token.revoke', token: name })
  })
  if (invocation.output === 'json') return printDocument({ revoked: name }, host)
  await printNotice(`The token "${name}" is revoked. Its sessions stay in the store.`, { host, display: invocation.display })
}

const unknownToken = (name: string, tokens: readonly TokenRecord[]): TroupeError =>
  new TroupeError('usage', `There is no token with the name "${name}".`, {
    remedy:
      tokens.length === 0
        ? 'No tokens exist.'
        : knownNames(
            name,
            tokens.map((token) => token.name),
            'token',
          ),
  })

const timeOf = (at: number): string => new Date(at).toISOString()

function rowOf({ name, scopes, agents, budget, rates, expiresAt, createdAt }: TokenRecord, now: number): Row {
  const facts = [
    scopes.join(', '),
    ...(agents ? [`agents ${agents.join(', ')}`] : []),
    ...(budget?.costUsdPerDay === undefined ? [] : [`${budget.costUsdPerDay} usd/day`]),
    ...(budget?.tokensPerDay === undefined ? [] : [`${budget.tokensPerDay} tokens/day`]),
    ...(rates?.requestsPerMinute === undefined ? [] : [`${rates.requestsPerMinute} requests/minute`]),
    ...(rates?.requestsPerDay === undefined ? [] : [`${rates.requestsPerDay} requests/day`]),
    ...(expiresAt === undefined ? [] : [`${expiresAt <= now ? 'expired' : 'expires'} ${timeText(expiresAt)}`]),
    `created ${timeText(createdAt)}`,
  ]
  return [printable(name), printable(facts.join(' · '))]
}
