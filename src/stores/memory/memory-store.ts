import type {
  Append,
  AppendBatch,
  BlobId,
  Blobs,
  Inbox,
  InboxRow,
  InteractionEvent,
  Journal,
  Problem,
  ReadLimits,
  Records,
  Store,
  TreeId,
} from '../../contracts/index.ts'
import { jsonWeight } from '../../util/json-weight.ts'
import { checkFields, checkKeys, configError, expectObject, type FieldType, optional } from '../../util/option-problems.ts'
import { bytesId } from '../shared/bytes-id.ts'
import { checkBatch } from '../shared/store-errors.ts'
import { Watchers } from '../shared/watchers.ts'
import { memoryIndex } from './memory-index.ts'
import { type MemoryUsages, memoryRecords, memoryUsages } from './memory-records.ts'
import { type MemoryTree, MemoryTrees } from './memory-trees.ts'
import { type MemoryTurns, memoryTurns } from './memory-turns.ts'

export interface MemoryStoreOptions {
  /** How many ended sessions are kept. The one that was released first is evicted first. Default 100. */
  readonly keepSessions?: number
}

/**
 * A store in memory. It answers synchronously and stores the given events without a copy: do not change them afterwards.
 *
 * Sessions that are running or suspended are never evicted: delete those that nobody will continue (`trees.delete`). Of the
 * others the `keepSessions` that were released last are kept. Usage is that of the last 10,000 turns.
 *
 * @throws TroupeError `config_invalid` with all problems.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions(options)
  const trees = new MemoryTrees(options.keepSessions ?? 100)
  const usages = memoryUsages(trees)
  const turns = memoryTurns(trees)
  const records = memoryRecords(trees)
  return {
    journal: memoryJournal({ trees, usages, turns, records }),
    inbox: memoryInbox(trees),
    blobs: memoryBlobs(trees),
    trees: memoryIndex(trees),
    records,
    usages,
    turns,
    vacuum: () => undefined,
    close: async () => trees.close(),
  }
}

const aCount: FieldType = { expected: 'a number of sessions', accepts: (count) => typeof count === 'number' && count >= 0 }

function checkOptions(options: MemoryStoreOptions): void {
  const problems: Problem[] = []
  if (!expectObject(problems, options, 'memoryStore')) throw configError(problems)
  checkKeys(problems, options, { known: ['keepSessions'], place: 'memoryStore' })
  checkFields(problems, options, { fields: { keepSessions: optional(aCount, 'Leave it out for 100.') }, place: 'memoryStore' })
  if (problems.length > 0) throw configError(problems)
}

const stored: Append = { ok: true }
const noEvents: readonly InteractionEvent[] = []
const noRows: readonly InboxRow[] = []

interface Parts {
  readonly trees: MemoryTrees
  readonly usages: MemoryUsages
  readonly turns: MemoryTurns
  readonly records: Records
}

function memoryJournal({ trees, usages, turns, records }: Parts): Journal {
  const watchers = new Watchers<TreeId>()
  return {
    claim(treeId, driver) {
      const tree = trees.claim(treeId, driver)
      return tree.driver === driver ? { ok: true, epoch: tree.epoch, seq: tree.events.length } : { ok: false, driver: String(tree.driver) }
    },
    release(treeId, epoch) {
      const tree = trees.find(treeId)
      if (tree?.driver !== undefined && tree.epoch === epoch) trees.release(tree)
    },
    append(batch) {
      checkBatch(batch)
      const tree = trees.find(batch.treeId)
      if (tree === undefined || tree.epoch === 0) return { ok: false, refusal: 'missing' }
      if (tree.epoch !== batch.epoch || tree.driver === undefined) return { ok: false, refusal: 'epoch' }
      if (tree.events.length !== batch.expectedSeq) return isStored(tree.events, batch) ? stored : { ok: false, refusal: 'seq' }
      const key = batch.expectedSeq === 0 ? batch.identity?.key : undefined
      if (key !== undefined && trees.findByKey(key) !== undefined) return { ok: false, refusal: 'key' }
      store(trees, tree, batch)
      if (batch.charge) usages.charge(batch.charge)
      if (batch.turns) turns.add(tree, batch.turns)
      for (const { namespace, key, ...record } of batch.records ?? []) void records.update(namespace, key, () => record)
      watchers.wake(batch.treeId)
      trees.reportChange(tree)
      return stored
    },
    read(treeId, after, limit = {}) {
      const all = trees.find(treeId)?.events ?? noEvents
      if (after >= all.length) return noEvents
      const { events, bytes }: ReadLimits = typeof limit === 'number' ? { events: limit } : limit
      const first = Math.max(0, after)
      const page = all.slice(first, events === undefined ? undefined : first + events)
      return bytes === undefined ? page : upTo(page, bytes)
    },
    watch: (treeId, wake) => watchers.add(treeId, wake),
  }
}

/** Its first events, up to the one that reaches this size. */
function upTo(events: readonly InteractionEvent[], bytes: number): readonly InteractionEvent[] {
  let read = 0
  for (const [index, event] of events.entries()) {
    read += jsonWeight(event)
    if (read >= bytes) return events.slice(0, index + 1)
  }
  return events
}

