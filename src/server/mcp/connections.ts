import type { Clock } from '../../contracts/index.ts'
import { HttpError } from '../http/index.ts'
import { defaultSessionLimits, type McpSessionLimits } from './dependencies.ts'

// Connections that have a state.
//
// 1. There are at most `total`, and `perToken` of one owner. Beyond that, the one of the same owner that was used least recently and
//    has nothing open makes room; without one, the new connection is refused.
// 2. A connection that has nothing open for `idleMs` is closed.

export interface ConnectionPlace {
  readonly owner: string
  /** Something is open, such as a stream: until `leave`. */
  enter(): void
  leave(): void
  /** The connection has ended. */
  close(): void
}

interface Entry {
  readonly owner: string
  readonly end: () => void
  open: number
  cancelTimer: () => void
}

export class Connections {
  readonly #clock: Pick<Clock, 'after'>
  readonly #limits: McpSessionLimits
  /** The least recently used one first. */
  readonly #entries = new Set<Entry>()

  constructor(clock: Pick<Clock, 'after'>, limits: Partial<McpSessionLimits> = {}) {
    this.#clock = clock
    this.#limits = { ...defaultSessionLimits, ...limits }
  }

  get size(): number {
    return this.#entries.size
  }

  /** `end`: closes the connection. */
  open(owner: string, end: () => void): ConnectionPlace {
    this.#makeRoom(owner)
    const entry: Entry = { owner, end, open: 0, cancelTimer: () => {} }
    this.#entries.add(entry)
    this.#expireLater(entry)
    return {
      owner,
      enter: () => {
        entry.open++
        entry.cancelTimer()
        // Now the most recently used one.
        if (this.#entries.delete(entry)) this.#entries.add(entry)
      },
      leave: () => {
        entry.open--
        if (entry.open === 0) this.#expireLater(entry)
      },
      close: () => this.#remove(entry),
    }
  }

  #makeRoom(owner: string): void {
    const own = [...this.#entries].filter((entry) => entry.owner === owner)
    if (own.length < this.#limits.perToken && this.#entries.size < this.#limits.total) return
    const unused = own.find(({ open }) => open === 0)
    if (!unused)
      throw new HttpError('overloaded', 'Too many MCP connections are open.', {
        remedy: 'Close some, or try again later.',
        retryAfterSeconds: 30,
      })
    this.#end(unused)
  }

  #expireLater(entry: Entry): void {
    if (!this.#entries.has(entry)) return
    entry.cancelTimer()
    entry.cancelTimer = this.#clock.after(this.#limits.idleMs, () => this.#end(entry))
  }

  #end(entry: Entry): void {
    this.#remove(entry)
    entry.end()
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry)
    entry.cancelTimer()
  }
}
