import { dirname, relative, resolve } from 'node:path'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { type FoundExtension, orchestratorName } from '../../kernel/index.ts'
import {
  agentTemplate,
  type FileState,
  findAgentPaths,
  type HeadendSettings,
  headendsOf,
  isAgentFile,
  projectAgentPaths,
  type RegisteredAgent,
  registeredTemplate,
  telemetryOf,
} from '../../project/index.ts'
import type { AgentDefinition, AgentLoopConfig } from '../../runtime/index.ts'
import type { Host } from '../host/process-host.ts'
import { defaultOrchestrator } from '../kernel/default-orchestrator.ts'
import { findProjectExtensions } from '../kernel/extension-places.ts'
import type { ServeInvocation } from '../options/serve-invocations.ts'
import { type InspectedAgents, inspectAgents, resolveAgents } from '../team/load-team.ts'
import { type PreparedAgents, prepareAgents } from '../team/prepare-agents.ts'
import { withIgnoredSettings } from '../team/start-diagnostics.ts'
import { joinErrors } from '../terminal/print-errors.ts'

/** The agents that a server offers, with everything that they use, checked. */
export interface ServedProject extends PreparedAgents {
  readonly config: AgentLoopConfig
  /** Names of the agents that can be asked. Their children cannot. */
  readonly served: readonly string[]
  readonly headends: HeadendSettings
  readonly telemetry: ReturnType<typeof telemetryOf>
  readonly inspected: InspectedAgents
  /** With the kernel: what was found, in the order of ids. */
  readonly extensions?: readonly FoundExtension[]
}

export interface LoadOptions {
  readonly host: Host
  /** Whether `--trust` applies. A later change needs its own trust. */
  readonly isTrusted: boolean
  /** Whether the kernel runs: there is an orchestrator, and extensions have models. */
  readonly hasKernel: boolean
  /** Files to trust in their current form, besides those that a person has trusted. */
  readonly alsoTrusted?: readonly FileState[]
  /** Models that the agents may use later: the adapter resolves them. */
  readonly otherModels?: readonly string[]
}

/** Reads and checks everything, as a run does. Throws all errors together. */
export async function loadServedProject(invocation: ServeInvocation, options: LoadOptions): Promise<ServedProject> {
  const { host, isTrusted, hasKernel, alsoTrusted = [], otherModels = [] } = options
  const wanted = wantedAgents(invocation.agents)
  const inspected = await inspectAgents(wanted, {
    host,
    overrides: { settings: [] },
    configFile: invocation.configFile,
    isTrusted,
    // A server asks nobody: untrusted files are reported.
    asksForTrust: isTrusted,
    alsoTrusted,
  })
  try {
    const { agents, served } = servedAgents(inspected, { isNamed: invocation.agents.length > 0, hasKernel })
    const extensions = hasKernel ? await findProjectExtensions(inspected.setup) : undefined
    const resolved = await resolveAgents(agents, inspected, {
      file: wanted.roots[0] ?? '.',
      isTeam: false,
      looksAtServers: false,
      otherModels: [...otherModels, ...(extensions?.flatMap(({ manifest }) => manifest?.agent?.model ?? []) ?? [])],
    })
    const prepared = await prepareAgents(resolved, { ...invocation, dryRun: false, hasExtensions: hasKernel }, host)
    const templates = new Map(resolved.agents.map((agent) => [agent.definition.name, agentTemplate(registeredTemplate(agent))]))
    return {
      ...prepared,
      config: {
        ...prepared.shared,
        ...(prepared.shared.mcpServers && { mcpServers: connectedEarly(prepared.shared.mcpServers) }),
        agents: prepared.agents.map((agent) => servedDefinition(agent, { served, templates })),
      },
      served,
      headends: headendsOf(inspected.setup.config),
      telemetry: telemetryOf(inspected.setup),
      inspected,
      ...(extensions && { extensions }),
    }
  } catch (error) {
    throw error instanceof TroupeError ? withIgnoredSettings(error, inspected.diagnostics) : error
  }
}

