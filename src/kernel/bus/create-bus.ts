// The bus.
//
// 1. A durable event is stored with its subscribers before `publish` resolves. Each of them gets it until a delivery succeeds.
// 2. A subscriber gets events in the order of publication. One that failed waits for its retry; the next ones do not wait for it.
// 3. Deliveries are read from the store: nothing is lost with the process, and a backlog takes no memory.
import type { BusEvent, Clock, Ids, Records } from '../../contracts/index.ts'
import { showDuration } from '../../util/parse-units.ts'
import { ended, guardSteps } from '../shared/background-work.ts'
import type { Bus, Publication, ReportDiagnostic, Subscriber } from '../shared/kernel-types.ts'
import type { Row } from '../shared/record-table.ts'
import { currentEvent, Lane, withoutCause } from './lane.ts'
import { chainProblem, checkedData, newEvent } from './new-event.ts'
import { type Delivery, eventTables, type StoredEvent, settleDelivery, trimEvents, withDeliveries } from './stored-events.ts'

interface BusOptions {
  readonly records: Records
  readonly clock: Clock
  readonly ids: Ids
  readonly onDiagnostic: ReportDiagnostic
}

export interface RunningBus extends Bus {
  /** Delivers from now on. Until then events are only stored. */
  start(): void
  /** Waits for running handlers, up to five seconds. */
  stop(): Promise<void>
}

const retryDelaysMs = [1_000, 5_000, 30_000, 120_000, 600_000]
/** Retries are due in seconds, and `troupe events retry` is another process. */
const pollMs = 1_000
/** How long an event waits for a subscriber that is not there. */
const absentMs = 24 * 3_600_000
const keptEvents = 1_000
const trimAfter = 100
const maxInMemory = 1_000

export const createBus = (options: BusOptions): RunningBus => new StoredBus(options)

class StoredBus implements RunningBus {
  readonly #clock: Clock
  readonly #onDiagnostic: ReportDiagnostic
  readonly #tables: ReturnType<typeof eventTables>
  readonly #createEvent: ReturnType<typeof newEvent>
  readonly #guarded = guardSteps((reason) => this.#report(`Events cannot be read or written, and wait: ${reason}`, 'error'))
  readonly #lanes = new Map<string, Lane>()
  #state: 'new' | 'running' | 'stopped' = 'new'
  #startedAt = 0
  #delivered = trimAfter
  #cancelPoll = (): void => {}

  constructor({ records, clock, ids, onDiagnostic }: BusOptions) {
    this.#clock = clock
    this.#onDiagnostic = onDiagnostic
    this.#tables = eventTables(records)
    this.#createEvent = newEvent({ clock, ids })
  }

