import { type SessionId, type SessionToolSource, type Tool, TroupeError } from '../../../contracts/index.ts'
import { matchesSource, matchesTool } from '../../../policy/tool-name-patterns.ts'
import {
  configuredHttpTools,
  createWorkspaceTools,
  dataFolder,
  loadProject,
  openWorkspaceKit,
  restToolNames,
  type Setup,
  sandboxOf,
  validAgents,
} from '../../../project/index.ts'
import type { ToolsInvocation } from '../../arguments/project-invocations.ts'
import { columns, columnsOn, type Row } from '../../terminal/columns.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { placeOf } from '../../terminal/place-of.ts'
import { printDocument, printNotice, printWarning } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { connectMs, type NamedServer, projectServers, trustedServer, withDeadline, withServer } from './project-servers.ts'
import { type ShownTool, shownTool } from './server-texts.ts'

interface Listed {
  readonly tools: readonly SourcedTool[]
  readonly problem?: string
}

interface SourcedTool extends ShownTool {
  /** `built-in`, `module`, `restTools`, or the name of a server or an OpenAPI document. */
  readonly source: string
}

/** `troupe tools list`: the tools of all servers, those of the configuration and built-in ones, or those of one agent. */
export async function toolsCommand({ server, agentFile, output, display, configFile }: ToolsInvocation, host: Host): Promise<number> {
  const project = await projectServers(host, { configFile, agentFile })
  const agent = agentFile === undefined ? undefined : await readAgent(agentFile, host, configFile)
  const patterns = agent?.definition.tools ?? ['*']
  const used =
    server === undefined
      ? unique(project.servers).filter(({ name }) => patterns.some((each) => matchesSource(each, name)))
      : [trustedServer(project, server, agentFile)]
  const local = server === undefined ? await localTools(project.setup, host, agent) : []
  const listing = used.filter(({ isTrusted }) => isTrusted).map((each) => serverTools(each, project.setup, host))
  const found = [...local, ...(await Promise.all(listing))]
  const tools = found.flatMap((each) => each.tools).filter(({ name }) => patterns.some((each) => matchesTool(each, name)))
  if (output === 'json') await printDocument({ tools }, host)
  else await host.stdout.lines(columns(tools.map(rowOf), { maxWidth: columnsOn(host.stdout) }))
  for (const { problem } of found) if (problem !== undefined) await printWarning(problem, { host, display })
  const waiting = used.filter(({ isTrusted }) => !isTrusted).map(({ name }) => name)
  if (waiting.length > 0)
    await printNotice(`Servers that nobody has trusted are not started: ${waiting.join(', ')}. Review them: troupe trust`, {
      host,
      display,
    })
  return exitCodes.done.code
}

const rowOf = ({ name, description, source, effect, approval }: SourcedTool): Row => [
  printable(name),
  [firstLine(description), `${source} · ${effect} · ${approval === 'ask' ? 'needs approval' : 'needs no approval'}`]
    .map(printable)
    .join('\n'),
]

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

/** An agent's own server comes before one of the configuration with the same name. */
const unique = (servers: readonly NamedServer[]): readonly NamedServer[] =>
  servers.filter(({ name }, index) => servers.findIndex((each) => each.name === name) === index)

async function readAgent(file: string, host: Host, configFile: string | undefined) {
  const report = await loadProject({ ...placeOf(host), agents: file, configFile, onMissingTools: 'report' })
  return { ...validAgents(report).root, moduleTools: report.moduleTools }
}

type ReadAgent = Awaited<ReturnType<typeof readAgent>>

/** One list for each source. */
async function localTools(setup: Setup, host: Host, agent: ReadAgent | undefined): Promise<readonly Listed[]> {
  const modules = new Set(agent?.moduleTools.tools.map(({ name }) => name))
  const rest = new Set(restToolNames(setup.config))
  const sourceOf = ({ name, namespace }: Tool): string =>
    modules.has(name) ? 'module' : rest.has(name) ? 'restTools' : (namespace ?? 'built-in')
  const sourced = (tools: readonly Tool[]): Listed => ({ tools: tools.map((tool) => ({ ...shownTool(tool), source: sourceOf(tool) })) })
  const given = agent ? await toolsOfAgent(setup, host, agent) : await toolsOfProject(setup, host)
  return Promise.all(given.map(async (each) => ('open' in each ? sourceTools(each, sourced) : sourced([each]))))
}

type Given = readonly (Tool | SessionToolSource)[]

async function toolsOfProject({ config, workingDirectory, trusted }: Setup, host: Host): Promise<Given> {
  const kit = await openWorkspaceKit(host, { workspace: workingDirectory, policy: sandboxOf(config), hidden: [], guarded: [] })
  const http = await configuredHttpTools({ config, environment: host.env, patterns: ['*'] }, async () => trusted)
  return [...kit.tools, ...http.tools]
}

async function toolsOfAgent({ config, workingDirectory }: Setup, host: Host, agent: ReadAgent): Promise<Given> {
  const { moduleTools } = agent
  const hidden = [dataFolder({ flag: undefined, env: host.env })]
  const { shared } = await createWorkspaceTools([agent], {
    place: host,
    config,
    workingDirectory,
    allow: [],
    deny: [],
    dryRun: false,
    hidden,
    moduleTools,
  })
  return (shared.tools ?? []).flatMap((each) => ('list' in each ? [] : [each]))
}

async function sourceTools(source: SessionToolSource, sourced: (tools: readonly Tool[]) => Listed): Promise<Listed> {
  const opened = source.open({ sessionId: 'command' as SessionId, overlay: {}, report: () => {} })
  try {
    return sourced(await opened.list())
  } catch (error) {
    return failed(source.name, error)
  } finally {
    await opened.close?.()
  }
}

function failed(name: string, error: unknown): Listed {
  if (!(error instanceof TroupeError)) throw error
  const { message, remedy = '' } = error
  return { tools: [], problem: `${name}: ${message} ${remedy}`.trim() }
}

async function serverTools(server: NamedServer, setup: Setup, host: Host): Promise<Listed> {
  try {
    const tools = await withServer(server, { setup, host }, ({ source }) => withDeadline(connectMs, source.list()))
    return { tools: tools.map((tool) => ({ ...shownTool(tool), source: server.name })) }
  } catch (error) {
    return failed(server.name, error)
  }
}
