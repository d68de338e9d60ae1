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
  unpricedOf,
} from '../../agents/index.ts'
import { type ModelAdapter, TroupeError } from '../../contracts/index.ts'
import { ignoredAddress } from '../../models/by-name/index.ts'
import type { AgentLoopConfig } from '../../runtime/index.ts'
import type { Host } from '../host/process-host.ts'
import { findTeamModels } from '../models/find-team-models.ts'
import { modelOptions } from '../models/model-options.ts'
import { pricedAdapter } from '../models/priced-adapter.ts'
import { unpricedModels } from '../models/unpriced-models.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import { askForTrust, waitingIn } from '../trust/trust-question.ts'
import type { Setup } from './load-config.ts'
import { type ReadAgents, readAgents } from './read-agents.ts'
import { type StartDiagnostic, withWithheld } from './start-diagnostics.ts'

export interface TeamOptions {
  readonly host: Host
  /** What the command line says over the file. */
  readonly overrides: OverrideArguments
  /** The file behind `--config`. */
  readonly configFile?: string
  /** Whether `--trust` stands on the command line. */
  readonly isTrusted?: boolean
  /** `for this look`: what `--trust` gives is not kept. */
  readonly trusts?: 'for good' | 'for this look'
  /** Whether servers on this machine that a model needs are asked if they are there. */
  readonly looksAtServers?: boolean
  /** `never`: nobody is asked anything. */
  readonly asks?: 'for trust' | 'never'
}

/** An agent with everybody whom it may call, found to be right. */
export interface Team {
  /** Their models are those that can be asked. */
  readonly agents: readonly RegisteredAgent[]
  /** The agent of the file. */
  readonly root: RegisteredAgent
  readonly adapter: ModelAdapter
  readonly setup: Setup
  /** What the configuration says for all agents. */
  readonly shared: Pick<AgentLoopConfig, 'queues' | 'features' | 'unpriced' | 'childrenOffered' | 'overlay'>
  /** Where the configuration keeps journals, if it says so. */
  readonly storePath?: string
  /** What a person should know about the choice of models. */
  readonly notices: readonly string[]
  readonly diagnostics: readonly StartDiagnostic[]
}

/** An agent with everybody whom it may call, before anybody has looked for models. */
export interface ReadTeam {
  readonly agents: readonly RegisteredAgent[]
  readonly root: RegisteredAgent
  readonly setup: Setup
  readonly diagnostics: Team['diagnostics']
}

/** An agent with everybody whom it may call and what surrounds them, right or wrong. */
export interface SeenTeam extends ReadAgents {
  readonly file: string
  readonly diagnostics: Team['diagnostics']
}

/** Finds the models of a team that was looked at. Throws everything that is wrong with any of it. */
export async function loadTeam(seen: SeenTeam, display: Pick<TeamOptions, 'looksAtServers'> = {}): Promise<Team> {
  const { file } = seen
  const { agents, root, setup, diagnostics } = rightTeam(seen)
  const { config, environment } = setup
  const overlay = overlayFor([...new Set(agents.flatMap(({ definition }) => definition.models))], { config, environment })
  const found = await findTeamModels(
    [root, ...agents.filter((agent) => agent !== root)].map(({ definition, place, dialect }, index) => ({
      ...definition,
      ...(index > 0 && { shown: `${definition.toolName} (${place})` }),
      isForeign: dialect !== 'troupe',
    })),
    {
      ...modelOptions(file, { env: overlay.variables }),
      providers: overlay.providers,
      aliases: overlay.aliases,
      looksAtServers: display.looksAtServers ?? false,
    },
  )
  const storePath = storePathOf({ config, environment })
  const named: ModelAdapter = { ...found.adapter, secrets: { ...found.adapter.secrets, ...overlay.secrets } }
  const adapter = pricedAdapter(named, pricesOf(config))
  const asked = (agent: RegisteredAgent): RegisteredAgent => ({
    ...agent,
    definition: {
      ...agent.definition,
      models: found.agents.find(({ name }) => name === agent.definition.name)?.models ?? agent.definition.models,
    },
  })
  const team = agents.map(asked)
  const unpriced = await unpricedModels(team, { adapter, unpriced: unpricedOf(config) })
  if (unpriced.length > 0) throw joinErrors(unpriced)
  return {
    agents: team,
    root: asked(root),
    adapter,
    setup,
    shared: { ...sharedBy(config), overlay: commandVariables(config, overlay.variables) },
    ...(storePath !== undefined && { storePath }),
    notices: found.notices,
    diagnostics: [...diagnostics, ...overlay.diagnostics, ...ignoredAddresses(overlay)],
  }
}

