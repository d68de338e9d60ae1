import { type ModelAdapter, TroupeError } from '../../contracts/index.ts'
import { ignoredAddress } from '../../models/by-name/index.ts'
import {
  type AgentOverrides,
  type Config,
  childrenOfferedOf,
  type FileState,
  featuresOf,
  type Overlay,
  type OverrideArguments,
  overlayFor,
  parseOverrides,
  pricesOf,
  queuesOf,
  type RegisteredAgent,
  sandboxOf,
  storePathOf,
  toolsOfferedOf,
  unpricedOf,
} from '../../project/index.ts'
import type { AgentLoopConfig } from '../../runtime/index.ts'
import { contractProblems, type StatedContracts } from '../../tools/index.ts'
import type { Host } from '../host/process-host.ts'
import { modelOptions } from '../models/find-models.ts'
import { findTeamModels } from '../models/find-team-models.ts'
import { pricedAdapter, unpricedModels } from '../models/model-prices.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import { askForTrust, untrustedFiles, withImports } from '../trust/trust-question.ts'
import { httpSecrets } from './http-tools.ts'
import type { Setup } from './load-config.ts'
import { type ReadAgents, type ReadAgentsOptions, readAgents } from './read-agents.ts'
import { type StartDiagnostic, withIgnoredSettings } from './start-diagnostics.ts'
import { serveTeam } from './team-servers.ts'
import type { ModuleTools } from './tool-modules.ts'

export interface TeamOptions {
  readonly host: Host
  /** Settings of the command line. */
  readonly overrides: OverrideArguments
  /** The file of `--config`. */
  readonly configFile?: string | undefined
  /** Whether `--trust` was given. */
  readonly isTrusted?: boolean
  /** `false` for a dry run: trust is not stored. Default: `true`. */
  readonly storesTrust?: boolean
  /** Whether to contact servers on this machine that a model needs. */
  readonly looksAtServers?: boolean
  /** Default: `true`. */
  readonly asksForTrust?: boolean
  /** Files to treat as trusted without storing it. */
  readonly alsoTrusted?: readonly FileState[]
}

/** Agents with all their descendants, checked and with models. */
export interface ResolvedAgents {
  /** With the models that are available. */
  readonly agents: readonly RegisteredAgent[]
  readonly adapter: ModelAdapter
  readonly setup: Setup
  readonly moduleTools: ModuleTools
  /** Settings of the configuration for all agents. */
  readonly shared: Pick<AgentLoopConfig, 'queues' | 'features' | 'unpriced' | 'childrenOffered' | 'toolsOffered' | 'overlay' | 'mcpServers'>
  /** The data folder of the configuration, if it sets one. */
  readonly storePath?: string
  /** About the selected models. */
  readonly notices: readonly string[]
  readonly diagnostics: readonly StartDiagnostic[]
}

export interface Team extends ResolvedAgents {
  /** The agent of the file. */
  readonly root: RegisteredAgent
}

/** A valid team, before its models are resolved. */
export interface ValidTeam {
  readonly agents: readonly RegisteredAgent[]
  readonly root: RegisteredAgent
  readonly setup: Setup
  readonly diagnostics: Team['diagnostics']
}

/** Agents and their setup, which may have errors. */
export interface InspectedAgents extends ReadAgents {
  readonly diagnostics: Team['diagnostics']
}

/** A team and its setup, which may have errors. */
export interface InspectedTeam extends InspectedAgents {
  readonly file: string
}

/** Resolves the models of a team. Throws all errors of the team and its models. */
export async function loadTeam(
  inspected: InspectedTeam,
  { looksAtServers = false }: Pick<TeamOptions, 'looksAtServers'> = {},
): Promise<Team> {
  const { file } = inspected
  const { agents, root } = validTeam(inspected)
  const others = agents.filter((agent) => agent !== root)
  const resolved = await resolveAgents([root, ...others], inspected, { file, isTeam: true, looksAtServers })
  return { ...resolved, root: resolved.agents[0] ?? root }
}

