import { type Problem, TroupeError } from '../../../contracts/index.ts'
import type { HeadendSettings } from '../../../project/index.ts'
import { parseDuration } from '../../../util/parse-units.ts'
import type { ServeInvocation } from '../../arguments/serve-invocations.ts'

type WrittenFlags = Pick<ServeInvocation, 'host' | 'port' | 'drain' | 'hasLegacyTransports'>

/**
 * Settings that win over those of the configuration.
 *
 * @throws TroupeError `usage` with all wrong values.
 */
export function serveFlags({ host, port, drain, hasLegacyTransports }: WrittenFlags): HeadendSettings {
  const problems: Problem[] = []
  const portNumber = port === undefined ? undefined : parsePort(port)
  const drainMs = drain === undefined ? undefined : parseDuration(drain)
  if (port !== undefined && portNumber === undefined)
    problems.push({ place: '--port', message: `expected a number from 0 to 65535, not "${port}"`, remedy: 'Write it like --port 3900.' })
  if (drain !== undefined && drainMs === undefined)
    problems.push({ place: '--drain', message: `expected a duration, not "${drain}"`, remedy: 'Write it like --drain 30s.' })
  if (problems.length > 0) throw new TroupeError('usage', 'The command line is invalid.', { problems, remedy: 'More: troupe help serve' })
  return {
    ...(host !== undefined && { host }),
    ...(portNumber !== undefined && { port: portNumber }),
    ...(drainMs !== undefined && { drain: drainMs }),
    ...(hasLegacyTransports && { legacyTransports: true }),
  }
}

const parsePort = (written: string): number | undefined => {
  const port = /^\d{1,5}$/.test(written) ? Number(written) : undefined
  return port !== undefined && port <= 65_535 ? port : undefined
}
