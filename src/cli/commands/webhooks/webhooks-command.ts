import { TroupeError } from '../../../contracts/index.ts'
import { type Delivery, deliveryTable, hasStore, retryDeliveries, sessionPlace, withSessions, withStore } from '../../../project/index.ts'
import { plural } from '../../../util/plural.ts'
import type { WebhooksInvocation } from '../../arguments/serve-invocations.ts'
import { columns, columnsOn, type Row } from '../../terminal/columns.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { auditAction } from '../audit/audit-action.ts'

/** `troupe webhooks list|retry`: deliveries to outgoing webhooks. Running processes use the same store. */
export async function webhooksCommand(invocation: WebhooksInvocation, host: Host): Promise<number> {
  const { action, id, isAll } = invocation
  const wrong = (message: string, remedy: string): TroupeError => new TroupeError('usage', message, { remedy })
  if (action === 'list' && (id !== undefined || isAll)) throw wrong('The command webhooks list takes no id and no --all.', 'Remove it.')
  if (action === 'retry' && isAll === (id !== undefined))
    throw wrong(
      isAll ? 'The id and --all cannot be combined.' : 'The id of the notification is missing.',
      'Write: troupe webhooks retry ID, or: troupe webhooks retry --all',
    )
  await (action === 'list' ? list(invocation, host) : retry(invocation, host))
  return exitCodes.done.code
}

async function list(invocation: WebhooksInvocation, host: Host): Promise<void> {
  const place = await sessionPlace(invocation, host)
  const found = await withSessions<readonly Delivery[]>(place, [], ({ records }) => deliveryTable(records, process.cwd()).list())
  const deliveries = found.toSorted((a, b) => b.notice.at - a.notice.at)
  if (invocation.output === 'json') await printDocument({ deliveries: deliveries.map(documentOf) }, host)
  else if (deliveries.length === 0) await printNotice('Nothing waits for delivery.', { host, display: invocation.display })
  else await host.stdout.lines(columns(deliveries.map(rowOf), { maxWidth: columnsOn(host.stdout) }))
}

async function retry(invocation: WebhooksInvocation, host: Host): Promise<void> {
  const { id, display } = invocation
  const place = await sessionPlace(invocation, host)
  const ids = hasStore(place)
    ? await withStore(place, async (store) => {
        const found = await retryDeliveries(deliveryTable(store.records, process.cwd()), { id, now: host.now() })
        for (const each of found) await auditAction(store, { action: 'webhook.retry', notification: each })
        return found
      })
    : []
  if (id !== undefined && ids.length === 0)
    throw new TroupeError('usage', `There is no notification with the id "${id}" that was given up.`, {
      remedy: 'List them: troupe webhooks list',
    })
  if (invocation.output === 'json') return printDocument({ retried: ids }, host)
  const text = ids.length === 0 ? 'Nothing was given up.' : `${plural(ids.length, 'notification')} will be delivered again.`
  await printNotice(text, { host, display })
}

const timeOf = (at: number): string => new Date(at).toISOString()

const documentOf = ({ webhook, notice, attempts, error, isDead, due }: Delivery) => ({
  id: notice.id,
  webhook,
  event: notice.event,
  sessionId: notice.sessionId,
  at: timeOf(notice.at),
  status: isDead ? 'failed' : 'waiting',
  attempts,
  ...(error !== undefined && { error }),
  ...(!isDead && { nextAt: timeOf(due) }),
})

function rowOf({ webhook, notice, attempts, error, isDead, due }: Delivery): Row {
  const failed = error === undefined ? [] : [`${plural(attempts, 'attempt')} failed`, error]
  const next = isDead ? 'given up' : `next attempt ${timeOf(due)}`
  return [timeOf(notice.at), printable([`${notice.event} → ${webhook}`, ...failed, next, notice.id].join(' · '))]
}
