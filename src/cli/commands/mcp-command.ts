import { systemClock } from '../../runtime/index.ts'
import type { Host } from '../host/process-host.ts'
import { findServer } from '../mcp/find-server.ts'
import { mcpLogin, mcpLogout } from '../mcp/login.ts'
import { mcpOptionsOf } from '../mcp/server-host.ts'
import type { McpInvocation } from '../options/project-invocations.ts'
import { loadProject } from '../team/load-project.ts'

/** `troupe mcp`: MCP servers of the configuration and of agents here. */
export async function mcpCommand(invocation: McpInvocation, host: Host): Promise<number> {
  const { action, server: name, opensBrowser, output, display, configFile } = invocation
  const project = await loadProject(host, { configFile })
  // Without the configuration, the servers are unknown.
  if (!project.isConfigured && project.error) throw project.error
  const definition = findServer(name, project)
  // Its variables are resolved.
  const servers = { workspace: project.setup.workingDirectory, environment: {}, ...mcpOptionsOf(host, project.setup), clock: systemClock }
  const request = { name, definition, overlay: {}, servers, host, output, display }
  switch (action) {
    case 'login':
      return mcpLogin({ ...request, opensBrowser })
    case 'logout':
      return mcpLogout(request)
    default:
      return action satisfies never
  }
}
