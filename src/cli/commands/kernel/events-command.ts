import { type BusEvent, TroupeError } from '../../../contracts/index.ts'
import { type DeadLetter, listDeadLetters, listEvents, projectRecords, retryDeadLetter, type StoredEvent } from '../../../kernel/index.ts'
import { hasStore, type StorePlace, sessionPlace, withSessions, withStore } from '../../../project/index.ts'
import { knownNames } from '../../../util/nearest-names.ts'
import { plural } from '../../../util/plural.ts'
import type { EventsInvocation } from '../../arguments/kernel-invocations.ts'
import { columns, columnsOn, type Row } from '../../terminal/columns.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { auditAction } from '../audit/audit-action.ts'

const defaultLimit = 50

/** `troupe events list|retry`. A running kernel reads the same store. */
export async function eventsCommand(invocation: EventsInvocation, host: Host): Promise<number> {
  const { action } = invocation
  checkFlags(invocation)
  switch (action) {
    case 'list':
      await list(invocation, host)
      break
    case 'retry':
      await retry(invocation, host)
      break
    default:
      return action satisfies never
  }
  return exitCodes.done.code
}

function checkFlags({ action, id, isAll, isDead, limit, name }: EventsInvocation): void {
  const wrong = (message: string, remedy: string): TroupeError => new TroupeError('usage', message, { remedy })
  if (action === 'list' && id !== undefined) throw wrong(`The command events list takes no argument, not "${id}".`, 'Remove it.')
  if (action === 'list' && isAll) throw wrong('The flag --all belongs to events retry.', 'Remove it.')
  if (action === 'retry' && (isDead || limit !== undefined))
    throw wrong('The flags --dead and --limit belong to events list.', 'Remove them.')
  if (action === 'retry' && isAll === (id !== undefined))
    throw wrong(
      isAll ? 'The id and --all cannot be combined.' : 'The id of the event is missing.',
      'Write: troupe events retry ID, or: troupe events retry --all',
    )
  if (action === 'retry' && id !== undefined && name !== undefined)
    throw wrong('The id and --name cannot be combined.', 'Remove one of them.')
}

async function list(invocation: EventsInvocation, host: Host): Promise<void> {
  const { name, isDead, display } = invocation
  const filter = { name, limit: limitOf(invocation.limit) }
  const place = await sessionPlace(invocation, host)
  const events = await withSessions<readonly ShownEvent[]>(place, [], async (store) => {
    const records = projectRecords(store.records, process.cwd())
    if (isDead) return listDeadLetters(records, filter)
    const dead = await listDeadLetters(records, { limit: Number.POSITIVE_INFINITY })
    const failed = new Set(dead.map(({ event }) => event.id))
    return (await listEvents(records, filter)).map((each) => ({ ...each, hasFailed: failed.has(each.event.id) }))
  })
  if (invocation.output === 'json') await printDocument({ events: events.map(documentOf) }, host)
  else if (events.length === 0) await printNotice(isDead ? 'No failed events.' : 'No events.', { host, display })
  else await host.stdout.lines(columns(events.map(rowOf), { maxWidth: columnsOn(host.stdout) }))
}

/** `hasFailed`: it has a dead letter. */
type ShownEvent = (StoredEvent & { readonly hasFailed: boolean }) | DeadLetter

async function retry(invocation: EventsInvocation, host: Host): Promise<void> {
  const { id, name, display } = invocation
  const place = await sessionPlace(invocation, host)
  const ids = hasStore(place) ? await retryIn(place, { id, name, now: host.now() }) : []
  if (id !== undefined && ids.length === 0) throw unknownEvent(id, [])
  if (invocation.output === 'json') return printDocument({ retried: ids }, host)
  const text = ids.length === 0 ? 'No failed events.' : `${plural(ids.length, 'event')} will be delivered again.`
  await printNotice(text, { host, display })
}

interface Chosen {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly now: number
}

/** The ids of the events. */
const retryIn = (place: StorePlace, { id, name, now }: Chosen): Promise<readonly string[]> =>
  withStore(place, async (store) => {
    const records = projectRecords(store.records, process.cwd())
    const dead = await listDeadLetters(records, { name, limit: Number.POSITIVE_INFINITY })
    const chosen = dead.filter(({ event }) => id === undefined || event.id === id)
    const known = dead.map(({ event }) => event.id)
    if (id !== undefined && chosen.length === 0) throw unknownEvent(id, known)
    // The oldest first, as they were published.
    for (const letter of chosen.toReversed()) {
      await retryDeadLetter(records, letter, now)
      await auditAction(store, { action: 'event.retry', event: letter.event.id, name: letter.event.name })
    }
    return [...new Set(chosen.map(({ event }) => event.id))]
  })

const unknownEvent = (id: string, known: readonly string[]): TroupeError =>
  new TroupeError('usage', `There is no failed event with the id "${id}".`, {
    remedy:
      known.length === 0 ? 'There are no failed events.' : `${knownNames(id, known.slice(0, 10), 'event')} List: troupe events list --dead`,
  })

function limitOf(written: string | undefined): number {
  if (written === undefined) return defaultLimit
  if (/^[1-9]\d{0,5}$/.test(written)) return Number(written)
  throw new TroupeError('usage', 'The command line is invalid.', {
    problems: [{ place: '--limit', message: `expected a number from 1 to 999999, not "${written}"`, remedy: 'Write it like --limit 100.' }],
  })
}

/** Times as texts. */
const timesOf = ({ at, startedAt, ...event }: BusEvent) => ({ ...event, at: timeOf(at), startedAt: timeOf(startedAt) })
const timeOf = (at: number): string => new Date(at).toISOString()

function documentOf(stored: ShownEvent) {
  const event = timesOf(stored.event)
  if ('waiting' in stored) return { ...event, status: statusOf(stored), waiting: stored.waiting.map(deliveryOf) }
  const { subscribers, attempts, error, at } = stored
  return { ...event, status: 'failed', subscribers, attempts, error, failedAt: timeOf(at) }
}
const deliveryOf = ({ due, ...delivery }: StoredEvent['waiting'][number]) => ({ ...delivery, nextAt: timeOf(due) })

const statusOf = ({ waiting, hasFailed }: StoredEvent & { readonly hasFailed: boolean }): string =>
  waiting.length > 0 ? 'waiting' : hasFailed ? 'failed' : 'delivered'

function rowOf(stored: ShownEvent): Row {
  const { name, source, at, id, hops } = stored.event
  const facts = [`from ${source}`, ...(hops > 0 ? [`hop ${hops}`] : []), ...outcomeOf(stored), id]
  return [timeOf(at), printable(`${name} · ${facts.join(' · ')}`)]
}

function outcomeOf(stored: ShownEvent): readonly string[] {
  if ('error' in stored) {
    const attempts = stored.attempts === 0 ? '' : ` after ${plural(stored.attempts, 'attempt')}`
    return [`not delivered to ${stored.subscribers.join(', ')}${attempts}`, stored.error]
  }
  if (stored.waiting.length === 0) return [statusOf(stored)]
  return stored.waiting.map(
    ({ subscriber, attempts, error }) =>
      `waits for ${subscriber}${error === undefined ? '' : ` (${plural(attempts, 'attempt')} failed: ${error})`}`,
  )
}
