import { type ModelAdapter, TroupeError } from '../../contracts/index.ts'
import { ignoredAddress } from '../../models/by-name/index.ts'
import type { AgentLoopConfig } from '../../runtime/index.ts'
import { joinErrors } from '../../util/join-errors.ts'
import type { Config } from '../config/config.ts'
import { childrenOfferedOf, featuresOf, pricesOf, queuesOf, sandboxOf, toolsOfferedOf, unpricedOf } from '../config/section-values.ts'
import { type Overlay, overlayFor } from '../config/variables/overlay.ts'
import { resolveServers } from '../mcp/resolve-servers.ts'
import type { RegisteredAgent } from '../registry/registered-agent.ts'
import type { Setup } from '../setup/read-setup.ts'
import type { StartDiagnostic } from '../setup/start-diagnostics.ts'
import { httpSecrets } from '../workspace/http-tools.ts'
import { modelOptions } from './find-models.ts'
import { findTeamModels } from './find-team-models.ts'
import { pricedAdapter, unpricedModels } from './model-prices.ts'

/** Agents with the models and servers that are available. */
export interface ResolvedAgents {
  readonly agents: readonly RegisteredAgent[]
  readonly adapter: ModelAdapter
  /** Models of agents that have none that is available. Empty unless that is allowed. */
  readonly missingModels: readonly string[]
  /** Settings of the configuration for all agents. */
  readonly shared: Pick<AgentLoopConfig, 'queues' | 'features' | 'unpriced' | 'childrenOffered' | 'toolsOffered' | 'overlay' | 'mcpServers'>
  /** About the selected models. */
  readonly notices: readonly string[]
  readonly diagnostics: readonly StartDiagnostic[]
}

interface ResolveOptions {
  /** Scripts of models are relative to its folder. */
  readonly file: string
  /** Whether the first agent is the one that a person asked for: errors do not name it. */
  readonly isTeam: boolean
  /** Whether to contact servers on this machine that a model needs. */
  readonly looksAtServers: boolean
  /** Models that others use, such as extensions: the adapter resolves them, if their providers are configured. */
  readonly otherModels: readonly string[]
  /** Whether agents may have no model that is available. */
  readonly allowsMissingModels: boolean
}

/** Resolves the models and servers of agents. Throws all errors of them. */
export async function resolveModels(
  read: readonly RegisteredAgent[],
  setup: Setup,
  { file, isTeam, looksAtServers, otherModels, allowsMissingModels }: ResolveOptions,
): Promise<ResolvedAgents> {
  const { config, environment } = setup
  const served = resolveServers(read, { config, environment })
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
      allowsMissing: allowsMissingModels,
    },
  )
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
    missingModels: found.missing,
    shared: {
      ...sharedBy(config),
      overlay: commandVariables(config, overlay.variables),
      ...(Object.keys(served.servers).length > 0 && { mcpServers: served.servers }),
    },
    notices: found.notices,
    diagnostics: [...served.diagnostics, ...overlay.diagnostics, ...ignoredAddresses(overlay)],
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

function sharedBy(config: Config): ResolvedAgents['shared'] {
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
