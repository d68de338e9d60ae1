import { TroupeError } from '../../../contracts/index.ts'
import { serverDefinition } from '../../../policy/mcp-servers.ts'
import type { McpInvocation } from '../../arguments/project-invocations.ts'
import type { Host } from '../../terminal/process-host.ts'
import { mcpHostFor, projectServers, trustedServer, usableServer } from './project-servers.ts'

/** `troupe mcp`: lists, shows and uses MCP servers, and logs in to them. */
export async function mcpCommand(invocation: McpInvocation, host: Host): Promise<number> {
  const { action, name } = invocation
  if (action !== 'list' && (name === undefined || name === ''))
    throw new TroupeError('usage', 'The name of the server is missing.', {
      remedy: `Name it: troupe mcp ${action} NAME. To list servers: troupe mcp list`,
    })
  if (invocation.extra.length > 0)
    throw new TroupeError('usage', `Unexpected argument for mcp ${action}: ${invocation.extra.join(' ')}.`, {
      remedy: 'Remove it. Quote the JSON of an input.',
    })
  switch (action) {
    case 'list':
      return (await import('./list-servers.ts')).listServers(invocation, host)
    case 'show':
      return (await import('./show-server.ts')).showServer(invocation, host)
    case 'call':
      return (await import('./call-tool.ts')).callServerTool(invocation, host)
    case 'login':
    case 'logout':
      return authorize(invocation, host)
    default:
      return action satisfies never
  }
}

async function authorize({ action, name = '', opensBrowser, output, display, ...options }: McpInvocation, host: Host): Promise<number> {
  const project = await projectServers(host, options)
  const { settings } = usableServer(trustedServer(project, name, options.agentFile), project.setup)
  const { mcpLogin, mcpLogout } = await import('./login.ts')
  const request = {
    name,
    definition: serverDefinition(settings),
    servers: mcpHostFor(host, project.setup),
    host,
    output,
    display,
  }
  return action === 'login' ? mcpLogin({ ...request, opensBrowser }) : mcpLogout(request)
}
