import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqliteStore } from '../../dist/stores/sqlite/index.js'

/** The store of a run: the one that its folder names, otherwise in the folder itself. */
export async function openSweepStore(folder) {
  const file = join(folder, 'store-url')
  if (!existsSync(file)) return sqliteStore({ path: join(folder, 'data') })
  const { postgresStore } = await import('../../dist/stores/postgres/index.js')
  return postgresStore({ url: readFileSync(file, 'utf8') })
}
