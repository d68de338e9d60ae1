import type { Clock, ClosedRequest, OutgoingMessage, Recipient, Records } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { cutText } from '../../util/well-formed.ts'
import { type RecordTable, recordTable } from '../shared/record-table.ts'
import { keyOf } from './conversation.ts'

/** How long the id of a delivered message is known. */
const knownMs = 7 * 24 * 60 * 60_000
const mostEntries = 1_000
/** After a failure of the store. */
const retryMs = 5_000

interface StoredEntry {
  readonly kind: OutgoingMessage['kind'] | 'task' | 'close'
  readonly text: string
  readonly speaker: string
  readonly at: number
  /** Absent: the first person who writes. */
  readonly to?: Recipient
  readonly anyChannel?: boolean
  /** The request that has ended. */
  readonly closed?: ClosedRequest
  readonly onlyFor?: string
  /** Of the call that it was sent in. */
  readonly correlationId?: string
}
type OutboxEntry = StoredEntry & { readonly key: string }
export type AddressedEntry = OutboxEntry & { readonly to: Recipient }

interface OutboxOptions {
  readonly records: Records
  readonly clock: Clock
  /** The person who wrote last. `anyChannel`: over a channel that works. */
  latest(anyChannel?: boolean): Recipient | undefined
  canSend(entry: AddressedEntry): boolean
  /** `false`: not now. */
  send(entry: AddressedEntry): Promise<boolean>
  report(message: string): void
}

/**
 * Messages that are not answers: proactive ones, replies to commands, tasks, and the ends of requests.
 *
 * 1. An entry is stored until it is sent. After that its key is known for a while, with a `due`: the same key again is ignored.
 * 2. The entries for one person are sent in the order in which they were added. Those of others do not wait for them, and messages do not
 *    wait for the ends of requests.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #table: RecordTable<StoredEntry>
  readonly #entries = new Map<string, OutboxEntry>()
  /** By lane: what is being sent. */
  readonly #busy = new Map<string, Promise<void>>()
  #last = 0

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#table = recordTable(options.records, 'outbox')
  }

  async load(): Promise<void> {
    await this.#clean()
    const waiting = (await this.#table.list()).filter(({ due }) => due === undefined)
    for (const entry of waiting.toSorted((a, b) => a.at - b.at)) this.#entries.set(entry.key, entry)
  }

  /** Durable when it resolves. */
  async add({ key, ...given }: Omit<OutboxEntry, 'at'>): Promise<void> {
    const { clock, latest } = this.#options
    const to = given.to ?? (given.anyChannel ? undefined : latest())
    // No two have the same time: it gives their order.
    this.#last = Math.max(this.#last + 1, clock.now())
    const entry = { ...given, at: this.#last, ...(to && { to }) }
    if ((await this.#table.update(key, (before) => before ?? entry)) !== undefined) return
    this.#entries.set(key, { ...entry, key })
    this.flush()
    await this.#clean()
    if (this.#entries.size > mostEntries) await this.#dropOldest()
  }

  /** Sends what can be sent. */
  flush(): void {
    for (const { kind, anyChannel, to = this.#options.latest(anyChannel) } of this.#entries.values()) {
      const lane = to && laneOf(kind, to)
      if (lane !== undefined && !this.#busy.has(lane))
        this.#busy.set(
          lane,
          Promise.resolve().then(() => this.#sendOf(lane)),
        )
    }
  }

  /** Resolves when nothing is being sent. */
  async settled(): Promise<void> {
    await Promise.all(this.#busy.values())
  }

  async #sendOf(lane: string): Promise<void> {
    const { clock, send, report } = this.#options
    try {
      for (let entry = this.#next(lane); entry; entry = this.#next(lane))
        if (await send(entry)) {
          await this.#table.update(entry.key, (before) => before && { ...before, text: '', due: clock.now() + knownMs })
          this.#entries.delete(entry.key)
        }
    } catch (error) {
      report(`A message is kept and sent later: ${messageOf(error)}`)
      clock.after(retryMs, () => this.flush())
    }
    this.#busy.delete(lane)
  }

  #next(lane: string): AddressedEntry | undefined {
    for (const { anyChannel, to = this.#options.latest(anyChannel), ...entry } of this.#entries.values())
      if (to && laneOf(entry.kind, to) === lane && this.#options.canSend({ ...entry, to })) return { ...entry, to }
    return undefined
  }

  /** Nobody may ever connect the channel. */
  async #dropOldest(): Promise<void> {
    const [oldest] = this.#entries.values()
    if (!oldest) return
    this.#entries.delete(oldest.key)
    await this.#table.update(oldest.key, () => undefined)
    this.#options.report(`More than ${mostEntries} messages wait for their channels. The oldest was dropped: ${cutText(oldest.text, 100)}`)
  }

  async #clean(): Promise<void> {
    for (const { key } of await this.#table.list({ dueBefore: this.#options.clock.now(), limit: 100 }))
      await this.#table.update(key, () => undefined)
  }
}

const laneOf = (kind: OutboxEntry['kind'], to: Recipient): string => `${kind === 'close' ? 'close ' : ''}${keyOf(to)}`
