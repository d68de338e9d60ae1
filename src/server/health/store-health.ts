import type { Clock, Log, Store } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'

interface StoreHealthOptions {
  readonly store: Pick<Store, 'check'>
  /** For the log. */
  readonly folder: string | undefined
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
  readonly log: Pick<Log, 'note' | 'warn'>
  /** The problems are others than before; there may be none any more. */
  changed(problems: readonly string[]): void
}

const intervalMs = 1_000

/**
 * Whether the store of a server works.
 *
 * 1. After `start` it looks at the files every second. While there is a problem it also tries to write, and so notices its end.
 * 2. `check` tries to write, at most once a second. Calls at the same time share one try.
 * 3. A problem is logged once, and so is its end.
 */
export class StoreHealth {
  /** As far as known. */
  problems: readonly string[] = []
  readonly #options: StoreHealthOptions
  #checking: Promise<void> | undefined
  #checkedAt = Number.NEGATIVE_INFINITY
  #isClosed = false
  #cancelTimer = (): void => {}

  constructor(options: StoreHealthOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#options.store.check) this.#later()
  }

  async check(): Promise<readonly string[]> {
    if (!this.#checking && this.#options.clock.monotonic() - this.#checkedAt < intervalMs) return this.problems
    this.#checking ??= this.#look(true).finally(() => {
      this.#checking = undefined
      this.#checkedAt = this.#options.clock.monotonic()
    })
    await this.#checking
    return this.problems
  }

  close(): void {
    this.#isClosed = true
    this.#cancelTimer()
  }

  #later(): void {
    this.#cancelTimer = this.#options.clock.after(intervalMs, () => {
      this.#later()
      void (this.problems.length > 0 ? this.check() : this.#look(false))
    })
  }

  async #look(writes: boolean): Promise<void> {
    const { store, folder, log, changed } = this.#options
    const found = (await store.check?.({ writes }).catch((error: unknown) => [messageOf(error)])) ?? []
    const before = this.problems
    this.problems = found
    if (this.#isClosed || found.join() === before.join()) return
    for (const problem of found)
      if (!before.includes(problem)) log.warn(folder === undefined ? problem : `${problem} The data folder is ${folder}.`)
    if (found.length === 0) log.note('The store works again.')
    changed(found)
  }
}
