import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** Small facts that are no part of a journal, by namespace and key; `due` is when something is to be done about one. */
export class RecordTable {
  readonly #put: StatementSync
  readonly #keys: StatementSync
  readonly #remove: StatementSync

  constructor(database: DatabaseSync) {
    this.#put = database.prepare('INSERT OR REPLACE INTO records (namespace, key, due, json) VALUES (?, ?, ?, ?)')
    this.#keys = database.prepare('SELECT key FROM records WHERE namespace = ? ORDER BY key')
    this.#remove = database.prepare('DELETE FROM records WHERE namespace = ? AND key = ?')
  }

  put(namespace: string, key: string, { due, json }: { readonly due?: number; readonly json: string }): void {
    this.#put.run(namespace, key, due ?? null, json)
  }

  keys(namespace: string): readonly string[] {
    return this.#keys.all(namespace).map(({ key }) => String(key))
  }

  remove(namespace: string, key: string): void {
    this.#remove.run(namespace, key)
  }
}
