// Events in the store.
//
// 1. An event is one record with the deliveries that it waits for: publishing is one write, and so is recording a delivery.
// 2. Keys are in the order of publication. An event has a `due` as long as it waits for a delivery.
// 3. A dead letter is stored before its delivery is removed. A crash between the two repeats the last attempt.
import type { BusEvent, Records } from '../../contracts/index.ts'
import { type RecordTable, type Row, recordTable } from '../shared/record-table.ts'

export interface Delivery {
  readonly subscriber: string
  readonly attempts: number
  /** When it is tried next. */
  readonly due: number
  /** The error of the last attempt. */
  readonly error?: string
}

export interface StoredEvent {
  readonly event: BusEvent
  readonly waiting: readonly Delivery[]
}

/** An event that was not delivered. Its key begins with the key of the event. */
export interface DeadLetter {
  readonly event: BusEvent
  readonly subscribers: readonly string[]
  readonly attempts: number
  readonly error: string
  /** When it was given up. */
  readonly at: number
  /** Its chain was too long. A retry begins a new one. */
  readonly isChainEnd: boolean
}

export const eventTables = (records: Records) => ({
  events: recordTable<StoredEvent>(records, 'event'),
  dead: recordTable<DeadLetter>(records, 'dead_event'),
  /** The keys of events whose publisher gave an id. */
  ids: recordTable<{ readonly eventKey: string }>(records, 'event_id'),
})
type EventTables = ReturnType<typeof eventTables>

export function withDeliveries(event: BusEvent, waiting: readonly Delivery[]): StoredEvent & { readonly due?: number } {
  return { event, waiting, ...(waiting.length > 0 && { due: Math.min(...waiting.map(({ due }) => due)) }) }
}

interface Settled {
  readonly key: string
  readonly subscriber: string
  /** Absent: the delivery is complete. */
  readonly next?: Omit<Delivery, 'subscriber'>
}

export async function settleDelivery({ events }: EventTables, { key, subscriber, next }: Settled): Promise<void> {
  await events.update(key, (stored) => {
    const others = stored?.waiting.filter((each) => each.subscriber !== subscriber) ?? []
    return stored && withDeliveries(stored.event, next === undefined ? others : [...others, { subscriber, ...next }])
  })
}

/** Removes the oldest ones that wait for nothing. */
export async function trimEvents({ events, dead, ids }: EventTables, keep: number): Promise<void> {
  for (const table of [events, dead] as readonly RecordTable<StoredEvent | DeadLetter>[]) {
    const settled: { readonly key: string; readonly id: string }[] = []
    for await (const { key, due, event } of table.rows()) if (due === undefined) settled.push({ key, id: event.id })
    for (const { key, id } of settled.slice(0, -keep)) {
      // It may have been given back for delivery since it was read.
      const before = await table.update(key, (stored) => (stored?.due === undefined ? undefined : stored))
      if (table === events && before?.due === undefined && id !== key) await ids.update(id, () => undefined)
    }
  }
}

/** Has a dead letter delivered again. A running kernel notices within a second. */
export async function retryDeadLetter(records: Records, { key: letterKey, ...letter }: Row<DeadLetter>, now: number): Promise<void> {
  const { events, dead } = eventTables(records)
  const [key = ''] = letterKey.split('/')
  const again = letter.subscribers.map((subscriber): Delivery => ({ subscriber, attempts: 0, due: now }))
  await events.update(key, (stored) => {
    const event = stored?.event ?? letter.event
    const others = stored?.waiting.filter(({ subscriber }) => !letter.subscribers.includes(subscriber)) ?? []
    return withDeliveries(letter.isChainEnd ? { ...event, hops: 0, startedAt: now } : event, [...others, ...again])
  })
  await dead.update(letterKey, () => undefined)
}

interface EventFilter {
  readonly name?: string | undefined
  readonly limit: number
}

/** The newest ones, newest first. */
export const listEvents = (records: Records, filter: EventFilter): Promise<readonly Row<StoredEvent>[]> =>
  newest(eventTables(records).events, filter)
/** The newest ones, newest first. */
export const listDeadLetters = (records: Records, filter: EventFilter): Promise<readonly Row<DeadLetter>[]> =>
  newest(eventTables(records).dead, filter)

async function newest<Value extends StoredEvent | DeadLetter>(
  table: RecordTable<Value>,
  { name, limit }: EventFilter,
): Promise<readonly Row<Value>[]> {
  const found: Row<Value>[] = []
  for await (const row of table.rows()) if ((name === undefined || row.event.name === name) && found.push(row) > limit) found.shift()
  return found.toReversed()
}
