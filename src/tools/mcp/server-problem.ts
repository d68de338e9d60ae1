import type { McpServerDefinition, ToolFailure } from '../../contracts/index.ts'
import { failureOf } from './mcp-failure.ts'
import type { McpHost } from './mcp-host.ts'
import { resolveServer } from './resolve-server.ts'

/** Why a server can never start: its program does not exist, or a setting is wrong. Starts and contacts nothing. */
export function serverProblem(
  name: string,
  definition: McpServerDefinition,
  host: Pick<McpHost, 'workspace' | 'environment'>,
): ToolFailure | undefined {
  try {
    resolveServer(name, definition, { overlay: {}, host })
    return undefined
  } catch (error) {
    return failureOf(error, name)
  }
}
