import type { Clock, ToolSource } from '../../contracts/index.ts'
import { keepAlive } from '../../util/keep-alive.ts'

/** Servers have shorter limits of their own. */
const limitMs = 5 * 60_000

/** What `list()` of a source returns, unchecked. Rejects if it does not answer. */
export async function listTools(source: ToolSource, clock: Clock): Promise<unknown> {
  const late = Promise.withResolvers<never>()
  const cancel = clock.after(limitMs, () => late.reject(new Error(`list() has not answered within ${limitMs / 60_000} minutes`)))
  const release = keepAlive()
  try {
    return await Promise.race([source.list(), late.promise])
  } finally {
    cancel()
    release()
  }
}
