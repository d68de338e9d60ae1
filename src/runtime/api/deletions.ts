import type { TreeId, Trees } from '../../contracts/index.ts'

/** Tells readers that their tree was deleted, by any process. One watch of the store serves all of them. */
export class Deletions {
  readonly #trees: () => Pick<Trees, 'watch'>
  readonly #readers = new Map<TreeId, Set<() => void>>()
  #unwatch: (() => void) | undefined

  constructor(trees: () => Pick<Trees, 'watch'>) {
    this.#trees = trees
  }

  /** Returns a function that ends the watch. */
  watch(treeId: TreeId, deleted: () => void): () => void {
    const readers = this.#readers.get(treeId) ?? new Set()
    this.#readers.set(treeId, readers.add(deleted))
    this.#unwatch ??= this.#trees().watch((change) => {
      if (!change.entry) for (const reader of this.#readers.get(change.treeId) ?? []) reader()
    })
    return () => {
      readers.delete(deleted)
      if (readers.size === 0 && this.#readers.get(treeId) === readers) this.#readers.delete(treeId)
      if (this.#readers.size > 0) return
      this.#unwatch?.()
      this.#unwatch = undefined
    }
  }
}
