import type { AddedMessage, ClientId, Inbox, InboxMessage, TreeId } from '../../contracts/index.ts'
import { decodeText, encodeText } from '../shared/encoding.ts'
import type { Transaction } from './database.ts'
import { channel } from './notifier.ts'
import { conflict, type StoreParts } from './postgres-journal.ts'

export function postgresInbox({ database, changes, notifier }: Pick<StoreParts, 'database' | 'changes' | 'notifier'>): Inbox {
  async function add(transaction: Transaction, treeId: TreeId, { client, text }: Message): Promise<AddedMessage> {
    const id = encodeText(treeId)
    await transaction.query('INSERT INTO troupe.trees (id) VALUES ($1) ON CONFLICT (id) DO NOTHING', [id])
    const [tree] = await transaction.query('SELECT key, inbox_head FROM troupe.trees WHERE id = $1 FOR UPDATE', [id])
    if (tree === undefined) throw conflict()
    const [first] = await transaction.query('SELECT position, message FROM troupe.inbox WHERE tree = $1 AND client = $2', [
      tree.key,
      client,
    ])
    if (first) return { position: Number(first.position), repeated: true, message: JSON.parse(String(first.message)) as InboxMessage }
    const position = Number(tree.inbox_head) + 1
    await transaction.query(
      `WITH counted AS (UPDATE troupe.trees SET inbox_head = $2 WHERE key = $1),
         added AS (INSERT INTO troupe.inbox (tree, position, client, message) VALUES ($1, $2, $3, $4))
       SELECT pg_notify($5, $6)`,
      [tree.key, position, client, text, channel, notifier.payloadOf({ inbox: [[id, position]] })],
    )
    return { position, repeated: false }
  }

  return {
    async add(treeId, clientId, message) {
      const text = JSON.stringify(message)
      const added = await database.transaction((transaction) => add(transaction, treeId, { client: encodeText(clientId), text }))
      if (!added.repeated) changes.messageAdded(treeId, added.position)
      return added
    },
    async read(treeId, after) {
      const rows = await database.read(
        `SELECT position, client, message FROM troupe.inbox
           WHERE tree = (SELECT key FROM troupe.trees WHERE id = $1) AND position > $2 ORDER BY position`,
        [encodeText(treeId), after],
      )
      return rows.map(({ position, client, message }) => ({
        position: Number(position),
        clientId: decodeText(String(client)) as ClientId,
        message: JSON.parse(String(message)) as InboxMessage,
      }))
    },
    watch: (treeId, wake) => changes.watch('inbox', treeId, wake),
  }
}

interface Message {
  readonly client: string
  /** As JSON. */
  readonly text: string
}
