import { type Store, TroupeError } from '../contracts/index.ts'
import { errorCode } from '../util/error-code.ts'

interface OpenStoreOptions {
  /** `read`: write nothing. A folder that is not writable can then be read. Default `write`. */
  readonly access?: 'read' | 'write'
  /** Of a store in PostgreSQL: see `PostgresStoreOptions`. */
  readonly listenUrl?: string
  readonly pool?: number
}

/** One kind of store by the scheme of its URL. Its code is loaded when such a store is opened. */
const schemes: { readonly [scheme: string]: (rest: string, options: OpenStoreOptions) => Promise<Store> } = {
  memory: async () => (await import('./memory/index.ts')).memoryStore(),
  postgres: (rest, options) => openPostgres(`postgres:${rest}`, options),
  postgresql: (rest, options) => openPostgres(`postgresql:${rest}`, options),
  sqlite: async (path, { access = 'write' }) => (await import('./sqlite/index.ts')).sqliteStore({ path, access }),
}

async function openPostgres(url: string, { listenUrl, pool }: OpenStoreOptions): Promise<Store> {
  const { postgresStore } = await loadPostgres()
  return postgresStore({ url, ...(listenUrl !== undefined && { listenUrl }), ...(pool !== undefined && { pool }) })
}

/** Creates or upgrades the tables of a database. */
export async function migrateStore(url: string): Promise<{ readonly from: number; readonly to: number }> {
  const { migratePostgres } = await loadPostgres()
  return migratePostgres({ url })
}

/** Copies a data folder to a database. See `copyFromSqlite`. */
export async function copyStore(folder: string, url: string, onTree: (done: number, all: number) => void) {
  const { copyFromSqlite } = await loadPostgres()
  return copyFromSqlite(folder, { url }, onTree)
}

/** `pg` is an optional package. */
function loadPostgres() {
  return import('./postgres/index.ts').catch((cause: unknown) => {
    if (errorCode(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new TroupeError('config_invalid', 'A store in PostgreSQL needs the package `pg`, which is not installed.', {
      remedy: 'Run `npm install pg@8.23.1` where Troupe is installed.',
      cause,
    })
  })
}

/**
 * Opens the store that a URL names: `memory:`, `sqlite:` with the path of a folder, or `postgres:` with the address of a database.
 *
 * @throws TroupeError `config_invalid` for another scheme; otherwise what the store throws.
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) ?? []
  const open = Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined
  if (open) return open(rest, options)
  throw new TroupeError('config_invalid', scheme === '' ? 'The URL of the store has no scheme.' : `Unknown store \`${scheme}:\`.`, {
    remedy: 'Use `sqlite:<folder>`, `postgres://<user>@<host>/<database>` or `memory:`.',
  })
}
