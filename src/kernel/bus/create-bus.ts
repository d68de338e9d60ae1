// The bus.
//
// 1. A durable event is stored with its subscribers before `publish` resolves. Each of them gets it until a delivery succeeds.
// 2. A subscriber gets events in the order of publication. One that failed waits for its retry; the next ones do not wait for it.
// 3. Deliveries are read from the store: nothing is lost with the process, and a backlog takes no memory.
import type { BusEvent, Clock, Ids, Records } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { showDuration } from '../../util/parse-units.ts'
import type { Bus, Publication, ReportDiagnostic, Subscriber } from '../kernel-types.ts'
import { asConsequence, currentEvent, Lane } from './lane.ts'
import { chainProblem, checkedData, newEvent } from './new-event.ts'
import {
  type Delivery,
  deadKey,
  dueEvents,
  hasEvent,
  removeDeadLetter,
  reserveKey,
  type StoredEvent,
  settleDelivery,
  storeDeadLetter,
  storeEvent,
  trimEvents,
} from './stored-events.ts'

export interface BusOptions {
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
const stopMs = 5_000

export const createBus = (options: BusOptions): RunningBus => new StoredBus(options)

class StoredBus implements RunningBus {
  readonly #options: BusOptions
  readonly #createEvent: ReturnType<typeof newEvent>
  readonly #lanes = new Map<string, Lane>()
  #state: 'new' | 'running' | 'stopped' = 'new'
  #delivered = trimAfter
  #isStoreFailing = false
  #cancelPoll = (): void => {}

  constructor(options: BusOptions) {
    this.#options = options
    this.#createEvent = newEvent(options)
  }

  async publish(publication: Publication): Promise<void> {
    const { records } = this.#options
    const data = checkedData(publication)
    // An extension in a process of its own publishes outside of the context of its handler.
    const cause = publication.cause ?? currentEvent() ?? this.#lanes.get(publication.source)?.handling
    const { event, key: newKey } = this.#createEvent({ ...publication, data, ...(cause && { cause }) })
    if (publication.durable === false) return this.#publishInMemory(event)
    const key = publication.id === undefined ? newKey : await reserveKey(records, event.id, newKey)
    if (publication.id === undefined || !(await hasEvent(records, key))) await this.#publishDurable(event, key)
  }

  subscribe(subscriber: Subscriber): () => void {
    return this.#laneOf(subscriber.id).add(subscriber)
  }

