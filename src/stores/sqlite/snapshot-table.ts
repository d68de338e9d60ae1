import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** The latest folded state of a tree, as a cache. */
export class SnapshotTable {
  readonly #remove: StatementSync

  constructor(database: DatabaseSync) {
    this.#remove = database.prepare('DELETE FROM snapshots WHERE tree = ?')
  }

  remove(key: number): void {
    this.#remove.run(key)
  }
}
