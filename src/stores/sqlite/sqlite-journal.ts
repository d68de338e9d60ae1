import {
  type Append,
  type AppendBatch,
  type Claim,
  type DriverId,
  type InteractionEvent,
  type Journal,
  type TreeChange,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { checkBatch } from '../shared/store-errors.ts'
import type { ChangeWatch } from './change-watch.ts'
import { checksumOf } from './checksum.ts'
import type { ClaimedTrees } from './claimed-trees.ts'
import type { CommitQueue, Operation } from './commit-queue.ts'
import type { Connection, Tables } from './connection.ts'
import type { JournalRow } from './journal-table.ts'
import { whileBusy } from './retry-busy.ts'
import { charsOf, noTexts, type SearchIndexer } from './search-indexer.ts'

/** The parts of one store. */
export interface StoreParts {
  readonly connection: Connection
  readonly queue: CommitQueue
  readonly claimed: ClaimedTrees
  readonly changes: ChangeWatch
  readonly indexer: SearchIndexer
  readonly busyTimeoutMs: number
}

type JournalText = Omit<JournalRow, 'key'>

interface TextBatch {
  readonly batch: AppendBatch
  readonly last: InteractionEvent
  readonly rows: readonly JournalText[]
}

/** A larger batch has several rows: readers parse one after another. */
const maxRowLength = 256 * 1024

/** Below SQLite's limit for one value, at three bytes a character. */
const maxTextLength = 250_000_000

export function sqliteJournal(parts: StoreParts): Journal {
  const { connection, queue, claimed, changes, busyTimeoutMs } = parts
  return {
    claim: (treeId, driver) => queue.add(claimOperation(treeId, driver, claimed)),
    async release(treeId, epoch) {
      const release: Operation<void> = {
        apply({ trees, drivers }) {
          const tree = trees.find(treeId)
          if (tree?.driver === undefined || tree.epoch !== epoch) return
          trees.release(tree.key)
          drivers.removeIdle(tree.driver)
        },
        committed: () => claimed.remove(treeId, epoch),
      }
      try {
        await queue.add(release)
      } catch (error) {
        claimed.releaseLater(treeId, release)
        throw error
      }
    },
    append(batch) {
      checkBatch(batch)
      const rows = rowsOf(batch.treeId, batch.events)
      return queue.add(appendOperation({ batch, last: batch.events.at(-1) as InteractionEvent, rows }, parts))
    },
    read: (treeId, after, limit) => whileBusy(() => connection.tables.journal.read(treeId, after, limit), busyTimeoutMs),
    watch: (treeId, wake) => changes.watch('journal', treeId, wake),
  }
}

function claimOperation(treeId: TreeId, driver: DriverId, claimed: ClaimedTrees): Operation<Claim> {
  let key = 0
  return {
    apply({ trees, drivers }) {
      const tree = trees.findOrCreate(treeId)
      const former = tree.driver === driver ? undefined : tree.driver
      const other = former === undefined ? undefined : drivers.alive(former)
      if (other !== undefined) return { ok: false, driver: other }
      drivers.register(driver, claimed.instance)
      trees.claim(tree.key, driver)
      if (former !== undefined) drivers.removeIdle(former)
      key = tree.key
      return { ok: true, epoch: tree.epoch + 1, seq: tree.head }
    },
    committed(claim) {
      if (claim.ok) claimed.enter(treeId, { key, epoch: claim.epoch })
    },
  }
}

function appendOperation(entry: TextBatch, { claimed, changes, indexer }: StoreParts): Operation<Append> {
  const { treeId, epoch, expectedSeq, summary, identity, charge, turns = [], records = [] } = entry.batch
  const { last, rows } = entry
  let change: TreeChange | undefined
  let texts = noTexts
  return {
    apply(tables) {
      change = undefined
      texts = noTexts
      const key = claimed.find(treeId)?.key ?? tables.trees.find(treeId)?.key
      if (key === undefined) return { ok: false, refusal: 'missing' }
      if (expectedSeq === 0 && isKeyTaken(tables, entry.batch)) return { ok: false, refusal: 'key' }
      const advance = { key, treeId, from: expectedSeq, to: last.seq, epoch, at: last.at, summary, identity }
      if (!tables.trees.advance(advance)) return refusal(tables, entry)
      for (const row of rows) tables.journal.insert({ key, ...row })
      if (charge) tables.records.charge(charge)
      for (const { namespace, ...record } of records) tables.records.put(namespace, record)
      if (turns.length > 0) {
        tables.turns.add(key, turns)
        texts = { pending: tables.index.pending(), chars: charsOf(turns) }
      }
      if (changes.hasTreeWatchers) change = { treeId, entry: tables.trees.get(treeId) }
      return { ok: true }
    },
    committed(append) {
      if (change) changes.wakeTrees(change)
      indexer.noteTexts(texts)
      if (append.ok) changes.wake('journal', treeId)
      else if (append.refusal === 'epoch') claimed.remove(treeId, epoch)
    },
  }
}

function isKeyTaken({ trees }: Tables, { treeId, identity }: AppendBatch): boolean {
  const other = identity?.key === undefined ? undefined : trees.findByKey(identity.key)
  return other !== undefined && other.treeId !== treeId
}

/** Why the head could not be moved. A batch that is already stored, its answer lost, is not refused. */
function refusal({ trees, journal }: Tables, { batch }: TextBatch): Append {
  const tree = trees.find(batch.treeId)
  if (tree === undefined || tree.epoch === 0) return { ok: false, refusal: 'missing' }
  if (tree.epoch !== batch.epoch || tree.driver === undefined) return { ok: false, refusal: 'epoch' }
  const there = journal.read(batch.treeId, batch.expectedSeq, batch.events.length)
  // Serialising the parsed events gives the stored text: JSON keeps the order of keys.
  return JSON.stringify(there) === JSON.stringify(batch.events) ? { ok: true } : { ok: false, refusal: 'seq' }
}

function rowsOf(treeId: TreeId, events: readonly InteractionEvent[]): readonly JournalText[] {
  const texts = events.map((event) => textOf(treeId, event))
  const rows: JournalText[] = []
  let [first, length] = [0, 0]
  for (const [index, text] of texts.entries()) {
    if (index > first && length + text.length > maxRowLength) {
      rows.push(rowOf(treeId, events.slice(first, index), texts.slice(first, index)))
      first = index
      length = 0
    }
    length += text.length
  }
  return [...rows, rowOf(treeId, events.slice(first), texts.slice(first))]
}

function rowOf(treeId: TreeId, events: readonly InteractionEvent[], texts: readonly string[]): JournalText {
  const text = `[${texts.join()}]`
  const [{ seq }, { seq: last }] = [events[0] as InteractionEvent, events.at(-1) as InteractionEvent]
  return { seq, last, text, checksum: checksumOf(treeId, seq, text) }
}

function textOf(treeId: TreeId, event: InteractionEvent): string {
  let text: string
  try {
    text = JSON.stringify(event)
  } catch (cause) {
    throw new TroupeError('internal', `an event for tree ${treeId} is not JSON`, { cause })
  }
  if (text.length <= maxTextLength) return text
  throw new TroupeError('store_failed', `an event for tree ${treeId} is too large to store: ${text.length} characters`, {
    remedy: 'limit the size of outputs (maxOutputBytes)',
  })
}
