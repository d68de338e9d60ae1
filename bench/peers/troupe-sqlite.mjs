// peer: Troupe, SQLite | troupe
// Every step is committed to a real file (WAL, synchronous FULL) before its calls run.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'troupe/stores/sqlite'
import { make } from '../lib/troupe.mjs'

export const prepare = make(() => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return sqliteStore({ path: folder })
})
