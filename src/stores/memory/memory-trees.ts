import type {
  BlobId,
  ClientId,
  InboxRow,
  InteractionEvent,
  OwnerId,
  StoredBytes,
  TreeId,
  TreeIdentity,
  TreeSummary,
} from '../../contracts/index.ts'
import { closedError } from '../shared/store-errors.ts'

/** One tree. Its last `seq` is the number of its events. */
export interface MemoryTree {
  readonly treeId: TreeId
  readonly events: InteractionEvent[]
  /** 0: never claimed. */
  epoch: number
  owner: OwnerId | undefined
  summary: TreeSummary
  identity: TreeIdentity
  createdAt: number
  inbox: { readonly rows: InboxRow[]; readonly positions: Map<ClientId, number> } | undefined
  blobs: Map<BlobId, string | StoredBytes> | undefined
}

const unnamed: TreeSummary = { agent: '', title: '', status: 'running', openRequests: 0 }
const noIdentity: TreeIdentity = {}

/**
 * The trees of a memory store, and which of them are kept.
 *
 * 1. A tree with an owner is never evicted, nor is one whose turn has not ended: it is running or suspended.
 * 2. `#evictable` holds exactly the other ones, in the order in which they were released or made.
 * 3. There are never more than `keep` of those, except for one that was just created and is about to be filled.
 * 4. `createdAt` grows strictly from tree to tree: lists use it as a cursor.
 */
export class MemoryTrees {
  readonly #trees = new Map<TreeId, MemoryTree>()
  readonly #evictable = new Set<MemoryTree>()
  readonly #keep: number
  #lastCreatedAt = Number.NEGATIVE_INFINITY
  #state: 'open' | 'closed' = 'open'

  constructor(keep: number) {
    this.#keep = keep
  }

  find(treeId: TreeId): MemoryTree | undefined {
    if (this.#state === 'closed') throw closedError()
    return this.#trees.get(treeId)
  }

  findByKey(key: string): MemoryTree | undefined {
    for (const tree of this.all()) if (tree.identity.key === key) return tree
    return undefined
  }

  /** For messages and blobs, which may arrive before the tree has an owner. */
  findOrCreate(treeId: TreeId): MemoryTree {
    const found = this.find(treeId)
    if (found !== undefined) return found
    const tree = this.#create(treeId)
    this.#evictable.add(tree)
    this.#evict(Math.max(1, this.#keep))
    return tree
  }

  /** The tree with this owner and a new epoch, or still with another owner. */
  claim(treeId: TreeId, owner: OwnerId): MemoryTree {
    const tree = this.find(treeId) ?? this.#create(treeId)
    if (tree.owner !== undefined && tree.owner !== owner) return tree
    tree.owner = owner
    tree.epoch += 1
    this.#evictable.delete(tree)
    return tree
  }

  release(tree: MemoryTree): void {
    tree.owner = undefined
    if (tree.events.length > 0 && (tree.summary.status === 'running' || tree.summary.status === 'suspended')) return
    this.#evictable.add(tree)
    this.#evict(this.#keep)
  }

  remove(tree: MemoryTree): void {
    this.#evictable.delete(tree)
    this.#trees.delete(tree.treeId)
  }

  creationTime(at: number): number {
    this.#lastCreatedAt = Math.max(at, this.#lastCreatedAt + 1)
    return this.#lastCreatedAt
  }

  all(): Iterable<MemoryTree> {
    if (this.#state === 'closed') throw closedError()
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
      owner: undefined,
      summary: unnamed,
      identity: noIdentity,
      createdAt: 0,
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
