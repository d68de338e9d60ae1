import { closedError } from '../shared/closed-error.ts'
import { backoffMs } from './backoff.ts'
import type { Connection, Tables } from './connection.ts'
import { isBusy, isMediumFailure, storeError } from './failures.ts'

export interface Operation<Result> {
  /** Runs inside a transaction, after the operations before it. May run again where that one was undone; so it changes nothing but tables. */
  apply(tables: Tables): Result
  /** Runs after the commit and before the answer: memory follows the disk. */
  committed?(result: Result): void
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

/** So that a commit does not hold up the event loop for long; whatever is more goes into the next one. */
const largestCommit = 1000

/**
 * Every write of a store.
 *
 * 1. Operations are applied in the order in which they came, as many as are there to one transaction, at most
 *    one transaction a macrotask.
 * 2. An operation is answered after the commit that it is in.
 * 3. Where the medium fails, the transaction is undone and all of its operations fail. Where it is not the
 *    medium, each operation is tried again in a transaction of its own: only the culprit fails.
 * 4. A busy file never blocks the process: the queue waits, grows meanwhile, and gives up after `busyTimeoutMs`.
 */
export class CommitQueue {
  readonly #connection: Connection
  readonly #busyTimeoutMs: number
  #entries: Entry[] = []
  /** How many entries at the front are to be committed one by one. */
  #suspects = 0
  #state: State = { kind: 'idle' }
  #accepting = true

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

  /** Takes one last operation; settles with it, after everything before it. */
  finish<Result>(operation: Operation<Result>): Promise<Result> {
    const answer = this.add(operation)
    this.#accepting = false
    return answer
  }

  /** Takes nothing more; settles after everything that was added. */
  stop(): Promise<void> {
    if (this.#state.kind !== 'idle') return this.finish({ apply: () => undefined })
    this.#accepting = false
    return Promise.resolve()
  }

  #schedule(): void {
    this.#state = { kind: 'scheduled' }
    setImmediate(() => this.#flush())
  }

  #flush(): void {
    const entries = this.#entries.splice(0, this.#suspects > 0 ? 1 : largestCommit)
    let results: readonly unknown[]
    try {
      results = this.#connection.transaction((tables) => entries.map(({ operation }) => operation.apply(tables)))
    } catch (error) {
      this.#recover(entries, error)
      return
    }
    this.#settle(entries, ({ operation, resolve }, index) => {
      operation.committed?.(results[index])
      resolve(results[index])
    })
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
    // Those that came late fail as well: they stand before the same lock.
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
