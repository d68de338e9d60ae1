import type { Clock, Json, OutgoingMessage, Recipient, Records } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { cutText } from '../../util/well-formed.ts'
import { keyOf } from './conversation.ts'

const namespace = 'outbox'
/** How long the id of a delivered message is known. */
const knownMs = 7 * 24 * 60 * 60_000
const mostEntries = 1_000
/** After a failure of the store. */
const retryMs = 5_000

export interface OutboxEntry {
  readonly key: string
  readonly kind: OutgoingMessage['kind'] | 'task'
  readonly text: string
  readonly speaker: string
  readonly at: number
  /** Absent: the first person who writes. */
  readonly to?: Recipient
}
export type AddressedEntry = OutboxEntry & { readonly to: Recipient }

interface OutboxOptions {
  readonly records: Records
  readonly clock: Clock
  /** The person who wrote last. */
  latest(): Recipient | undefined
  canSend(entry: AddressedEntry): boolean
  /** `false`: not now. */
  send(entry: AddressedEntry): Promise<boolean>
  report(message: string): void
}

/**
 * Messages that are not answers: proactive ones, replies to commands, and tasks.
 *
 * 1. An entry is stored until it is sent. After that its key is known for a while: the same key again is ignored.
 * 2. The entries for one person are sent in the order in which they were added. Those of others do not wait for them.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #entries = new Map<string, OutboxEntry>()
  readonly #sending = new Set<string>()
  /** The end of the last entry for each person. */
  readonly #lanes = new Map<string, Promise<void>>()
  #last = 0

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  async load(): Promise<void> {
    await this.#clean()
    const stored = (await this.#options.records.list(namespace)).filter(({ due }) => due === undefined)
    const entries = stored.map(({ key, value }): OutboxEntry => ({ ...(value as unknown as OutboxEntry), key }))
    for (const entry of entries.toSorted((a, b) => a.at - b.at)) this.#entries.set(entry.key, entry)
  }

  /** Durable when it resolves. */
  async add({ key, ...entry }: Omit<OutboxEntry, 'at'>): Promise<void> {
    const { records, clock, latest } = this.#options
    const to = entry.to ?? latest()
    // No two have the same time: it gives their order.
    this.#last = Math.max(this.#last + 1, clock.now())
    const value = { ...entry, at: this.#last, ...(to && { to }) }
    let isNew = false
    await records.update(namespace, key, (before) => {
      isNew = before === undefined
      return before ?? { value: value as unknown as Json }
    })
    if (!isNew) return
    this.#entries.set(key, { ...value, key })
    this.flush()
    await this.#clean()
    if (this.#entries.size > mostEntries) await this.#dropOldest()
  }

  /** Sends what can be sent. */
  flush(): void {
    const { latest, canSend } = this.#options
    for (const entry of [...this.#entries.values()]) {
      const to = entry.to ?? latest()
      if (to && !this.#sending.has(entry.key) && canSend({ ...entry, to })) this.#queue({ ...entry, to })
    }
  }

  /** Resolves when nothing is being sent. */
  async settled(): Promise<void> {
    await Promise.all(this.#lanes.values())
  }

  #queue(entry: AddressedEntry): void {
    const lane = keyOf(entry.to)
    this.#sending.add(entry.key)
    const before = this.#lanes.get(lane) ?? Promise.resolve()
    const sent = before
      .then(() => this.#send(entry))
      .finally(() => {
        if (this.#lanes.get(lane) === sent) this.#lanes.delete(lane)
      })
    this.#lanes.set(lane, sent)
  }

  async #send(entry: AddressedEntry): Promise<void> {
    const { records, clock, send, canSend, report } = this.#options
    try {
      if (await send(entry)) {
        await records.update(namespace, entry.key, (before) => before && { value: null, due: clock.now() + knownMs })
        this.#entries.delete(entry.key)
      }
    } catch (error) {
      report(`A message is kept and sent later: ${messageOf(error)}`)
      clock.after(retryMs, () => this.flush())
      return
    } finally {
      this.#sending.delete(entry.key)
    }
    // Its channel was replaced meanwhile: the new one gets it.
    if (this.#entries.has(entry.key) && canSend(entry)) this.flush()
  }

  /** Nobody may ever connect the channel. */
  async #dropOldest(): Promise<void> {
    const oldest = [...this.#entries.values()].find(({ key }) => !this.#sending.has(key))
    if (!oldest) return
    this.#entries.delete(oldest.key)
    await this.#options.records.update(namespace, oldest.key, () => undefined)
    this.#options.report(`More than ${mostEntries} messages wait for their channels. The oldest was dropped: ${cutText(oldest.text, 100)}`)
  }

  async #clean(): Promise<void> {
    const { records, clock } = this.#options
    for (const { key } of await records.list(namespace, { dueBefore: clock.now(), limit: 100 }))
      await records.update(namespace, key, () => undefined)
  }
}
