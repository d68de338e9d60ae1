import type { TreeChange, TreeId } from '../../contracts/index.ts'
import { closedError } from '../shared/store-errors.ts'
import { Watchers } from '../shared/watchers.ts'
import { type ChangePosition, unknownPosition } from './change-table.ts'
import type { Connection } from './connection.ts'

type Change = 'journal' | 'inbox'

/**
 * Wakes the watchers of a tree, and those of the list of trees.
 *
 * 1. Commits of this store wake the watchers of their tree and of the list immediately.
 * 2. Commits of any other connection wake all watchers of trees at the next poll: the file only shows that it changed. If somebody
 *    watches the list, one more look finds the trees that have changed; it may find those of this store again.
 * 3. The poll runs only while there is a watcher, and never keeps the process alive. It compares with the version that it
 *    saw last, so a commit between two watchers is not missed.
 */
export class ChangeWatch {
  readonly #connection: Connection
  readonly #pollMs: number
  readonly #watchers = { journal: new Watchers<TreeId>(), inbox: new Watchers<TreeId>() } as const
  readonly #trees = new Watchers<'trees', TreeChange>()
  /** Where the next look at the list begins, while somebody watches it. */
  #position: ChangePosition = unknownPosition
  #version: number | undefined
  #timer: NodeJS.Timeout | undefined
  #state: 'open' | 'closed' = 'open'

  constructor(connection: Connection, pollMs: number) {
    this.#connection = connection
    this.#pollMs = pollMs
  }

  watch(change: Change, treeId: TreeId, wake: () => void): () => void {
    return this.#start(() => this.#watchers[change].add(treeId, wake))
  }

  watchTrees(changed: (change: TreeChange) => void): () => void {
    return this.#start(() => {
      if (this.#trees.idle) this.#position = this.#currentPosition()
      return this.#trees.add('trees', changed)
    })
  }

  get hasTreeWatchers(): boolean {
    return !this.#trees.idle
  }

  wake(change: Change, treeId: TreeId): void {
    this.#watchers[change].wake(treeId)
  }

  wakeTrees(change: TreeChange): void {
    this.#trees.wake('trees', change)
  }

  close(): void {
    this.#state = 'closed'
    this.#stop()
  }

  #start(add: () => () => void): () => void {
    if (this.#state === 'closed') throw closedError()
    const remove = add()
    this.#timer ??= setInterval(() => this.#poll(), this.#pollMs).unref()
    return () => {
      remove()
      if (this.#watchers.journal.idle && this.#watchers.inbox.idle && this.#trees.idle) this.#stop()
    }
  }

  #currentPosition(): ChangePosition {
    try {
      return this.#connection.tables.changes.position()
    } catch {
      return unknownPosition
    }
  }

  #poll(): void {
    let changes: readonly TreeChange[] = []
    try {
      const version = this.#connection.dataVersion()
      if (version === this.#version) return
      if (this.hasTreeWatchers) ({ changes, position: this.#position } = this.#connection.tables.changes.since(this.#position))
      this.#version = version
    } catch {
      // Busy or broken: the next poll still finds the difference.
      return
    }
    this.#watchers.journal.wakeAll()
    this.#watchers.inbox.wakeAll()
    for (const change of changes) this.#trees.wake('trees', change)
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
