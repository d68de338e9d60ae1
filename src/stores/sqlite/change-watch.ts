import type { TreeId } from '../../contracts/index.ts'
import { closedError } from '../shared/store-errors.ts'
import { Watchers } from '../shared/watchers.ts'
import type { Connection } from './connection.ts'

export type Change = 'journal' | 'inbox'

/**
 * Wakes the watchers of a tree.
 *
 * 1. Commits of this store wake the watchers of their tree immediately.
 * 2. Commits of any other connection wake all watchers at the next poll: the file only shows that it changed.
 * 3. The poll runs only while there is a watcher, and never keeps the process alive. It compares with the version that it
 *    saw last, so a commit between two watchers is not missed.
 */
export class ChangeWatch {
  readonly #connection: Connection
  readonly #pollMs: number
  readonly #watchers = { journal: new Watchers<TreeId>(), inbox: new Watchers<TreeId>() } as const
  #version: number | undefined
  #timer: NodeJS.Timeout | undefined
  #state: 'open' | 'closed' = 'open'

  constructor(connection: Connection, pollMs: number) {
    this.#connection = connection
    this.#pollMs = pollMs
  }

  watch(change: Change, treeId: TreeId, wake: () => void): () => void {
    if (this.#state === 'closed') throw closedError()
    const remove = this.#watchers[change].add(treeId, wake)
    this.#timer ??= setInterval(() => this.#poll(), this.#pollMs).unref()
    return () => {
      remove()
      if (this.#watchers.journal.idle && this.#watchers.inbox.idle) this.#stop()
    }
  }

  wake(change: Change, treeId: TreeId): void {
    this.#watchers[change].wake(treeId)
  }

  close(): void {
    this.#state = 'closed'
    this.#stop()
  }

  #poll(): void {
    let version: number
    try {
      version = this.#connection.dataVersion()
    } catch {
      // Busy or broken: the next poll still finds the difference.
      return
    }
    if (version === this.#version) return
    this.#version = version
    this.#watchers.journal.wakeAll()
    this.#watchers.inbox.wakeAll()
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
