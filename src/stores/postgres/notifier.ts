import type { Database } from './database.ts'

/** The channel of notifications, and the most bytes that one of them may have. */
export const channel = 'troupe'
const maxBytes = 7_900

/** Encoded ids of trees. */
export interface Changes {
  /** With the last event; 0: the tree was renamed or deleted. */
  readonly trees?: readonly (readonly [id: string, seq: number])[]
  /** With the position of the last message. */
  readonly inbox?: readonly (readonly [id: string, position: number])[]
}
export interface Notification extends Changes {
  /** The store that sent it. */
  readonly from: string
}

/**
 * Tells other processes what has changed, in one statement for all changes of `notifyMs`: a notification inside of each append would
 * make appends of all processes wait for each other. One that is lost is made up for by polling.
 */
export class Notifier {
  readonly #database: Database
  readonly #from: string
  readonly #delayMs: number
  readonly #heads = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(database: Database, { from, delayMs }: { readonly from: string; readonly delayMs: number }) {
    this.#database = database
    this.#from = from
    this.#delayMs = delayMs
  }

  add({ trees = [] }: Pick<Changes, 'trees'>): void {
    for (const [id, seq] of trees) this.#heads.set(id, seq)
    this.#timer ??= setTimeout(() => void this.flush(), this.#delayMs).unref()
  }

  /** For a statement that notifies with its own commit: `pg_notify('troupe', …)`. */
  payloadOf(changes: Changes): string {
    const payload = this.#textOf(changes)
    // An id that is too long is found by polling.
    return Buffer.byteLength(payload) <= maxBytes ? payload : this.#textOf({})
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const payloads = this.#payloads()
    this.#heads.clear()
    if (payloads.length === 0) return
    await this.#database
      .once('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [channel, payloads])
      .catch(() => undefined)
  }

  #payloads(): readonly string[] {
    const payloads: string[] = []
    let [trees, bytes]: [[string, number][], number] = [[], 0]
    for (const [id, seq] of this.#heads) {
      const length = Buffer.byteLength(JSON.stringify([id, seq])) + 1
      if (bytes + length > maxBytes - 100) {
        if (trees.length > 0) payloads.push(this.payloadOf({ trees }))
        trees = []
        bytes = 0
      }
      trees.push([id, seq])
      bytes += length
    }
    if (trees.length > 0) payloads.push(this.payloadOf({ trees }))
    return payloads
  }

  #textOf(changes: Changes): string {
    return JSON.stringify({ from: this.#from, ...changes } satisfies Notification)
  }
}
