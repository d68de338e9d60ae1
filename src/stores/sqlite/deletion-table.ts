import type { DatabaseSync } from 'node:sqlite'
import type { TreeId } from '../../contracts/index.ts'
import { decodeText, encodeText } from '../shared/encoding.ts'

/**
 * Rows and files cannot be removed in one transaction. The commit that removes the rows of a tree also records the blobs to
 * remove; `vacuum` removes the files of records that are left over. A trigger removes the texts that are searched.
 */
export function deletionTable(database: DatabaseSync) {
  const namespace = 'deleted-blobs'
  const rows = ['journal', 'inbox', 'snapshots'].map((table) => database.prepare(`DELETE FROM ${table} WHERE tree = ?`))
  const tree = database.prepare('DELETE FROM trees WHERE key = ?')
  const record = database.prepare("INSERT OR REPLACE INTO records (namespace, key, json) VALUES (?, ?, 'null')")
  const recorded = database.prepare('SELECT key FROM records WHERE namespace = ? ORDER BY key')
  const forget = database.prepare('DELETE FROM records WHERE namespace = ? AND key = ?')
  return {
    removeRows(key: number, treeId: TreeId): void {
      for (const statement of [...rows, tree]) statement.run(key)
      forget.run('tree-title', encodeText(treeId))
      record.run(namespace, encodeText(treeId))
    },
    blobsToRemove: (): readonly TreeId[] => recorded.all(namespace).map(({ key }) => decodeText(String(key)) as TreeId),
    forgetBlobs: (treeId: TreeId): void => void forget.run(namespace, encodeText(treeId)),
  }
}