  async publish(publication: Publication): Promise<void> {
    const data = checkedData(publication)
    // An extension in a process of its own publishes outside of the context of its handler.
    const cause = publication.cause ?? currentEvent() ?? this.#lanes.get(publication.source)?.handling
    const { event, key } = this.#createEvent({ ...publication, data, ...(cause && { cause }) })
    const lanes = [...this.#lanes.values()].filter((lane) => lane.takes(event.name))
    if (publication.durable === false) return this.#publishInMemory(event, lanes)
    if (publication.id === undefined) return this.#publishDurable(event, key, lanes)
    const known = await this.#tables.ids.update(event.id, (before) => before ?? { eventKey: key })
    // Also if it is known: a crash may have come between the two writes.
    await this.#publishDurable(event, known?.eventKey ?? key, lanes)
  }

  subscribe(subscriber: Subscriber): () => void {
    const lane = this.#lanes.get(subscriber.id) ?? new Lane(subscriber.id, this.#clock)
    this.#lanes.set(lane.id, lane)
    lane.subscribers.add(subscriber)
    this.#wake(lane)
    return () => void lane.subscribers.delete(subscriber)
  }

  start(): void {
    if (this.#state !== 'new') return
    this.#state = 'running'
    this.#startedAt = this.#clock.now()
    for (const lane of this.#lanes.values()) this.#wake(lane)
    this.#pollLater()
  }

  async stop(): Promise<void> {
    this.#state = 'stopped'
    this.#cancelPoll()
    await ended(
      [...this.#lanes.values()].map((lane) => lane.pass),
      this.#clock,
    )
  }

  async #publishDurable(event: BusEvent, key: string, lanes: readonly Lane[]): Promise<void> {
    const subscribers = lanes.map(({ id }) => id)
    const error = lanes.length === 0 ? undefined : chainProblem(event)
    const waiting = error === undefined ? subscribers.map((subscriber) => ({ subscriber, attempts: 0, due: event.at })) : []
    const before = await this.#tables.events.update(key, (stored) => stored ?? withDeliveries(event, waiting))
    if (error !== undefined && before === undefined) {
      await this.#tables.dead.update(key, () => ({ event, subscribers, attempts: 0, error, at: event.at, isChainEnd: true }))
      this.#report(`${error} Its event ${event.name} of ${event.source} (${event.id}) was not delivered.`, 'error')
    }
    for (const lane of lanes) this.#wake(lane)
  }

  #publishInMemory(event: BusEvent, lanes: readonly Lane[]): void {
    const problem = chainProblem(event)
    if (problem !== undefined) this.#report(`${problem} Its event ${event.name} of ${event.source} was dropped.`, 'error')
    for (const lane of problem === undefined && this.#state === 'running' ? lanes : []) {
      if (lane.inMemory >= maxInMemory) this.#report(`${lane.id} is too slow: an event ${event.name} was dropped.`)
      else {
        lane.inMemory += 1
        void withoutCause(() => lane.inTurn(() => this.#deliverOnce(lane, event)))
      }
    }
  }

  async #deliverOnce(lane: Lane, event: BusEvent): Promise<void> {
    const error = await lane.handle(event, event)
    lane.inMemory -= 1
    if (error !== undefined) this.#report(`${lane.id} failed on the event ${event.name} (not durable, no retry): ${error}`)
  }

  #wake(lane: Lane): void {
    lane.isWoken = true
    // The event that the caller handles is no cause of what this subscriber gets.
    if (this.#state === 'running') lane.pass ??= withoutCause(() => this.#passes(lane))
  }

  async #passes(lane: Lane): Promise<void> {
    while (lane.isWoken && this.#state === 'running') {
      lane.isWoken = false
      await this.#guarded(() => this.#deliverDue(lane))
    }
    lane.pass = undefined
  }

  async #deliverDue(lane: Lane): Promise<void> {
    for await (const stored of this.#tables.events.rows(this.#clock.now() + 1)) {
      if (this.#state !== 'running') return
      const delivery = stored.waiting.find(({ subscriber, due }) => subscriber === lane.id && due <= this.#clock.now())
      if (delivery !== undefined && lane.takes(stored.event.name)) await lane.inTurn(() => this.#deliver(lane, stored, delivery))
    }
  }

  async #deliver(lane: Lane, { key, event }: Row<StoredEvent>, { attempts: before, due }: Delivery): Promise<void> {
    // Waiting for a retry or a restart is no time of the chain.
    const waitedMs = Math.max(due, this.#startedAt) - event.at
    const error = await lane.handle(event, { ...event, startedAt: event.startedAt + waitedMs })
    const settled = { key, subscriber: lane.id }
    const retryMs = retryDelaysMs[before]
    const attempts = before + 1
    const failed = `${lane.id} failed on the event ${event.name} (${event.id}), attempt ${attempts}: ${error}.`
    if (error !== undefined && retryMs !== undefined) {
      await settleDelivery(this.#tables, { ...settled, next: { attempts, due: this.#clock.now() + retryMs, error } })
      this.#report(`${failed} It is delivered again in ${showDuration(retryMs)}.`)
      return
    }
    const letter = error === undefined ? undefined : { event, subscribers: [lane.id], attempts, error, at: this.#clock.now() }
    // Also without one: it may be there from before a crash.
    if (retryMs === undefined) await this.#tables.dead.update(`${key}/${lane.id}`, () => letter && { ...letter, isChainEnd: false })
    await settleDelivery(this.#tables, settled)
    this.#delivered += 1
    if (letter !== undefined) this.#report(`${failed} It was the last one. Deliver it again with: troupe events retry ${event.id}`, 'error')
  }

  async #poll(): Promise<void> {
    const now = this.#clock.now()
    for await (const { key, event, waiting } of this.#tables.events.rows(now + 1))
      for (const { subscriber, due } of waiting.filter((each) => each.due <= now)) {
        const lane = this.#lanes.get(subscriber)
        if (lane?.takes(event.name)) this.#wake(lane)
        else if (now - due > absentMs) {
          await settleDelivery(this.#tables, { key, subscriber })
          this.#report(`The event ${event.name} (${event.id}) was dropped: ${subscriber} did not subscribe to it for a day.`)
        }
      }
    if (this.#delivered < trimAfter) return
    this.#delivered = 0
    await trimEvents(this.#tables, keptEvents)
  }

  #pollLater(): void {
    const poll = async (): Promise<void> => {
      await this.#guarded(() => this.#poll())
      if (this.#state === 'running') this.#pollLater()
    }
    this.#cancelPoll = this.#clock.after(pollMs, () => void poll())
  }

  #report(message: string, level: 'warn' | 'error' = 'warn'): void {
    this.#onDiagnostic({ level, source: 'kernel:bus', message })
  }
}
