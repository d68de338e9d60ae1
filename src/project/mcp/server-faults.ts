import { serverDefinition } from '../../policy/mcp-servers.ts'
import { type ConfiguredServer, resolveServer } from '../config/configured-servers.ts'
import { placeOf } from '../config/sourced.ts'
import type { FindServerFaults } from '../registry/agent-servers.ts'
import type { ServerFault } from '../registry/missing-tools.ts'
import type { Setup } from '../setup/read-setup.ts'

/** Finds trusted servers that can never start, such as programs that do not exist. Starts and contacts nothing. */
export function serverFaults({ config, environment, workingDirectory: workspace }: Setup): FindServerFaults {
  return async (servers) => {
    // Loaded on demand.
    const { serverProblem } = await import('../../tools/mcp/index.ts')
    const faultOf = (server: ConfiguredServer): ServerFault | undefined => {
      const resolved = resolveServer(server, { config, environment })
      // A server without a variable is left out when the project is opened.
      if (!('settings' in resolved)) return undefined
      const problem = serverProblem(server.name, serverDefinition(resolved.settings), { workspace, environment })
      const remedy = `${problem?.remedy ?? 'Correct its settings.'} It is configured in ${placeOf(server.origin)}.`
      return problem && { kind: 'absent', message: problem.message, remedy }
    }
    return new Map(servers.map((server) => [server, faultOf(server)]))
  }
}
