import type { DatabaseSync } from 'node:sqlite'

const prepareStatements = (database: DatabaseSync) => ({
  put: database.prepare('INSERT OR REPLACE INTO records (namespace, key, due, json) VALUES (?, ?, ?, ?)'),
  keys: database.prepare('SELECT key FROM records WHERE namespace = ? ORDER BY key'),
  remove: database.prepare('DELETE FROM records WHERE namespace = ? AND key = ?'),
})

/** Small records beside the journals, by namespace and key; `due` is when to process one. */
export class RecordTable {
  readonly #sql: ReturnType<typeof prepareStatements>

  constructor(database: DatabaseSync) {
    this.#sql = prepareStatements(database)
  }

  put(namespace: string, key: string, { due, json }: { readonly due?: number; readonly json: string }): void {
    this.#sql.put.run(namespace, key, due ?? null, json)
  }

  keys(namespace: string): readonly string[] {
    return this.#sql.keys.all(namespace).map(({ key }) => String(key))
  }

  remove(namespace: string, key: string): void {
    this.#sql.remove.run(namespace, key)
  }
}