/** The agents of the project, or those that the command line names, with the configuration of their folder if they share one. */
function wantedAgents(written: readonly string[]): Parameters<typeof inspectAgents>[0] {
  if (written.length === 0) return { scope: 'everything', roots: projectAgentPaths(process.cwd()).map((path) => relative('', path)) }
  const roots = [...new Set(written.flatMap(filesAt))]
  const [folder, ...others] = new Set(roots.map((path) => dirname(resolve(path))))
  return { scope: 'reachable', roots, ...(folder !== undefined && others.length === 0 && { file: roots[0] }) }
}

/** @throws TroupeError `usage` if a folder or pattern contains no agent. */
function filesAt(written: string): readonly string[] {
  const { paths, isNamed } = findAgentPaths(resolve(written))
  if (isNamed) return [written]
  const found = paths.filter(isAgentFile).map((path) => relative('', path))
  if (found.length > 0) return found
  throw new TroupeError('usage', `--agent ${written}: no agent file found.`, {
    remedy: 'Name a file, a folder or a pattern such as "agents/*.ai".',
  })
}

interface ServedNames {
  readonly agents: readonly RegisteredAgent[]
  readonly served: readonly string[]
}

function servedAgents(inspected: InspectedAgents, { isNamed, hasKernel }: { isNamed: boolean; hasKernel: boolean }): ServedNames {
  const { registry, errors } = inspected
  if (!registry.ok || errors.length > 0) throw joinErrors(errors)
  const { agents, roots } = registry
  const isServed = ({ definition, isChild }: RegisteredAgent): boolean => (isNamed ? roots.includes(definition.name) : !isChild)
  const isOrchestrated = agents.some(({ definition }) => definition.name === orchestratorName)
  const added = hasKernel && !isOrchestrated ? [defaultOrchestrator(inspected.setup)] : []
  const offered = [...added, ...agents.filter(isServed)]
  if (offered.length === 0)
    throw new TroupeError('usage', 'There is no agent to serve.', {
      remedy: 'Name one with --agent FILE, or create a sample project: troupe init',
    })
  throwProblems(offered.flatMap(missingUsage))
  return { agents: [...added, ...agents], served: offered.map(({ definition }) => definition.name) }
}

/** Refuses agents whose name is a word of a route: `/v1/sessions` cannot be an agent. */
export function checkServedNames({ inspected: { registry }, served }: ServedProject, reserved: ReadonlySet<string>): void {
  const agents = registry.ok ? registry.agents.filter(({ definition }) => served.includes(definition.name)) : []
  throwProblems(
    agents.flatMap(({ definition: { name }, place }) => {
      if (!reserved.has(name)) return []
      return [{ place, message: `an agent with the name \`${name}\` cannot be served: /v1/${name} is a route`, remedy: 'Rename the file.' }]
    }),
  )
}

function missingUsage({ definition: { usage }, place, dialect }: RegisteredAgent): readonly Problem[] {
  if (usage !== undefined || dialect !== 'troupe') return []
  const remedy = 'Add an example of its input: `usage: a city and a date`.'
  return [{ place, message: '`usage` is missing: agents that are served need it', remedy }]
}

function throwProblems(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new TroupeError('agent_file_invalid', 'Some agents cannot be served.', { problems })
}

function servedDefinition(
  { mcpServers, ...agent }: AgentDefinition,
  { served, templates }: { readonly served: readonly string[]; readonly templates: ReadonlyMap<string, string> },
): AgentDefinition {
  const template = templates.get(agent.name)
  return {
    ...agent,
    infer: served.includes(agent.name),
    ...(template !== undefined && { template }),
    ...(mcpServers && { mcpServers: connectedEarly(mcpServers) }),
  }
}

/** A server that runs for long connects before the first session needs it. */
const connectedEarly = (servers: NonNullable<AgentDefinition['mcpServers']>): NonNullable<AgentDefinition['mcpServers']> =>
  Object.fromEntries(Object.entries(servers).map(([name, settings]) => [name, { connect: 'eager', ...settings }]))
