import type { DatabaseSync } from 'node:sqlite'
import type { StateSnapshot, TreeId } from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import { checksumOf } from './checksum.ts'

/** The last folded state of a tree. */
export function snapshotTable(database: DatabaseSync) {
  const select = database.prepare(
    `SELECT seq, checksum, CAST(state AS BLOB) AS state FROM snapshots JOIN trees ON trees.key = snapshots.tree
       WHERE trees.id = ? AND version = ? AND seq <= head`,
  )
  const insert = database.prepare(
    'INSERT OR REPLACE INTO snapshots (tree, seq, version, checksum, state) SELECT key, ?, ?, ?, ? FROM trees WHERE id = ? AND head >= ?',
  )
  return {
    get(treeId: TreeId, version: string): StateSnapshot | undefined {
      const row = select.get(encodeText(treeId), version)
      if (row === undefined) return undefined
      // A checksum of bytes is faster than one of a string.
      const [seq, bytes] = [Number(row.seq), row.state as Uint8Array]
      if (row.checksum !== checksumOf(`${treeId} ${version}`, seq, bytes)) return undefined
      return { seq, version, state: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString() }
    },
    put(treeId: TreeId, { seq, version, state }: StateSnapshot): void {
      insert.run(seq, version, checksumOf(`${treeId} ${version}`, seq, state), state, encodeText(treeId), seq)
    },
  }
}
