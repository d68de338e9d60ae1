import type { Json, OutgoingMessage, Recipient, Records } from '../../contracts/index.ts'

// Messages that are not answers: proactive ones, replies to commands, and tasks. Stored until they are delivered, in the order in which
// they were added.

const namespace = 'outbox'
/** How long the id of a delivered message is known. */
const knownMs = 7 * 24 * 60 * 60_000

export interface OutboxEntry {
  readonly key: string
  readonly kind: OutgoingMessage['kind'] | 'task'
  readonly text: string
  readonly speaker: string
  readonly at: number
  /** Absent: the first person who writes. */
  readonly to?: Recipient
}

export class Outbox {
  readonly #records: Records
  readonly #now: () => number
  readonly #entries = new Map<string, OutboxEntry>()
  #last = 0

  constructor(records: Records, now: () => number) {
    this.#records = records
    this.#now = now
  }

  async load(): Promise<void> {
    await this.#clean()
    const stored = (await this.#records.list(namespace)).filter(({ due }) => due === undefined)
    for (const { key, value } of stored) this.#entries.set(key, { ...(value as unknown as OutboxEntry), key })
  }

  /** Durable when it resolves. A key that is known is ignored. */
  async add(entry: Omit<OutboxEntry, 'at'>): Promise<void> {
    const { key, ...value } = entry
    // No two have the same time: it gives their order.
    this.#last = Math.max(this.#last + 1, this.#now())
    const at = this.#last
    let isNew = false
    await this.#records.update(namespace, key, (before) => {
      isNew = before === undefined
      return before ?? { value: { ...value, at } as unknown as Json }
    })
    if (!isNew) return
    this.#entries.set(key, { ...entry, at })
    await this.#clean()
  }

  entries(): readonly OutboxEntry[] {
    return [...this.#entries.values()].toSorted((a, b) => a.at - b.at)
  }

  async address(entry: OutboxEntry, to: Recipient): Promise<OutboxEntry> {
    const { key, ...value } = { ...entry, to }
    await this.#records.update(namespace, key, (before) => before && { value: value as unknown as Json })
    this.#entries.set(key, { ...value, key })
    return { ...value, key }
  }

  async done({ key }: OutboxEntry): Promise<void> {
    await this.#records.update(namespace, key, (before) => before && { value: null, due: this.#now() + knownMs })
    this.#entries.delete(key)
  }

  async #clean(): Promise<void> {
    for (const { key } of await this.#records.list(namespace, { dueBefore: this.#now(), limit: 100 }))
      await this.#records.update(namespace, key, () => undefined)
  }
}
