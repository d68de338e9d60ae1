import type { Append, TreeId } from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import { closedError } from '../shared/store-errors.ts'
import { appendStatement, type TextBatch } from './append-statement.ts'
import type { Database, Row } from './database.ts'
import { isConnectionLoss, isDuplicate } from './postgres-errors.ts'

interface Entry {
  readonly text: TextBatch
  readonly resolve: (append: Append) => void
  readonly reject: (error: unknown) => void
}

/** Of one statement: it is sent as one message. */
const most = { batches: 500, chars: 4_000_000 } as const
/** While one waits for the disk, the next one is prepared. */
const maxStatements = 2
/** Of one batch that creates a tree, while other processes create trees. */
const maxAttempts = 50

/**
 * Every append of a store.
 *
 * 1. Appends to a tree take effect in the order of the calls: a statement has at most one batch of a tree, and no other statement in
 *    flight has that tree.
 * 2. All batches that wait share a statement. If it fails for another reason than the connection, each is repeated in its own one, so
 *    that only the faulty one fails.
 * 3. A batch that was not stored is compared with the journal: it may have been stored by an attempt whose answer was lost.
 */
export class AppendQueue {
  readonly #database: Database
  readonly #onStored: (text: TextBatch, row: Row) => void
  readonly #busy = new Set<TreeId>()
  #entries: Entry[] = []
  #statements = 0
  #isScheduled = false
  #accepting = true
  #idle = Promise.withResolvers<void>()
  #failure: unknown

  constructor(database: Database, onStored: (text: TextBatch, row: Row) => void) {
    this.#database = database
    this.#onStored = onStored
  }

  add(text: TextBatch): Promise<Append> {
    if (!this.#accepting) return Promise.reject(closedError())
    return new Promise((resolve, reject) => {
      this.#entries.push({ text, resolve, reject })
      this.#schedule()
    })
  }

  /** Why an append has failed since the last call. */
  takeFailure(): unknown {
    const failure = this.#failure
    this.#failure = undefined
    return failure
  }

  /** Accepts no more appends; resolves after all that were added. */
  async stop(): Promise<void> {
    this.#accepting = false
    if (this.#entries.length > 0 || this.#statements > 0) await this.#idle.promise
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#start()
    })
  }

  #start(): void {
    while (this.#statements < maxStatements) {
      const entries = this.#next()
      if (entries.length === 0) break
      this.#statements += 1
      for (const { text } of entries) this.#busy.add(text.batch.treeId)
      void this.#run(entries)
    }
  }

  /** The first batch of each tree that no statement has. */
  #next(): readonly Entry[] {
    const [next, left]: [Entry[], Entry[]] = [[], []]
    const trees = new Set(this.#busy)
    let chars = 0
    for (const entry of this.#entries) {
      const { treeId } = entry.text.batch
      const isFull = next.length >= most.batches || (next.length > 0 && chars >= most.chars)
      if (isFull || trees.has(treeId)) left.push(entry)
      else {
        next.push(entry)
        chars += entry.text.texts.reduce((sum, { length }) => sum + length, 0)
      }
      trees.add(treeId)
    }
    this.#entries = left
    return next
  }

  async #run(entries: readonly Entry[]): Promise<void> {
    try {
      await this.#store(entries)
    } catch (error) {
      this.#failure = error
      for (const { reject } of entries) reject(error)
    }
    for (const { text } of entries) this.#busy.delete(text.batch.treeId)
    this.#statements -= 1
    if (this.#entries.length > 0) this.#start()
    else if (this.#statements === 0) {
      this.#idle.resolve()
      this.#idle = Promise.withResolvers()
    }
  }

  async #store(entries: readonly Entry[], attempt = 1): Promise<void> {
    const { text, values } = appendStatement(entries.map((entry) => entry.text))
    let rows: readonly Row[]
    try {
      rows = await this.#database.write(text, values)
    } catch (error) {
      const { cause } = error as Error
      if (isConnectionLoss(cause)) throw error
      if (entries.length > 1) await this.#storeEach(entries)
      // Another process has created a tree at the same time, or with the same key.
      else if (isDuplicate(cause) && attempt < maxAttempts) await this.#store(entries, attempt + 1)
      else throw error
      return
    }
    const stored = new Map(rows.map((row) => [Number(row.n), row]))
    await Promise.all(entries.map((entry, n) => this.#answer(entry, stored.get(n))))
  }

  async #storeEach(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      try {
        await this.#store([entry])
      } catch (error) {
        this.#failure = error
        entry.reject(error)
      }
    }
  }

  async #answer({ text, resolve }: Entry, row: Row | undefined): Promise<void> {
    if (row) {
      this.#onStored(text, row)
      resolve({ ok: true })
    } else resolve(await this.#refusal(text))
  }

  async #refusal({ batch, texts }: TextBatch): Promise<Append> {
    const { treeId, epoch, expectedSeq, identity } = batch
    const [tree] = await this.#database.read(
      `SELECT key, epoch, owner, EXISTS (SELECT FROM troupe.trees WHERE external_key = $2 AND id <> $1) AS is_key_taken
         FROM troupe.trees WHERE id = $1`,
      [encodeText(treeId), identity?.key === undefined ? null : encodeText(identity.key)],
    )
    if (tree === undefined || tree.epoch === 0) return { ok: false, refusal: 'missing' }
    if (tree.epoch !== epoch || tree.owner === null) return { ok: false, refusal: 'epoch' }
    if (expectedSeq === 0 && tree.is_key_taken) return { ok: false, refusal: 'key' }
    const events = await this.#database.read('SELECT event FROM troupe.journal WHERE tree = $1 AND seq > $2 AND seq <= $3 ORDER BY seq', [
      tree.key,
      expectedSeq,
      expectedSeq + texts.length,
    ])
    const isStored = events.length === texts.length && events.every(({ event }, index) => event === texts[index])
    return isStored ? { ok: true } : { ok: false, refusal: 'seq' }
  }
}
