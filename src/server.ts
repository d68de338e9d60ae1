// The exports of `troupe/server`: all protocols and the web chat for a project, a kernel or the runtime of a program.
import type { Records } from './contracts/index.ts'
import { systemClock } from './runtime/index.ts'
import { createToken as storeToken, type TokenSettings } from './server/http/index.ts'

export { listTokens, revokeToken, type TokenRecord, type TokenSettings } from './server/http/index.ts'
export {
  createServer,
  type ListenSettings,
  type LocalToken,
  type ServedKernel,
  type Server,
  type ServerAddress,
  type ServerLog,
  type ServerOptions,
} from './server/index.ts'

/**
 * A new token. It is shown once: the store has its hash.
 *
 * @example
 * const token = await createToken(store.records, { name: 'ci', scopes: ['run', 'read'], budget: { tokensPerDay: 100_000 } })
 *
 * @throws TroupeError `usage` if the name is taken, or is no name for a token.
 */
export const createToken = (records: Records, settings: TokenSettings): Promise<string> =>
  storeToken(records, settings, { clock: systemClock })