/** A configured key is not sent to an address that only the environment names. */
function ignoredAddresses({ providers, variables }: Overlay): readonly StartDiagnostic[] {
  return Object.keys(providers).flatMap((provider): readonly StartDiagnostic[] => {
    const variable = ignoredAddress(provider, { providers, variables })
    if (variable === undefined) return []
    const message = `it is not used: the key of \`providers.${provider}\` is not sent to an address from the environment`
    const remedy = `If it is meant, set \`providers.${provider}.baseURL\` to "\${${variable}}".`
    return [{ code: 'variable_unused', severity: 'warning', place: variable, message, remedy }]
  })
}

/** The variables that commands are given: those that the walls name, and nothing else of the environment. */
function commandVariables(config: Config, variables: Overlay['variables']): Overlay['variables'] {
  return Object.fromEntries(sandboxOf(config).environment.flatMap((name) => (name in variables ? [[name, variables[name] ?? '']] : [])))
}

function sharedBy(config: Config): Team['shared'] {
  const childrenOffered = childrenOfferedOf(config)
  return {
    queues: queuesOf(config),
    features: featuresOf(config),
    unpriced: unpricedOf(config),
    ...(childrenOffered !== undefined && { childrenOffered }),
  }
}

/** Reads an agent, its children and the configuration. Nothing is looked for, no variable is needed. */
export async function readTeam(file: string, display: TeamOptions): Promise<ReadTeam> {
  const seen = await lookAtTeam(file, display)
  try {
    return rightTeam(seen)
  } catch (error) {
    throw error instanceof TroupeError ? withWithheld(error, seen.diagnostics) : error
  }
}

/** The same for those who have more to tell where something is wrong with it: that is not thrown. */
export async function lookAtTeam(file: string, display: TeamOptions): Promise<SeenTeam> {
  const read = await trustedTeam(file, display, overridesOf(display.overrides))
  return { ...read, file, diagnostics: [...read.setup.diagnostics, ...read.registry.diagnostics] }
}

function rightTeam({ file, setup, registry, wrong, diagnostics }: SeenTeam): ReadTeam {
  if (!registry.ok || wrong.length > 0) throw joinErrors(wrong)
  const root = registry.agents.find(({ definition }) => definition.name === registry.roots[0])
  if (!root) throw new TroupeError('internal', `The agent of ${file} is not among those that were read.`)
  return { agents: registry.agents, root, setup, diagnostics }
}

/** Reads once, asks for trust where it is missing, and reads again where it was given. A team that is wrong all the same asks for none. */
async function trustedTeam(file: string, display: TeamOptions, flags: ReadOverrides): Promise<ReadAgents> {
  const { host, configFile, isTrusted: isGiven = false, asks = 'for trust', trusts = 'for good' } = display
  const read = async (alsoTrusted: readonly FileState[] = []): Promise<ReadAgents> => {
    const given = configFile === undefined ? {} : { configFile }
    const found = await readAgents(host, { file, roots: [file], scope: 'reachable', flags: flags.values, alsoTrusted, ...given })
    return { ...found, wrong: [...flags.wrong, ...found.wrong] }
  }
  const first = await read()
  const waiting = asks === 'never' ? [] : waitingIn(first.setup, first.registry)
  if (waiting.length === 0) return first
  const asTrusted = await read(waiting)
  if (asTrusted.wrong.length > 0) return isGiven ? asTrusted : first
  if (isGiven && trusts === 'for this look') {
    // What hooks run waits only once their configuration counts.
    const more = waitingIn(asTrusted.setup, asTrusted.registry)
    return more.length === 0 ? asTrusted : read([...waiting, ...more])
  }
  // A look keeps nothing, so it asks for nothing that would be kept.
  if (trusts === 'for this look') return first
  return (await askForTrust(waiting, first.setup, { host, isGiven })) === 'given' ? read() : first
}

interface ReadOverrides {
  readonly values: AgentOverrides
  readonly wrong: readonly TroupeError[]
}

function overridesOf(written: OverrideArguments): ReadOverrides {
  try {
    return { values: parseOverrides(written), wrong: [] }
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    return { values: new Map(), wrong: [error] }
  }
}
