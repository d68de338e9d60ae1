import type { DatabaseSync } from 'node:sqlite'
import type { AddedMessage, ClientId, InboxMessage, InboxRow, TreeId } from '../../contracts/index.ts'
import { decodeText, encodeText } from '../shared/encoding.ts'

export function inboxTable(database: DatabaseSync) {
  const find = database.prepare('SELECT position, message FROM inbox WHERE tree = ? AND client = ?')
  const insert = database.prepare(
    `INSERT INTO inbox (tree, position, client, message)
       SELECT ?1, coalesce(max(position), 0) + 1, ?2, ?3 FROM inbox WHERE tree = ?1 RETURNING position`,
  )
  const select = database.prepare(
    'SELECT position, client, message FROM inbox WHERE tree = (SELECT key FROM trees WHERE id = ?) AND position > ? ORDER BY position',
  )
  return {
    /** `text`: the message as JSON. */
    add(key: number, clientId: ClientId, text: string): AddedMessage {
      const client = encodeText(clientId)
      const first = find.get(key, client)
      if (first !== undefined)
        return { position: Number(first.position), repeated: true, message: JSON.parse(String(first.message)) as InboxMessage }
      return { position: Number(insert.get(key, client, text)?.position), repeated: false }
    },
    read: (treeId: TreeId, after: number): readonly InboxRow[] =>
      select.all(encodeText(treeId), after).map((row) => ({
        position: Number(row.position),
        clientId: decodeText(String(row.client)) as ClientId,
        message: JSON.parse(String(row.message)) as InboxMessage,
      })),
  }
}
