// Events in the store.
//
// 1. An event is one record with the deliveries that it waits for: publishing is one write, and so is recording a delivery.
// 2. Keys are in the order of publication. An event has a `due` as long as it waits for a delivery.
// 3. A dead letter is stored before its delivery is removed. A crash between the two repeats the last attempt.
import type { BusEvent, Json, Records, StoredRecord } from '../../contracts/index.ts'

const events = 'event'
const deadEvents = 'dead_event'
/** From the id that a publisher gave to the key of the event. */
const eventIds = 'event_id'
const pageSize = 100

export interface Delivery {
  readonly subscriber: string
  readonly attempts: number
  /** When it is tried next. */
  readonly due: number
  /** Of the last attempt. */
  readonly error?: string
}

export interface StoredEvent {
  readonly key: string
  readonly event: BusEvent
  readonly waiting: readonly Delivery[]
}

/** An event that was not delivered. */
export interface DeadLetter {
  readonly key: string
  readonly event: BusEvent
  readonly subscribers: readonly string[]
  readonly attempts: number
  readonly error: string
  /** When it was given up. */
  readonly at: number
  /** Its chain was too long. A retry begins a new one. */
  readonly isChainEnd: boolean
}

type Value<Record extends { readonly key: string }> = Omit<Record, 'key'>
const parsed = <Stored extends { readonly key: string }>({ key, value }: StoredRecord): Stored =>
  ({ key, ...(value as object) }) as unknown as Stored

function recordOf({ event, waiting }: Value<StoredEvent>): Omit<StoredRecord, 'key'> {
  const value = { event, waiting } as unknown as Json
  return waiting.length === 0 ? { value } : { value, due: Math.min(...waiting.map(({ due }) => due)) }
}

async function* pagesOf(records: Records, namespace: string, dueBefore?: number): AsyncGenerator<readonly StoredRecord[]> {
  let after = ''
  for (;;) {
    const page = await records.list(namespace, { limit: pageSize, after, ...(dueBefore !== undefined && { dueBefore }) })
    if (page.length > 0) yield page
    if (page.length < pageSize) return
    after = page.at(-1)?.key ?? ''
  }
}

/** In the order of publication, those that wait for a delivery that is due. */
export async function* dueEvents(records: Records, now: number): AsyncGenerator<StoredEvent> {
  for await (const page of pagesOf(records, events, now + 1)) yield* page.map(parsed<StoredEvent>)
}

/** The key of the event with that id: the given one if the id is new. */
export async function reserveKey(records: Records, id: string, key: string): Promise<string> {
  return (await records.update(eventIds, id, (before) => before ?? { value: key }))?.value as string
}

export const hasEvent = async (records: Records, key: string): Promise<boolean> => (await records.get(events, key)) !== undefined

/** Stores it once. */
export async function storeEvent(records: Records, { key, ...value }: StoredEvent): Promise<void> {
  await records.update(events, key, (before) => before ?? recordOf(value))
}

/** Records how a delivery ended: `undefined` if it is complete. */
export async function settleDelivery(
  records: Records,
  { key, subscriber }: { readonly key: string; readonly subscriber: string },
  next?: Delivery,
): Promise<void> {
  await records.update(events, key, (before) => {
    if (before === undefined) return undefined
    const stored = parsed<StoredEvent>(before)
    const others = stored.waiting.filter((each) => each.subscriber !== subscriber)
    return recordOf({ event: stored.event, waiting: next === undefined ? others : [...others, next] })
  })
}

export const deadKey = (key: string, subscriber: string): string => `${key}/${subscriber}`

export async function storeDeadLetter(records: Records, { key, ...letter }: DeadLetter): Promise<void> {
  await records.update(deadEvents, key, () => ({ value: letter as unknown as Json }))
}

export async function removeDeadLetter(records: Records, key: string): Promise<void> {
  await records.update(deadEvents, key, () => undefined)
}

/** Has it delivered again. A running kernel notices within a second. */
export async function retryDeadLetter(records: Records, letter: DeadLetter, now: number): Promise<void> {
  const again = letter.subscribers.map((subscriber): Delivery => ({ subscriber, attempts: 0, due: now }))
  const [key = ''] = letter.key.split('/')
  await records.update(events, key, (before) => {
    const stored = before === undefined ? { event: letter.event, waiting: [] } : parsed<StoredEvent>(before)
    const others = stored.waiting.filter(({ subscriber }) => !letter.subscribers.includes(subscriber))
    const event = letter.isChainEnd ? { ...stored.event, hops: 0, startedAt: now } : stored.event
    return recordOf({ event, waiting: [...others, ...again] })
  })
  await removeDeadLetter(records, letter.key)
}

/** Removes the oldest ones that wait for nothing. */
export async function trimEvents(records: Records, keep: number): Promise<void> {
  for (const namespace of [events, deadEvents]) {
    const settled: { readonly key: string; readonly id: string }[] = []
    for await (const page of pagesOf(records, namespace))
      for (const record of page) if (record.due === undefined) settled.push({ key: record.key, id: parsed<StoredEvent>(record).event.id })
    for (const { key, id } of settled.slice(0, -keep)) {
      // Somebody may have it delivered again since it was read.
      const left = await records.update(namespace, key, (before) => (before?.due === undefined ? undefined : before))
      if (namespace === events && left === undefined && id !== key) await records.update(eventIds, id, () => undefined)
    }
  }
}

export interface EventFilter {
  readonly name?: string
  readonly limit: number
}

/** The newest ones, newest first. */
export const listEvents = (records: Records, filter: EventFilter): Promise<readonly StoredEvent[]> =>
  newest<StoredEvent>(records, events, filter)

/** The newest ones, newest first. */
export const listDeadLetters = (records: Records, filter: EventFilter): Promise<readonly DeadLetter[]> =>
  newest<DeadLetter>(records, deadEvents, filter)

async function newest<Stored extends StoredEvent | DeadLetter>(
  records: Records,
  namespace: string,
  { name, limit }: EventFilter,
): Promise<readonly Stored[]> {
  let found: readonly Stored[] = []
  for await (const page of pagesOf(records, namespace)) {
    const matching = page.map(parsed<Stored>).filter(({ event }) => name === undefined || event.name === name)
    found = [...found, ...matching].slice(-limit)
  }
  return found.toReversed()
}