interface ResolveOptions {
  /** Scripts of models are relative to its folder. */
  readonly file: string
  /** Whether the first agent is the one that a person asked for: errors do not name it. */
  readonly isTeam: boolean
  /** Whether to contact servers on this machine that a model needs. */
  readonly looksAtServers: boolean
  /** Models that others use, such as extensions: the adapter resolves them, if their providers are configured. */
  readonly otherModels?: readonly string[]
}

/** Resolves the models and servers of agents. Throws all errors of them. */
export async function resolveAgents(
  read: readonly RegisteredAgent[],
  { setup, moduleTools, diagnostics }: InspectedAgents,
  { file, isTeam, looksAtServers, otherModels = [] }: ResolveOptions,
): Promise<ResolvedAgents> {
  const { config, environment } = setup
  const served = serveTeam(read, { config, environment })
  const { agents } = served
  const models = [...new Set(agents.flatMap(({ definition }) => definition.models))]
  const overlay = overlayFor([...models, ...otherModels.filter((model) => isConfigured(model, setup))], { config, environment })
  const found = await findTeamModels(
    agents.map(({ definition, place, dialect }, index) => ({
      ...definition,
      ...((index > 0 || !isTeam) && { shown: `${definition.toolName} (${place})` }),
      isForeign: dialect !== 'troupe',
    })),
    {
      ...modelOptions(file, { env: overlay.variables }),
      providers: overlay.providers,
      aliases: overlay.aliases,
      looksAtServers,
    },
  )
  const storePath = storePathOf({ config, environment })
  const patterns = agents.flatMap(({ definition }) => definition.tools)
  const secrets = { ...httpSecrets({ config, environment, patterns }), ...served.secrets }
  const named: ModelAdapter = { ...found.adapter, secrets: { ...found.adapter.secrets, ...overlay.secrets, ...secrets } }
  const adapter = pricedAdapter(named, pricesOf(config))
  const withFoundModels = (agent: RegisteredAgent): RegisteredAgent => ({
    ...agent,
    definition: {
      ...agent.definition,
      models: found.agents.find(({ name }) => name === agent.definition.name)?.models ?? agent.definition.models,
    },
  })
  const team = agents.map(withFoundModels)
  const unpriced = await unpricedModels(team, { adapter, unpriced: unpricedOf(config) })
  if (unpriced.length > 0) throw joinErrors(unpriced)
  return {
    agents: team,
    adapter,
    setup,
    moduleTools,
    shared: {
      ...sharedBy(config),
      overlay: commandVariables(config, overlay.variables),
      ...(Object.keys(served.servers).length > 0 && { mcpServers: served.servers }),
    },
    ...(storePath !== undefined && { storePath }),
    notices: found.notices,
    diagnostics: [...diagnostics, ...served.diagnostics, ...overlay.diagnostics, ...ignoredAddresses(overlay)],
  }
}

/** Whether the provider of a model has all its variables. */
function isConfigured(model: string, { config, environment }: Setup): boolean {
  try {
    overlayFor([model], { config, environment })
    return true
  } catch (error) {
    if (error instanceof TroupeError) return false
    throw error
  }
}

/** A configured key is not sent to an address that only the environment names. */
function ignoredAddresses({ providers, variables }: Overlay): readonly StartDiagnostic[] {
  return Object.keys(providers).flatMap((provider): readonly StartDiagnostic[] => {
    const variable = ignoredAddress(provider, { providers, variables })
    if (variable === undefined) return []
    const message = `this variable is ignored: the key of \`providers.${provider}\` is not sent to an address from the environment`
    const remedy = `To use this address, set \`providers.${provider}.baseURL\` to "\${${variable}}".`
    return [{ code: 'variable_unused', severity: 'warning', place: variable, message, remedy }]
  })
}

/** The variables that sandboxed commands get: only those in `sandbox.environment`. */
function commandVariables(config: Config, variables: Overlay['variables']): Overlay['variables'] {
  return Object.fromEntries(sandboxOf(config).environment.flatMap((name) => (name in variables ? [[name, variables[name] ?? '']] : [])))
}

