import type {
  BlobId,
  ClientId,
  DriverId,
  InboxRow,
  InteractionEvent,
  SearchMatch,
  StoredBytes,
  TreeChange,
  TreeEntry,
  TreeId,
  TreeIdentity,
  TreeSummary,
  TurnText,
} from '../../contracts/index.ts'
import { closedError } from '../shared/store-errors.ts'
import { Watchers } from '../shared/watchers.ts'

/** One tree. Its last `seq` is the number of its events. */
export interface MemoryTree {
  readonly treeId: TreeId
  readonly events: InteractionEvent[]
  /** 0: never claimed. */
  epoch: number
  driver: DriverId | undefined
  summary: TreeSummary
  /** The title was set by `trees.update`. */
  hasOwnTitle: boolean
  identity: TreeIdentity
  createdAt: number
  /** What a search looks through, the oldest first. */
  readonly texts: SearchedText[]
  cost: TreeCost | undefined
  inbox: { readonly rows: InboxRow[]; readonly positions: Map<ClientId, number> } | undefined
  blobs: Map<BlobId, string | StoredBytes> | undefined
}

interface SearchedText extends TurnText, Pick<SearchMatch, 'at'> {}

interface TreeCost {
  /** Nano-dollars. */
  readonly nanos: number
  /** Requests without a price. */
  readonly unpriced: number
}

const unnamed: TreeSummary = { agent: '', title: '', status: 'running', openRequests: 0 }
const noIdentity: TreeIdentity = {}

/**
 * The trees of a memory store, and which of them are kept.
 *
 * 1. A tree with a driver is never evicted, nor is one whose turn has not ended: it is running or suspended.
 * 2. `#evictable` holds exactly the other ones, in the order in which they were released or made.
 * 3. There are never more than `keep` of those, except for one that was just created and is about to be filled.
 * 4. `createdAt` grows strictly from tree to tree: lists use it as a cursor.
 */
export class MemoryTrees {
  readonly #trees = new Map<TreeId, MemoryTree>()
  readonly #evictable = new Set<MemoryTree>()
  readonly #keep: number
  readonly #watchers = new Watchers<'trees', TreeChange>()
  #lastCreatedAt = Number.NEGATIVE_INFINITY
  #state: 'open' | 'closed' = 'open'

  constructor(keep: number) {
    this.#keep = keep
  }

  checkOpen(): void {
    if (this.#state === 'closed') throw closedError()
  }

  find(treeId: TreeId): MemoryTree | undefined {
    this.checkOpen()
    return this.#trees.get(treeId)
  }

  findByKey(key: string): MemoryTree | undefined {
    for (const tree of this.all()) if (tree.identity.key === key) return tree
    return undefined
  }

  /** For messages and blobs, which may arrive before the tree has a driver. */
  findOrCreate(treeId: TreeId): MemoryTree {
    const found = this.find(treeId)
    if (found !== undefined) return found
    const tree = this.#create(treeId)
    this.#evictable.add(tree)
    this.#evict(Math.max(1, this.#keep))
    return tree
  }

  /** The tree with this driver and a new epoch, or still with another driver. */
  claim(treeId: TreeId, driver: DriverId): MemoryTree {
    const tree = this.find(treeId) ?? this.#create(treeId)
    if (tree.driver !== undefined && tree.driver !== driver) return tree
    tree.driver = driver
    tree.epoch += 1
    this.#evictable.delete(tree)
    return tree
  }

  release(tree: MemoryTree): void {
    tree.driver = undefined
    if (tree.events.length > 0 && (tree.summary.status === 'running' || tree.summary.status === 'suspended')) return
    this.#evictable.add(tree)
    this.#evict(this.#keep)
  }

  remove(tree: MemoryTree): void {
    this.#evictable.delete(tree)
    this.#trees.delete(tree.treeId)
    if (tree.events.length > 0) this.#watchers.wake('trees', { treeId: tree.treeId, entry: undefined })
  }

  creationTime(at: number): number {
    this.#lastCreatedAt = Math.max(at, this.#lastCreatedAt + 1)
    return this.#lastCreatedAt
  }

  watch(changed: (change: TreeChange) => void): () => void {
    return this.#watchers.add('trees', changed)
  }

  /** Reports that the entry of a tree was added or changed. */
  reportChange(tree: MemoryTree): void {
    if (!this.#watchers.idle) this.#watchers.wake('trees', { treeId: tree.treeId, entry: entryOf(tree) })
  }

  all(): Iterable<MemoryTree> {
    this.checkOpen()
    return this.#trees.values()
  }

  close(): void {
    this.#state = 'closed'
    this.#trees.clear()
    this.#evictable.clear()
  }

  #create(treeId: TreeId): MemoryTree {
    const tree: MemoryTree = {
      treeId,
      events: [],
      epoch: 0,
      driver: undefined,
      summary: unnamed,
      hasOwnTitle: false,
      identity: noIdentity,
      createdAt: 0,
      texts: [],
      cost: undefined,
      inbox: undefined,
      blobs: undefined,
    }
    this.#trees.set(treeId, tree)
    return tree
  }

  #evict(keep: number): void {
    for (const tree of this.#evictable) {
      if (this.#evictable.size <= keep) return
      this.remove(tree)
    }
  }
}

/** A tree without events has nothing to show yet. */
export function entryOf(tree: MemoryTree | undefined): TreeEntry | undefined {
  const last = tree?.events.at(-1)
  if (!tree || !last) return undefined
  const { treeId, createdAt, summary, identity, cost } = tree
  const times = { createdAt, updatedAt: Math.max(createdAt, last.at) }
  const known = cost && { cost: cost.unpriced > 0 ? ('unknown' as const) : cost.nanos / 1e9 }
  return { treeId, seq: last.seq, ...summary, ...identity, ...times, ...known }
}
