import { TroupeError } from '../../../contracts/index.ts'
import { placeOf, type Setup } from '../../../project/index.ts'
import type { LeftOutTool } from '../../../tools/mcp/index.ts'
import { plural } from '../../../util/plural.ts'
import { redactor } from '../../../util/redact.ts'
import type { McpInvocation } from '../../arguments/project-invocations.ts'
import { columns, columnsOn, type Row } from '../../terminal/columns.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { connectMs, type NamedServer, projectServers, withDeadline, withServer } from './project-servers.ts'
import { leftOutText, transportText, trustText } from './server-texts.ts'

/** The state of a server after an attempt to connect. */
interface ServerState {
  readonly isConnected: boolean
  readonly state: string
  /** The tools that it cannot offer. */
  readonly leftOut?: readonly LeftOutTool[]
  readonly remedy?: string
}

/** `troupe mcp list` */
export async function listServers({ output, display, connects, ...options }: McpInvocation, host: Host): Promise<number> {
  const { setup, servers } = await projectServers(host, options)
  const states = await Promise.all(servers.map((server) => (connects && server.isTrusted ? stateOf(server, setup, host) : undefined)))
  const listed = servers.map((server, index) => ({
    name: server.name,
    transport: transportText(server),
    place: placeOf(server.origin),
    ...(server.owner && { agent: server.owner.definition.toolName }),
    trust: trustText(server),
    ...(states[index] && { connected: states[index].isConnected, state: states[index].state, leftOut: states[index].leftOut ?? [] }),
  }))
  if (output === 'json') await printDocument({ servers: listed }, host)
  else if (listed.length > 0) await host.stdout.lines(columns(listed.map(rowOf), { maxWidth: columnsOn(host.stdout) }))
  else await printNotice('No MCP servers are configured here. Add some to mcpServers in .ai-agent.json.', { host, display })
  return exitCodes.done.code
}

interface Listed {
  readonly name: string
  readonly transport: string
  readonly place: string
  readonly agent?: string
  readonly trust: string
  readonly state?: string
  readonly leftOut?: readonly LeftOutTool[]
}

function rowOf({ name, transport, place, agent, trust, state, leftOut = [] }: Listed): Row {
  const facts = [trust, place, ...(agent === undefined ? [] : [`only for the agent ${agent}`])]
  const reasons = leftOut.map((each) => `left out: ${leftOutText(each)}`)
  return [name, [transport, facts.join(' · '), ...(state === undefined ? [] : [state]), ...reasons].map(printable).join('\n')]
}

/** Connects, and lists the tools. */
export async function stateOf(server: NamedServer, setup: Setup, host: Pick<Host, 'env'>): Promise<ServerState> {
  try {
    return await withServer(server, { setup, host }, async ({ source, secrets, reports }) => {
      const { text } = redactor(secrets)
      try {
        const { name = 'unnamed', version = '', protocol } = await withDeadline(connectMs, source.facts())
        const tools = await withDeadline(connectMs, source.list())
        const withheld = reports.find(({ code }) => code === 'tools_withheld')
        const about = [name, version].filter(Boolean).join(' ')
        const state = text(`connected to ${about} (${protocol}), ${plural(tools.length, 'tool')}`)
        return {
          isConnected: true,
          state: withheld ? `${state}; ${text(withheld.message)}` : state,
          leftOut: source.leftOut(),
          ...(withheld?.remedy !== undefined && { remedy: withheld.remedy }),
        }
      } catch (error) {
        if (!(error instanceof TroupeError)) throw error
        return { isConnected: false, state: text(error.message), ...(error.remedy !== undefined && { remedy: error.remedy }) }
      }
    })
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    const [problem] = error.problems
    const remedy = problem?.remedy ?? error.remedy
    return { isConnected: false, state: problem?.message ?? error.message, ...(remedy !== undefined && { remedy }) }
  }
}
