import { type McpServerSettings, type Problem, TroupeError } from '../../contracts/index.ts'
import { matchesSource } from '../../policy/tool-name-patterns.ts'
import type { ConfigDiagnostic } from '../config/config.ts'
import { type ConfiguredServer, resolveServer, serversOf } from '../config/configured-servers.ts'
import type { VariableSources } from '../config/variables/resolve-placeholders.ts'
import type { RegisteredAgent } from '../registry/registered-agent.ts'

type Servers = { readonly [name: string]: McpServerSettings }

/** Servers with the values of their variables, and those that cannot be used. */
interface ResolvedServers {
  /** With their own servers, and without tools of servers that are absent. */
  readonly agents: readonly RegisteredAgent[]
  /** The servers of the configuration that an agent uses. */
  readonly servers: Servers
  /** Values that must not be shown, by name. */
  readonly secrets: { readonly [name: string]: string }
  readonly diagnostics: readonly ConfigDiagnostic[]
}

/**
 * Resolves the variables of the servers that agents use. A server that nobody has trusted or that lacks a variable is left out.
 *
 * @throws TroupeError `config_invalid` if a required server is left out.
 */
export function resolveServers(agents: readonly RegisteredAgent[], sources: VariableSources): ResolvedServers {
  const shared = serversOf(sources.config).filter((server) => agents.some((agent) => mayUse(agent, server)))
  const session = resolveAll(shared, sources)
  const own = new Map(agents.map((agent) => [agent, resolveAll(agent.servers, sources)]))
  const all = [session, ...own.values()]
  const failures = all.flatMap(({ failed }) => failed)
  const required = failures.filter(({ server }) => server.definition.required === true)
  if (required.length > 0)
    throw new TroupeError('config_invalid', 'A required MCP server cannot be used.', {
      problems: required.flatMap(({ problems }) => problems),
    })
  return {
    agents: agents.map((agent) => withServers(agent, own.get(agent) ?? session, session.absent)),
    servers: session.servers,
    secrets: Object.assign({}, ...all.map(({ secrets }) => secrets)),
    diagnostics: failures.flatMap(({ server, problems }) => problems.map((problem) => leftOut(server, problem))),
  }
}

const mayUse = ({ definition, servers }: RegisteredAgent, { name }: ConfiguredServer): boolean =>
  definition.tools.some((pattern) => matchesSource(pattern, name)) && !servers.some((own) => own.name === name)

interface Resolution {
  readonly servers: Servers
  readonly secrets: ResolvedServers['secrets']
  readonly failed: readonly { readonly server: ConfiguredServer; readonly problems: readonly Problem[] }[]
  readonly absent: readonly string[]
}

function resolveAll(configured: readonly ConfiguredServer[], sources: VariableSources): Resolution {
  const servers: Record<string, McpServerSettings> = {}
  const secrets = {}
  const failed: Resolution['failed'][number][] = []
  for (const server of configured.filter(({ isTrusted }) => isTrusted)) {
    const resolved = resolveServer(server, sources)
    if ('settings' in resolved) {
      servers[server.name] = resolved.settings
      Object.assign(secrets, resolved.secrets)
    } else failed.push({ server, problems: resolved })
  }
  return { servers, secrets, failed, absent: configured.map(({ name }) => name).filter((name) => !(name in servers)) }
}

function withServers(agent: RegisteredAgent, { servers, absent }: Resolution, sharedAbsent: readonly string[]): RegisteredAgent {
  const { definition } = agent
  const hasOwn = agent.servers.length > 0
  const missing = [...sharedAbsent.filter((name) => !(hasOwn && name in servers)), ...(hasOwn ? absent : [])]
  return {
    ...agent,
    definition: {
      ...definition,
      tools: definition.tools.filter((pattern) => !missing.some((name) => matchesSource(pattern, name, 'only'))),
      ...(hasOwn && { mcpServers: servers }),
    },
  }
}

const leftOut = ({ name }: ConfiguredServer, { place, message, remedy = `Check ${place}.` }: Problem): ConfigDiagnostic => ({
  code: 'server_left_out',
  severity: 'warning',
  place,
  message: `the MCP server \`${name}\` is left out: ${message}`,
  remedy,
})
