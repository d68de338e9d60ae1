import type {
  Append,
  AppendBatch,
  ClientId,
  Inbox,
  InboxMessage,
  InboxRow,
  InteractionEvent,
  Journal,
  TreeId,
} from '../../contracts/index.ts'
import { checkBatch } from '../shared/store-errors.ts'
import { Watchers } from '../shared/watchers.ts'
import type { MemoryTree, MemoryTrees } from './memory-trees.ts'

const stored: Append = { ok: true }
const noEvents: readonly InteractionEvent[] = []
const noRows: readonly InboxRow[] = []

export function memoryJournal(trees: MemoryTrees): Journal {
  const watchers = new Watchers<TreeId>()
  return {
    claim(treeId, owner) {
      const tree = trees.claim(treeId, owner)
      return tree.owner === owner ? { ok: true, epoch: tree.epoch, seq: tree.events.length } : { ok: false, owner: String(tree.owner) }
    },
    release(treeId, epoch) {
      const tree = trees.find(treeId)
      if (tree?.owner !== undefined && tree.epoch === epoch) trees.release(tree)
    },
    append(batch) {
      checkBatch(batch)
      const tree = trees.find(batch.treeId)
      if (tree === undefined || tree.epoch === 0) return { ok: false, refusal: 'missing' }
      if (tree.epoch !== batch.epoch || tree.owner === undefined) return { ok: false, refusal: 'epoch' }
      if (tree.events.length !== batch.expectedSeq) return isStored(tree.events, batch) ? stored : { ok: false, refusal: 'seq' }
      const key = batch.expectedSeq === 0 ? batch.identity?.key : undefined
      if (key !== undefined && trees.findByKey(key) !== undefined) return { ok: false, refusal: 'key' }
      store(trees, tree, batch)
      watchers.wake(batch.treeId)
      return stored
    },
    read(treeId, after, limit = Number.POSITIVE_INFINITY) {
      const events = trees.find(treeId)?.events ?? noEvents
      return after >= events.length ? noEvents : events.slice(Math.max(0, after), Math.max(0, after) + limit)
    },
    watch: (treeId, wake) => watchers.add(treeId, wake),
  }
}

function store(trees: MemoryTrees, tree: MemoryTree, { events, summary, identity }: AppendBatch): void {
  if (tree.events.length === 0) {
    tree.createdAt = trees.creationTime(events[0]?.at ?? 0)
    if (identity) tree.identity = identity
  }
  for (const event of events) tree.events.push(event)
  if (summary !== undefined) tree.summary = summary
}

/** Whether a batch whose answer was lost is already stored. Events that are not the same object are compared as JSON. */
function isStored(events: readonly InteractionEvent[], batch: AppendBatch): boolean {
  return batch.events.every((event) => {
    const known = events[event.seq - 1]
    return known === event || (known !== undefined && JSON.stringify(known) === JSON.stringify(event))
  })
}

/** A position is the number of the row, from 1. */
export function memoryInbox(trees: MemoryTrees): Inbox {
  const watchers = new Watchers<TreeId>()
  return {
    add(treeId: TreeId, clientId: ClientId, message: InboxMessage) {
      const tree = trees.findOrCreate(treeId)
      tree.inbox ??= { rows: [], positions: new Map() }
      const first = tree.inbox.positions.get(clientId)
      if (first !== undefined) return { position: first, repeated: true }
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
