import { checkServerOptions, withoutLastSlash } from './check-options.ts'
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
  checkServerOptions(options)
  const served = await openServed(options)
  try {
    return new RunningServer(
      await serverParts(served, { ...options, basePath: withoutLastSlash(options.basePath ?? ''), log: safeLog(options.log) }),
    )
  } catch (error) {
    await served.close()
    throw error
  }
}

/** Nothing of a server depends on what a log of the program does. */
function safeLog(given: ServerOptions['log'] = {}): ServerLog {
  const safely =
    <Said extends readonly unknown[]>(say: ((...said: Said) => void) | undefined) =>
    (...said: Said): void => {
      try {
        say?.(...said)
      } catch {
        // There is nowhere to say it.
      }
    }
  const { debug, note, warn, failure, access } = given
  return { debug: safely(debug), note: safely(note), warn: safely(warn), failure: safely(failure), access: safely(access) }
}
