import { type Diagnostic, type McpServerSettings, type SessionId, TroupeError } from '../../../contracts/index.ts'
import { serverDefinition } from '../../../policy/mcp-servers.ts'
import {
  type ConfiguredServer,
  type LoadProjectOptions,
  loadProject,
  loadProjectsAt,
  mcpOptionsOf,
  type ProjectPlace,
  type RegisteredAgent,
  resolveServer,
  type Setup,
  serversOf,
} from '../../../project/index.ts'
import { type McpOptions, systemClock } from '../../../runtime/index.ts'
import type { McpHost, McpToolSource } from '../../../tools/mcp/index.ts'
import { knownNames } from '../../../util/nearest-names.ts'
import { redactor } from '../../../util/redact.ts'
import { shellWord } from '../../../util/shell-word.ts'
import { placeOf } from '../../terminal/place-of.ts'
import type { Host } from '../../terminal/process-host.ts'

/** A server, and the agent if only that agent can use it. */
export interface NamedServer extends ConfiguredServer {
  readonly owner?: RegisteredAgent
}

interface ProjectServers {
  readonly setup: Setup
  /** Those of the configuration come first, with an agent file those of the agent. */
  readonly servers: readonly NamedServer[]
}

/** The servers of the configuration and of agent files, trusted or not. */
export async function projectServers(
  host: ProjectPlace,
  { configFile, agentFile }: Pick<LoadProjectOptions, 'configFile'> & { readonly agentFile?: string | undefined },
): Promise<ProjectServers> {
  const options = { ...placeOf(host), configFile, importsModules: false, onMissingTools: 'report' as const }
  const found = agentFile === undefined ? [await loadProject(options)] : await loadProjectsAt([agentFile], options)
  const [project] = found
  if (!project) throw new TroupeError('internal', 'There is no project.')
  if (project.error && (!project.isConfigured || agentFile !== undefined)) throw project.error
  const agents = project.registry.ok ? project.registry.agents : []
  const own = agents.flatMap((owner) => owner.servers.map((server): NamedServer => ({ ...server, owner })))
  const shared = serversOf(project.setup.config)
  return { setup: project.setup, servers: agentFile === undefined ? [...shared, ...own] : [...own, ...shared] }
}

/** @throws TroupeError `usage` if there is none or more than one, `config_invalid` if nobody has trusted it. */
export function trustedServer({ servers }: Pick<ProjectServers, 'servers'>, name: string, agentFile?: string): NamedServer {
  const [server, ...others] = servers.filter((each) => each.name === name)
  if (!server) {
    const names = [...new Set(servers.map((each) => each.name))]
    const remedy = names.length === 0 ? 'Add it to `mcpServers` in .ai-agent.json.' : knownNames(name, names, 'MCP server')
    throw new TroupeError('usage', `Unknown MCP server "${name}".`, { remedy })
  }
  const { file } = server.origin
  const other = others.find(({ definition }) => JSON.stringify(definition) !== JSON.stringify(server.definition))
  if (other && agentFile === undefined)
    throw new TroupeError('usage', `${file} and ${other.origin.file} have different MCP servers with the name "${name}".`, {
      remedy: 'Rename one of them, or name an agent file: --agent FILE',
    })
  if (server.isTrusted) return server
  throw new TroupeError('config_invalid', `The MCP server "${name}" of ${file} is not trusted.`, {
    remedy: `Review the file, then: troupe trust ${shellWord(file)}`,
  })
}

interface UsableServer {
  readonly settings: McpServerSettings
  readonly secrets: { readonly [name: string]: string }
}

/** With the values of its variables. @throws TroupeError `config_invalid` if one is missing. */
export function usableServer(server: NamedServer, { config, environment }: Setup): UsableServer {
  const resolved = resolveServer(server, { config, environment })
  if ('settings' in resolved) return resolved
  throw new TroupeError('config_invalid', `The MCP server ${server.name} cannot be used.`, { problems: resolved })
}

interface OpenedServer extends UsableServer {
  readonly source: McpToolSource
  /** What the server reported so far. */
  readonly reports: readonly Diagnostic[]
}

export const mcpHostFor = (host: Pick<Host, 'env'>, setup: Setup): McpHost => ({
  clock: systemClock,
  workspace: setup.workingDirectory,
  environment: host.env,
  ...mcpOptionsOf(host, setup),
})

/** For each server, and for its end. */
export const connectMs = 15_000

interface ServerUse {
  readonly setup: Setup
  readonly host: Pick<Host, 'env'>
  /** Replaces those of the user. */
  readonly pins?: McpOptions['pins']
}

/** Uses a connection outside of a session, then closes it. */
export async function withServer<Result>(
  server: NamedServer,
  { setup, host, pins }: ServerUse,
  use: (opened: OpenedServer) => Promise<Result>,
): Promise<Result> {
  const usable = usableServer(server, setup)
  const { mcpToolSource } = await import('../../../tools/mcp/index.ts')
  const made = mcpToolSource(server.name, serverDefinition(usable.settings), { ...mcpHostFor(host, setup), ...(pins && { pins }) })
  const reports: Diagnostic[] = []
  const source = made.open({ sessionId: 'command' as SessionId, overlay: {}, report: (report) => void reports.push(report) })
  try {
    return await use({ ...usable, source: withoutSecrets(source, usable.secrets), reports })
  } finally {
    const closed = source.close().then(() => made.close?.())
    await withDeadline(connectMs, closed).catch(() => {})
  }
}

/** A server that fails may print the secrets that it got. */
function withoutSecrets(source: McpToolSource, secrets: UsableServer['secrets']): McpToolSource {
  const { text } = redactor(secrets)
  const hide = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      if (!(error instanceof TroupeError)) throw error
      const { code, message, remedy } = error
      throw new TroupeError(code, text(message), remedy === undefined ? {} : { remedy })
    })
  return {
    list: () => hide(Promise.resolve(source.list())),
    facts: () => hide(source.facts()),
    prompts: () => hide(source.prompts()),
    prompt: (name, args) => hide(source.prompt(name, args)),
    resources: () => hide(source.resources()),
    instructions: () => source.instructions(),
    leftOut: () => source.leftOut().map(({ name, reason }) => ({ ...(name !== undefined && { name: text(name) }), reason: text(reason) })),
    onChange: (listener) => source.onChange(listener),
    close: () => source.close(),
  }
}

/** Rejects if the work takes too long, so that a silent server does not stop a command. */
export async function withDeadline<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const cancel = systemClock.after(ms, () =>
    late.reject(
      new TroupeError('tools_unavailable', `The server did not answer within ${ms / 1000} s.`, { remedy: 'Start it by hand to see why.' }),
    ),
  )
  try {
    return await Promise.race([work, late.promise])
  } finally {
    cancel()
  }
}