function store(trees: MemoryTrees, tree: MemoryTree, { events, summary, identity }: AppendBatch): void {
  if (tree.events.length === 0) {
    tree.createdAt = trees.creationTime(events[0]?.at ?? 0)
    if (identity) tree.identity = identity
  }
  for (const event of events) tree.events.push(event)
  if (summary !== undefined) tree.summary = tree.hasOwnTitle ? { ...summary, title: tree.summary.title } : summary
}

/** Whether a batch whose answer was lost is already stored. Events that are not the same object are compared as JSON. */
function isStored(events: readonly InteractionEvent[], batch: AppendBatch): boolean {
  return batch.events.every((event) => {
    const known = events[event.seq - 1]
    return known === event || (known !== undefined && JSON.stringify(known) === JSON.stringify(event))
  })
}

/** A position is the number of the row, from 1. */
function memoryInbox(trees: MemoryTrees): Inbox {
  const watchers = new Watchers<TreeId>()
  return {
    add(treeId, clientId, message) {
      const tree = trees.findOrCreate(treeId)
      tree.inbox ??= { rows: [], positions: new Map() }
      const first = tree.inbox.positions.get(clientId)
      if (first !== undefined) return { position: first, repeated: true, message: (tree.inbox.rows[first - 1] as InboxRow).message }
      const position = tree.inbox.rows.length + 1
      tree.inbox.rows.push({ position, clientId, message })
      tree.inbox.positions.set(clientId, position)
      watchers.wake(treeId)
      return { position, repeated: false }
    },
    read(treeId, after) {
      const rows = trees.find(treeId)?.inbox?.rows ?? noRows
      return after >= rows.length ? noRows : rows.slice(Math.max(0, after))
    },
    watch: (treeId, wake) => watchers.add(treeId, wake),
  }
}

function memoryBlobs(trees: MemoryTrees): Blobs {
  const blobsOf = (treeId: TreeId): NonNullable<MemoryTree['blobs']> => {
    const tree = trees.findOrCreate(treeId)
    tree.blobs ??= new Map()
    return tree.blobs
  }
  return {
    put(treeId, text) {
      // UTF-16 tells lone surrogates apart, which UTF-8 would make equal.
      const id = hashOf(Buffer.from(text, 'utf16le')) as BlobId
      blobsOf(treeId).set(id, text)
      return id
    },
    get(treeId, id) {
      const found = trees.find(treeId)?.blobs?.get(id)
      return typeof found === 'string' ? found : undefined
    },
    putBytes(treeId, bytes, mediaType) {
      const id = bytesId(hashOf(bytes), mediaType)
      blobsOf(treeId).set(id, { mediaType, bytes: new Uint8Array(bytes) })
      return id
    },
    getBytes(treeId, id) {
      const found = trees.find(treeId)?.blobs?.get(id)
      return typeof found === 'object' ? { ...found, bytes: new Uint8Array(found.bytes) } : undefined
    },
  }
}

function hashOf(bytes: Uint8Array): string {
  // Loaded with the first blob: loading it takes as long as a dozen files.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32)
}