  start(): void {
    if (this.#state !== 'new') return
    this.#state = 'running'
    for (const lane of this.#lanes.values()) lane.wake()
    this.#pollLater()
  }

  async stop(): Promise<void> {
    this.#state = 'stopped'
    this.#cancelPoll()
    const handled = Promise.all([...this.#lanes.values()].map((lane) => lane.idle))
    await Promise.race([handled, new Promise<void>((resolve) => this.#options.clock.after(stopMs, resolve))])
  }

  #laneOf(id: string): Lane {
    const deliver = (lane: Lane): Promise<void> => this.#guarded(() => this.#deliverDue(lane))
    const lane = this.#lanes.get(id) ?? new Lane({ id, clock: this.#options.clock, deliver, isOpen: () => this.#state === 'running' })
    this.#lanes.set(id, lane)
    return lane
  }

  #lanesFor(name: string): readonly Lane[] {
    return [...this.#lanes.values()].filter((lane) => lane.takes(name))
  }

  async #publishDurable(event: BusEvent, key: string): Promise<void> {
    const { records } = this.#options
    const lanes = this.#lanesFor(event.name)
    const subscribers = lanes.map(({ id }) => id)
    const problem = chainProblem(event)
    const isEnd = problem !== undefined && lanes.length > 0
    if (isEnd) {
      await storeDeadLetter(records, { key, event, subscribers, attempts: 0, error: problem, at: event.at, isChainEnd: true })
      this.#report(event, `${problem} Its event ${event.name} of ${event.source} (${event.id}) was not delivered.`, 'error')
    }
    const waiting = subscribers.map((subscriber): Delivery => ({ subscriber, attempts: 0, due: event.at }))
    await storeEvent(records, { key, event, waiting: isEnd ? [] : waiting })
    if (!isEnd) for (const lane of lanes) lane.wake()
  }

  #publishInMemory(event: BusEvent): void {
    const problem = chainProblem(event)
    if (problem !== undefined) this.#report(event, `${problem} Its event ${event.name} of ${event.source} was dropped.`, 'error')
    for (const lane of problem === undefined ? this.#lanesFor(event.name) : []) {
      if (lane.inMemory.push(event) > maxInMemory) {
        lane.inMemory.shift()
        this.#report(event, `${lane.id} is too slow: an event that is not durable was dropped.`)
      }
      lane.wake()
    }
  }

  async #deliverDue(lane: Lane): Promise<void> {
    const { records, clock } = this.#options
    await this.#deliverInMemory(lane)
    for await (const stored of dueEvents(records, clock.now())) {
      const delivery = stored.waiting.find(({ subscriber, due }) => subscriber === lane.id && due <= clock.now())
      if (delivery !== undefined && lane.takes(stored.event.name)) await this.#deliver(lane, stored, delivery)
      await this.#deliverInMemory(lane)
      if (this.#state !== 'running') return
    }
  }

  async #deliverInMemory(lane: Lane): Promise<void> {
    for (let event = lane.inMemory.shift(); event !== undefined; event = lane.inMemory.shift()) {
      const error = await lane.handle(event)
      if (error !== undefined) this.#report(event, `${lane.id} failed on the event ${event.name} (not durable, no retry): ${error}`)
    }
  }

  async #deliver(lane: Lane, { key, event }: StoredEvent, { attempts: before }: Delivery): Promise<void> {
    const { records, clock } = this.#options
    const place = { key, subscriber: lane.id }
    const error = await lane.handle(event)
    const retryMs = retryDelaysMs[before]
    if (error === undefined) {
      await settleDelivery(records, place)
      this.#delivered += 1
      // It may be there from before a crash.
      if (retryMs === undefined) await removeDeadLetter(records, deadKey(key, lane.id))
      return
    }
    const attempts = before + 1
    const failed = `${lane.id} failed on the event ${event.name} (${event.id}), attempt ${attempts}: ${error}`
    if (retryMs !== undefined) {
      await settleDelivery(records, place, { subscriber: lane.id, attempts, due: clock.now() + retryMs, error })
      this.#report(event, `${failed}. It is delivered again in ${showDuration(retryMs)}.`)
      return
    }
    const letter = { event, subscribers: [lane.id], attempts, error, at: clock.now(), isChainEnd: false }
    await storeDeadLetter(records, { key: deadKey(key, lane.id), ...letter })
    await settleDelivery(records, place)
    this.#report(event, `${failed}. It was the last one. Deliver it again with: troupe events retry ${event.id}`, 'error')
  }

  async #poll(): Promise<void> {
    const { records, clock } = this.#options
    const now = clock.now()
    for await (const { key, event, waiting } of dueEvents(records, now))
      for (const { subscriber, due } of waiting) {
        const lane = this.#lanes.get(subscriber)
        if (due > now) continue
        if (lane?.takes(event.name)) lane.wake()
        else if (now - event.at > absentMs) {
          await settleDelivery(records, { key, subscriber })
          this.#report(event, `The event ${event.name} (${event.id}) was dropped: ${subscriber} did not subscribe to it for a day.`)
        }
      }
    if (this.#delivered < trimAfter) return
    this.#delivered = 0
    await trimEvents(records, keptEvents)
  }

  #pollLater(): void {
    this.#cancelPoll = this.#options.clock.after(pollMs, () => {
      void this.#guarded(() => this.#poll()).then(() => {
        if (this.#state === 'running') this.#pollLater()
      })
    })
  }

  async #guarded(step: () => Promise<void>): Promise<void> {
    try {
      await step()
      this.#isStoreFailing = false
    } catch (error) {
      if (!this.#isStoreFailing) this.#report(undefined, `Events cannot be read or written, and wait: ${messageOf(error)}`, 'error')
      this.#isStoreFailing = true
    }
  }

  /** As a consequence of the event: a report that is published, and fails again, is part of its chain. */
  #report(event: BusEvent | undefined, message: string, level: 'warn' | 'error' = 'warn'): void {
    asConsequence(event, () => this.#options.onDiagnostic({ level, source: 'kernel:bus', message }))
  }
}
