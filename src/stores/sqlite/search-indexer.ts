import type { TurnRecord } from '../../contracts/index.ts'
import type { CommitQueue, Operation } from './commit-queue.ts'
import type { Tables } from './connection.ts'

/** How many texts may wait for the index: a search looks through them one by one. */
export const maxPendingTexts = 256
/** A turn with longer texts does not wait for others. */
const maxPendingChars = 8192

/** What a commit leaves to do. */
interface PendingTexts {
  /** Number of texts that are not in the index, of all processes. */
  readonly pending: number
  /** The length of the texts of this commit. */
  readonly chars: number
}

export const noTexts: PendingTexts = { pending: 0, chars: 0 }

export const charsOf = (turns: readonly TurnRecord[]): number =>
  turns.reduce((sum, { texts }) => texts.reduce((chars, { text }) => chars + text.length, sum), 0)

/**
 * Keeps the search index up to date, in the background.
 *
 * 1. Each step is a transaction of its own: nothing else fails with it.
 * 2. Only a rebuild reports a failure. Other steps are repeated later; a search reports a damaged index.
 */
export class SearchIndexer {
  readonly #queue: CommitQueue
  readonly #canWrite: boolean
  #running: Promise<void> | undefined
  /** After a failure: with so many pending texts it is tried again. */
  #tryAgainAt = 0

  constructor(queue: CommitQueue, canWrite: boolean) {
    this.#queue = queue
    this.#canWrite = canWrite
  }

  /** Called after a commit that stored texts. */
  noteTexts({ pending, chars }: PendingTexts): void {
    const isDue = pending > maxPendingTexts || chars > maxPendingChars
    if (isDue && pending >= this.#tryAgainAt) void this.catchUp(pending)
  }

  /** Adds what is missing. */
  async catchUp(pending: number): Promise<void> {
    if (!this.#canWrite) return
    this.#running ??= this.#quietly(async () => {
      this.#tryAgainAt = pending + maxPendingTexts
      await this.#repeat(({ index }) => index.addNext())
      this.#tryAgainAt = 0
    }).finally(() => {
      this.#running = undefined
    })
    await this.#running
  }

  /** Removes deleted texts. */
  removeDeleted(): Promise<void> {
    return this.#quietly(() => this.#repeat(({ index }) => index.removeNext()))
  }

  /** Removes also the words of deleted texts, which SQLite only marks. */
  async vacuum(): Promise<void> {
    await this.removeDeleted()
    await this.#quietly(() => this.#repeat(({ index }) => index.mergeNext()))
  }

  async rebuild(): Promise<void> {
    let next = await this.#step(({ index }) => index.createNext())
    for (;;) {
      const current = next
      const advanced = await this.#step(({ index }) => index.rebuildNext(current))
      if (advanced === undefined) break
      next = advanced
    }
    this.#tryAgainAt = 0
    const unused = await this.#step(({ index }) => index.unusedTables())
    for (const table of unused) await this.#quietly(() => this.#step(({ index }) => index.dropTable(table)))
  }

  async #repeat(step: (tables: Tables) => boolean): Promise<void> {
    while (await this.#step(step));
  }

  #step<Result>(step: Operation<Result>['apply']): Promise<Result> {
    return this.#queue.add({ apply: step, isAlone: true })
  }

  async #quietly(work: () => Promise<void>): Promise<void> {
    await work().catch(() => undefined)
  }
}
