import type { Clock } from '../../contracts/index.ts'
import type { AgentRuntime } from '../../runtime/index.ts'
import type { Listening } from '../../server/http/index.ts'

/** For responses that are being sent. */
const closingMs = 1_000

/** Running turns continue for a while; then they are released, and the next server continues them. Resolves with whether all finished. */
export async function drainRuntime(runtime: AgentRuntime, ms: number, clock: Pick<Clock, 'after'>): Promise<'finished' | 'released'> {
  const late = Promise.withResolvers<'released'>()
  const cancel = clock.after(ms, () => late.resolve('released'))
  const result = await Promise.race([runtime.close({ drain: true }).then(() => 'finished' as const), late.promise])
  cancel()
  if (result === 'released') await runtime.close()
  return result
}

/** After the runtime: streams have ended by themselves. */
export const closeConnections = (listening: Listening): Promise<void> => listening.close(closingMs)
