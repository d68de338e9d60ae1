import type { Append, AppendBatch, Claim, InteractionEvent, Journal, OwnerId, TreeId } from '../../contracts/index.ts'
import { checkBatch } from '../shared/check-batch.ts'
import { Watchers } from '../shared/watchers.ts'
import type { Forest, MemoryTree } from './forest.ts'

const stored: Append = { ok: true }
const nothing: readonly InteractionEvent[] = []

export class MemoryJournal implements Journal {
  readonly #forest: Forest
  readonly #watchers = new Watchers<TreeId>()

  constructor(forest: Forest) {
    this.#forest = forest
  }

  claim(treeId: TreeId, owner: OwnerId): Claim {
    const tree = this.#forest.claim(treeId, owner)
    return tree.owner === owner ? { ok: true, epoch: tree.epoch, seq: tree.events.length } : { ok: false, owner: String(tree.owner) }
  }

  release(treeId: TreeId, epoch: number): void {
    const tree = this.#forest.find(treeId)
    if (tree?.owner !== undefined && tree.epoch === epoch) this.#forest.giveUp(tree)
  }

  append(batch: AppendBatch): Append {
    checkBatch(batch)
    const tree = this.#forest.find(batch.treeId)
    if (tree === undefined || tree.epoch === 0) return { ok: false, refusal: 'missing' }
    if (tree.epoch !== batch.epoch || tree.owner === undefined) return { ok: false, refusal: 'epoch' }
    if (tree.events.length !== batch.expectedSeq) return stands(tree.events, batch) ? stored : { ok: false, refusal: 'seq' }
    if (batch.expectedSeq === 0 && this.#isKeyTaken(batch)) return { ok: false, refusal: 'key' }
    this.#store(tree, batch)
    this.#watchers.wake(batch.treeId)
    return stored
  }

  read(treeId: TreeId, after: number, limit = Number.POSITIVE_INFINITY): readonly InteractionEvent[] {
    const tree = this.#forest.find(treeId)
    const start = Math.max(0, after)
    return tree === undefined || start >= tree.events.length ? nothing : tree.events.slice(start, start + limit)
  }

  watch(treeId: TreeId, wake: () => void): () => void {
    return this.#watchers.add(treeId, wake)
  }

  #isKeyTaken({ identity }: AppendBatch): boolean {
    return identity?.key !== undefined && this.#forest.findByKey(identity.key) !== undefined
  }

  #store(tree: MemoryTree, { events, summary, identity }: AppendBatch): void {
    if (tree.events.length === 0) {
      tree.createdAt = this.#forest.creationTime(events[0]?.at ?? 0)
      if (identity) tree.identity = identity
    }
    for (const event of events) tree.events.push(event)
    if (summary !== undefined) tree.summary = summary
  }
}

/** Whether a batch whose answer was lost is already there. Events that are not the same object are compared as JSON. */
function stands(events: readonly InteractionEvent[], batch: AppendBatch): boolean {
  return batch.events.every((event) => {
    const there = events[event.seq - 1]
    return there === event || (there !== undefined && JSON.stringify(there) === JSON.stringify(event))
  })
}
