import { randomUUID } from 'node:crypto'
import type { TreeId } from '../../contracts/index.ts'
import type { CommitQueue, Operation } from './commit-queue.ts'

interface Holding {
  readonly key: number
  readonly epoch: number
}

/**
 * The trees that were claimed through this store.
 *
 * 1. A holding is added after its claim was committed, and removed when it was released or lost.
 * 2. The heartbeat runs only while there is a holding, and never keeps the process alive.
 * 3. A release that could not be stored is repeated with the heartbeat. For this process the tree has no driver from then on.
 */
export class ClaimedTrees {
  /** Tells this store from an earlier or later one under the same driver id. */
  readonly instance = randomUUID()
  readonly #queue: CommitQueue
  readonly #heartbeatMs: number
  readonly #holdings = new Map<TreeId, Holding>()
  readonly #unreleased = new Map<TreeId, Operation<void>>()
  /** Whether any tree was ever claimed. */
  hasClaimed = false
  #timer: NodeJS.Timeout | undefined
  #beat: Promise<unknown> | undefined

  constructor(queue: CommitQueue, heartbeatMs: number) {
    this.#queue = queue
    this.#heartbeatMs = heartbeatMs
  }

  find(treeId: TreeId): Holding | undefined {
    return this.#holdings.get(treeId)
  }

  enter(treeId: TreeId, holding: Holding): void {
    this.hasClaimed = true
    this.#holdings.set(treeId, holding)
    this.#unreleased.delete(treeId)
    this.#timer ??= setInterval(() => this.#renew(), this.#heartbeatMs).unref()
  }

  releaseLater(treeId: TreeId, release: Operation<void>): void {
    this.#unreleased.set(treeId, release)
  }

  isReleased(treeId: TreeId): boolean {
    return this.#unreleased.has(treeId)
  }

  remove(treeId: TreeId, epoch: number): void {
    if (this.#holdings.get(treeId)?.epoch !== epoch) return
    this.#holdings.delete(treeId)
    if (this.#holdings.size === 0) this.stop()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #renew(): void {
    // A failed heartbeat is not repeated: the lease outlasts two lost ones.
    const late = [...this.#unreleased]
    this.#beat ??= this.#queue
      .add({
        apply: (tables) => {
          tables.drivers.renew(this.instance)
          for (const [, release] of late) release.apply(tables)
        },
        committed: () => {
          for (const [treeId, release] of late) if (this.#unreleased.delete(treeId)) release.committed?.()
        },
      })
      .catch(() => undefined)
      .finally(() => {
        this.#beat = undefined
      })
  }
}
