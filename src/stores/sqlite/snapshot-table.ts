import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { StateSnapshot, TreeId } from '../../contracts/index.ts'
import { checksumOf } from './checksum.ts'
import { encodeText } from './text.ts'

/** The last collapseRows state of a tree. */
export class SnapshotTable {
  readonly #get: StatementSync
  readonly #put: StatementSync
  readonly #remove: StatementSync

  constructor(database: DatabaseSync) {
    this.#get = database.prepare(
      `SELECT seq, checksum, CAST(state AS BLOB) AS state FROM snapshots JOIN trees ON trees.key = snapshots.tree
       WHERE trees.id = ? AND version = ? AND seq <= head`,
    )
    this.#put = database.prepare(
      'INSERT OR REPLACE INTO snapshots (tree, seq, version, checksum, state) SELECT key, ?, ?, ?, ? FROM trees WHERE id = ? AND head >= ?',
    )
    this.#remove = database.prepare('DELETE FROM snapshots WHERE tree = ?')
  }

  get(treeId: TreeId, version: string): StateSnapshot | undefined {
    const row = this.#get.get(encodeText(treeId), version)
    if (row === undefined) return undefined
    // Bytes are checked and made a text faster than a text is checked.
    const [seq, bytes] = [Number(row.seq), row.state as Uint8Array]
    if (row.checksum !== checksumOf(`${treeId} ${version}`, seq, bytes)) return undefined
    return { seq, version, state: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString() }
  }

  put(treeId: TreeId, { seq, version, state }: StateSnapshot): void {
    this.#put.run(seq, version, checksumOf(`${treeId} ${version}`, seq, state), state, encodeText(treeId), seq)
  }

  remove(key: number): void {
    this.#remove.run(key)
  }
}