function sharedBy(config: Config): Team['shared'] {
  const childrenOffered = childrenOfferedOf(config)
  const toolsOffered = toolsOfferedOf(config)
  return {
    queues: queuesOf(config),
    features: featuresOf(config),
    unpriced: unpricedOf(config),
    ...(childrenOffered !== undefined && { childrenOffered }),
    ...(toolsOffered !== undefined && { toolsOffered }),
  }
}

/** Reads an agent, its descendants and the configuration. Throws all errors. Resolves no models. */
export async function readTeam(file: string, options: TeamOptions): Promise<ValidTeam> {
  const inspected = await inspectTeam(file, options)
  try {
    return validTeam(inspected)
  } catch (error) {
    throw error instanceof TroupeError ? withIgnoredSettings(error, inspected.diagnostics) : error
  }
}

/** The same without throwing: the errors are in the result. */
export async function inspectTeam(file: string, options: TeamOptions): Promise<InspectedTeam> {
  return { ...(await inspectAgents({ file, roots: [file], scope: 'reachable' }, options)), file }
}

/** Which agents to read. `file`: its folder may have a configuration, too. */
type WantedAgents = Pick<ReadAgentsOptions, 'roots' | 'scope' | 'file'>

/** The same for any agents. */
export async function inspectAgents(wanted: WantedAgents, options: TeamOptions): Promise<InspectedAgents> {
  const read = await readTrustedTeam(wanted, options, overridesOf(options.overrides))
  return { ...read, diagnostics: [...read.setup.diagnostics, ...read.registry.diagnostics] }
}

function validTeam({ file, setup, registry, errors, diagnostics }: InspectedTeam): ValidTeam {
  if (!registry.ok || errors.length > 0) throw joinErrors(errors)
  const root = registry.agents.find(({ definition }) => definition.name === registry.roots[0])
  if (!root) throw new TroupeError('internal', `The agent of ${file} is not among those that were read.`)
  return { agents: registry.agents, root, setup, diagnostics }
}

/** Reads the team, asks for missing trust, and reads again if it was given. Does not ask for a team that has errors anyway. */
async function readTrustedTeam(wanted: WantedAgents, options: TeamOptions, flags: ReadOverrides): Promise<ReadAgents> {
  const { host, configFile, isTrusted: isGiven = false, asksForTrust = true, storesTrust = true, alsoTrusted = [] } = options
  const read = async (more: readonly FileState[] = [], importsModules = true): Promise<ReadAgents> => {
    const trusted = [...alsoTrusted, ...more]
    const found = await readAgents(host, { ...wanted, flags: flags.values, configFile, alsoTrusted: trusted, importsModules })
    return { ...found, errors: [...flags.errors, ...found.errors] }
  }
  const first = await read()
  const waiting = asksForTrust ? untrustedFiles(first.setup, first.registry) : []
  if (waiting.length === 0) return first
  // Nothing is imported before a person trusts it.
  const asTrusted = await read(waiting.flatMap(withImports), isGiven && !storesTrust)
  if (asTrusted.errors.length > 0) return isGiven ? asTrusted : first
  if (isGiven && !storesTrust) {
    // The files of hooks are known only once their configuration is trusted.
    const more = untrustedFiles(asTrusted.setup, asTrusted.registry)
    return more.length === 0 ? asTrusted : read([...waiting, ...more].flatMap(withImports))
  }
  // A dry run stores nothing, so it does not ask either.
  if (!storesTrust) return first
  return (await askForTrust(waiting, first.setup, { host, isGiven })) === 'given' ? read() : first
}

interface ReadOverrides {
  readonly values: AgentOverrides
  readonly errors: readonly TroupeError[]
}

function overridesOf(written: OverrideArguments): ReadOverrides {
  try {
    return { values: parseOverrides(written), errors: [] }
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    return { values: new Map(), errors: [error] }
  }
}

/** Schemas that look right and cannot be compiled all the same, as an error. */
export async function schemaErrors(files: readonly StatedContracts[]): Promise<readonly TroupeError[]> {
  const problems = await contractProblems(files)
  return problems.length === 0 ? [] : [new TroupeError('agent_file_invalid', 'Some schemas cannot be used.', { problems })]
}
