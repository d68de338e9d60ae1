import { closedError } from '../shared/store-errors.ts'
import type { Connection, Tables } from './connection.ts'
import { backoffMs } from './retry-busy.ts'
import { isBusy, isMediumFailure, storeError } from './sqlite-errors.ts'

export interface Operation<Result> {
  /** Runs inside a transaction. It may run again after a rollback, so it changes nothing but tables. */
  apply(tables: Tables): Result
  /** Runs after the commit and before the answer. */
  committed?(result: Result): void
  /** In a transaction of its own: nothing else fails with it. */
  readonly isAlone?: true
}

interface Entry {
  readonly operation: Operation<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'scheduled' }
  /** Another process holds the file. */
  | { readonly kind: 'waiting'; readonly since: number; readonly attempts: number }

/** The maximum number of operations of one commit, so that it does not block the event loop for long. */
const maxOperations = 1000

/** A commit of so many operations is crowded. For a moment after one, operations wait for others: each commit blocks the event loop. */
const crowdedOperations = 8
const crowdedMs = 10
const lingerMs = 1

/**
 * Every write of a store.
 *
 * 1. Operations are applied in order. All that wait share one transaction, except those that are alone; there is at most one
 *    transaction a macrotask, or a millisecond where they are many.
 * 2. An operation is answered after its commit.
 * 3. If the disk fails, the transaction is rolled back and all of its operations fail. After any other failure each operation
 *    is repeated in its own transaction, so that only the faulty one fails.
 * 4. A busy file never blocks the process: the queue waits, and its operations fail after `busyTimeoutMs`.
 */
export class CommitQueue {
  readonly #connection: Connection
  readonly #busyTimeoutMs: number
  #entries: Entry[] = []
  /** How many entries at the front are committed one by one. */
  #suspects = 0
  #state: State = { kind: 'idle' }
  #crowdedUntil = 0
  #accepting = true
  #failure: unknown

  constructor(connection: Connection, busyTimeoutMs: number) {
    this.#connection = connection
    this.#busyTimeoutMs = busyTimeoutMs
  }

  add<Result>(operation: Operation<Result>): Promise<Result> {
    if (!this.#accepting) return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      this.#entries.push({ operation: operation as Operation<unknown>, resolve: resolve as (result: unknown) => void, reject })
      if (this.#state.kind === 'idle') this.#schedule()
    })
  }

  /** How long operations have waited for another process. */
  get waitedMs(): number {
    return this.#state.kind === 'waiting' ? performance.now() - this.#state.since : 0
  }

  /** Why a write has failed since the last call, also one of a blob. */
  takeFailure(): unknown {
    const failure = this.#failure
    this.#failure = undefined
    return failure
  }

  noteFailure(error: unknown): void {
    this.#failure = error
  }

  /** Adds the last operation. */
  finish<Result>(operation: Operation<Result>): Promise<Result> {
    const answer = this.add(operation)
    this.#accepting = false
    return answer
  }

  /** Accepts no more operations; resolves after all that were added. */
  stop(): Promise<void> {
    if (this.#state.kind !== 'idle') return this.finish({ apply: () => undefined })
    this.#accepting = false
    return Promise.resolve()
  }

  #schedule(): void {
    this.#state = { kind: 'scheduled' }
    if (performance.now() < this.#crowdedUntil) setTimeout(() => this.#flush(), lingerMs)
    else setImmediate(() => this.#flush())
  }

  #flush(): void {
    const entries = this.#entries.splice(0, this.#transactionLength())
    let results: readonly unknown[]
    try {
      results = this.#connection.transaction((tables) => entries.map(({ operation }) => operation.apply(tables)))
    } catch (error) {
      this.#recover(entries, error)
      return
    }
    if (entries.length >= crowdedOperations) this.#crowdedUntil = performance.now() + crowdedMs
    this.#settle(entries, ({ operation, resolve }, index) => {
      operation.committed?.(results[index])
      resolve(results[index])
    })
  }

  #transactionLength(): number {
    if (this.#suspects > 0) return 1
    const alone = this.#entries.findIndex(({ operation }) => operation.isAlone)
    return alone === -1 ? maxOperations : Math.min(Math.max(1, alone), maxOperations)
  }

  #recover(entries: Entry[], error: unknown): void {
    if (isBusy(error)) {
      this.#entries = [...entries, ...this.#entries]
      this.#wait(error)
    } else if (entries.length > 1 && !isMediumFailure(error)) {
      this.#entries = [...entries, ...this.#entries]
      this.#suspects = entries.length
      this.#schedule()
    } else {
      if (isMediumFailure(error)) this.noteFailure(error)
      const failure = storeError(error, `write to the store in ${this.#connection.file}`)
      this.#settle(entries, (entry) => entry.reject(failure))
    }
  }

  #wait(error: unknown): void {
    const { since, attempts } = this.#state.kind === 'waiting' ? this.#state : { since: performance.now(), attempts: 0 }
    if (performance.now() - since < this.#busyTimeoutMs) {
      this.#state = { kind: 'waiting', since, attempts: attempts + 1 }
      setTimeout(() => this.#flush(), backoffMs(attempts))
      return
    }
    // Later operations fail as well: they wait for the same lock.
    const failure = storeError(
      error,
      `write to the store in ${this.#connection.file} within ${this.#busyTimeoutMs} ms`,
      this.#connection.lockHolder(),
    )
    this.#settle(this.#entries.splice(0), (entry) => entry.reject(failure))
  }

  #settle(entries: readonly Entry[], answer: (entry: Entry, index: number) => void): void {
    this.#suspects = Math.max(0, this.#suspects - entries.length)
    entries.forEach(answer)
    if (this.#entries.length > 0) this.#schedule()
    else this.#state = { kind: 'idle' }
  }
}
