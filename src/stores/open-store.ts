import { type Store, TroupeError } from '../contracts/index.ts'
import { errorCode } from '../util/error-code.ts'

interface OpenStoreOptions {
  /** `read`: write nothing. A folder that is not writable can then be read. Default `write`. */
  readonly access?: 'read' | 'write'
}

/** One kind of store by the scheme of its URL. Its code is loaded when such a store is opened. */
const schemes: { readonly [scheme: string]: (rest: string, options: OpenStoreOptions) => Promise<Store> } = {
  memory: async () => (await import('./memory/index.ts')).memoryStore(),
  postgres: (rest) => openPostgres(`postgres:${rest}`),
  postgresql: (rest) => openPostgres(`postgresql:${rest}`),
  sqlite: async (path, options) => (await import('./sqlite/index.ts')).sqliteStore({ path, ...options }),
}

/** `pg` is an optional package. */
async function openPostgres(url: string): Promise<Store> {
  const { postgresStore } = await import('./postgres/index.ts').catch((cause: unknown) => {
    if (errorCode(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new TroupeError('config_invalid', 'A store in PostgreSQL needs the package `pg`, which is not installed.', {
      remedy: 'Run `npm install pg@8.23.1` where Troupe is installed.',
      cause,
    })
  })
  return postgresStore({ url })
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
