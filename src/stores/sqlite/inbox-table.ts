import type { DatabaseSync } from 'node:sqlite'
import type { ClientId, InboxMessage, InboxRow, TreeId } from '../../contracts/index.ts'
import { decodeText, encodeText } from './encoding.ts'

interface InboxEntry {
  readonly key: number
  readonly clientId: ClientId
  /** The message as JSON. */
  readonly text: string
}

const prepareStatements = (database: DatabaseSync) => ({
  find: database.prepare('SELECT position FROM inbox WHERE tree = ? AND client = ?'),
  insert: database.prepare(
    `INSERT INTO inbox (tree, position, client, message)
       SELECT ?1, coalesce(max(position), 0) + 1, ?2, ?3 FROM inbox WHERE tree = ?1 RETURNING position`,
  ),
  select: database.prepare(
    'SELECT position, client, message FROM inbox WHERE tree = (SELECT key FROM trees WHERE id = ?) AND position > ? ORDER BY position',
  ),
  remove: database.prepare('DELETE FROM inbox WHERE tree = ?'),
})

export class InboxTable {
  readonly #sql: ReturnType<typeof prepareStatements>

  constructor(database: DatabaseSync) {
    this.#sql = prepareStatements(database)
  }

  remove(key: number): void {
    this.#sql.remove.run(key)
  }

  add({ key, clientId, text }: InboxEntry): { readonly position: number; readonly repeated: boolean } {
    const client = encodeText(clientId)
    const first = this.#sql.find.get(key, client)
    if (first !== undefined) return { position: Number(first.position), repeated: true }
    return { position: Number(this.#sql.insert.get(key, client, text)?.position), repeated: false }
  }

  read(treeId: TreeId, after: number): readonly InboxRow[] {
    return this.#sql.select.all(encodeText(treeId), after).map((row) => ({
      position: Number(row.position),
      clientId: decodeText(String(row.client)) as ClientId,
      message: JSON.parse(String(row.message)) as InboxMessage,
    }))
  }
}
