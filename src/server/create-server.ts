import { TroupeError } from '../contracts/index.ts'
import { showValue } from '../util/show-value.ts'
import { openServed } from './open-served.ts'
import { RunningServer } from './running-server.ts'
import type { Server, ServerLog, ServerOptions } from './server-options.ts'
import { serverParts } from './server-parts.ts'

/**
 * A server for the agents of a project, of a kernel, or of the runtime of a program. Nothing is reachable before `listen` or `attach`,
 * or before the program passes requests to `fetch`.
 *
 * @example
 * const server = await createServer({ runtime, store })
 * const { url } = await server.listen({ port: 3900 })
 * console.log(`${url}/#token=${server.token.token}`)
 *
 * @throws TroupeError with all problems of the project. Nothing is started then.
 */
export async function createServer(options: ServerOptions): Promise<Server> {
  checkBasePath(options.basePath)
  const served = await openServed(options)
  try {
    return new RunningServer(await serverParts(served, { ...options, log: { ...silentLog, ...options.log } }))
  } catch (error) {
    await served.close()
    throw error
  }
}

/** With another form, every route would be unknown. */
function checkBasePath(basePath = ''): void {
  if (/^(?:\/[^/?#\s]+)*$/.test(basePath)) return
  throw new TroupeError('config_invalid', `\`basePath\` is ${showValue(basePath)}.`, { remedy: 'Write it like "/agents".' })
}

const silent = (): void => {}
const silentLog: ServerLog = { debug: silent, note: silent, warn: silent, failure: silent, access: silent }
