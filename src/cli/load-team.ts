import {
  type AgentDiagnostic,
  type AgentOverrides,
  type ConfigDiagnostic,
  featuresOf,
  loadRegistry,
  overlayFor,
  parseOverrides,
  pricesOf,
  queuesOf,
  type RegisteredAgent,
  type Registry,
  registryError,
  storePathOf,
  type WrittenOverrides,
} from '../agents/index.ts'
import { type ModelAdapter, TroupeError } from '../contracts/index.ts'
import type { AgentLoopConfig } from '../runtime/index.ts'
import { loadSetup, type Setup, setupWithoutConfig } from './config-setup.ts'
import { findTeamModels } from './find-team-models.ts'
import type { Host } from './host.ts'
import { joinErrors } from './join-errors.ts'
import { modelOptions } from './model-options.ts'
import { pricedAdapter } from './priced-adapter.ts'
import { askForTrust, waitingIn } from './trust-question.ts'

export interface TeamWishes {
  readonly host: Host
  /** What the command line says over the file. */
  readonly overrides: WrittenOverrides
  /** The file behind `--config`. */
  readonly configFile?: string
  /** Whether `--trust` stands on the command line. */
  readonly isTrusted?: boolean
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
  readonly shared: Pick<AgentLoopConfig, 'queues' | 'features'>
  /** Where the configuration keeps journals, if it says so. */
  readonly storePath?: string
  /** What a person should know about the choice of models. */
  readonly notices: readonly string[]
  readonly diagnostics: readonly (AgentDiagnostic | ConfigDiagnostic)[]
}

/** An agent with everybody whom it may call, before anybody has looked for models. */
export interface ReadTeam {
  readonly agents: readonly RegisteredAgent[]
  readonly root: RegisteredAgent
  readonly setup: Setup
  readonly diagnostics: Team['diagnostics']
}

/** Reads an agent, its children and the configuration, and finds their models. Throws everything that is wrong with any. */
export async function loadTeam(file: string, wishes: TeamWishes): Promise<Team> {
  const { agents, root, setup, diagnostics } = await readTeam(file, wishes)
  const { config, environment } = setup
  const overlay = overlayFor([...new Set(agents.flatMap(({ definition }) => definition.models))], { config, environment })
  const found = await findTeamModels(
    agents.map(({ definition }) => definition),
    {
      ...modelOptions(file, { env: overlay.variables }),
      providers: overlay.providers,
      aliases: overlay.aliases,
      looksAtServers: wishes.looksAtServers ?? false,
    },
  )
  const storePath = storePathOf({ config, environment })
  const named: ModelAdapter = { ...found.adapter, secrets: { ...found.adapter.secrets, ...overlay.secrets } }
  const adapter = pricedAdapter(named, pricesOf(config))
  const asked = (agent: RegisteredAgent): RegisteredAgent => ({
    ...agent,
    definition: found.agents.find(({ name }) => name === agent.definition.name) ?? agent.definition,
  })
  return {
    agents: agents.map(asked),
    root: asked(root),
    adapter,
    setup,
    shared: { queues: queuesOf(config), features: featuresOf(config) },
    ...(storePath !== undefined && { storePath }),
    notices: found.notices,
    diagnostics: [...diagnostics, ...overlay.diagnostics],
  }
}

/** The same without models: nothing is looked for, no variable is needed. */
export async function readTeam(file: string, wishes: TeamWishes): Promise<ReadTeam> {
  const wrong: TroupeError[] = []
  const flags = overridesOf(wishes.overrides, wrong)
  const { setup, registry } = await trustedTeam(file, wishes, { flags, wrong })
  if (!registry.ok) wrong.push(registryError(registry.problems))
  if (!registry.ok || wrong.length > 0) throw joinErrors(wrong)
  const root = registry.agents.find(({ definition }) => definition.name === registry.roots[0])
  if (!root) throw new TroupeError('internal', `The agent of ${file} is not among those that were read.`)
  return { agents: registry.agents, root, setup, diagnostics: [...setup.diagnostics, ...registry.diagnostics] }
}

interface SoFar {
  readonly flags: AgentOverrides
  readonly wrong: TroupeError[]
}

/** Reads once, asks for trust where it is missing, and reads again where it was given. */
async function trustedTeam(file: string, { host, configFile, isTrusted = false, asks = 'for trust' }: TeamWishes, { flags, wrong }: SoFar) {
  const read = async (): Promise<{ readonly setup: Setup; readonly registry: Registry }> => {
    let isConfigured = true
    const setup = await loadSetup(host, { file, ...(configFile !== undefined && { configFile }) }).catch((error: unknown) => {
      if (!(error instanceof TroupeError)) throw error
      wrong.push(error)
      isConfigured = false
      return setupWithoutConfig(host)
    })
    const { config, environment, trusted, variables, workingDirectory } = setup
    const registry = await loadRegistry({
      roots: [file],
      scope: 'reachable',
      workingDirectory,
      config: isConfigured ? config : undefined,
      environment,
      trusted,
      flags,
      variables,
    })
    return { setup, registry }
  }
  const first = await read()
  if (asks === 'never') return first
  const waiting = waitingIn(first.setup, first.registry)
  return (await askForTrust(waiting, first.setup, { host, isGiven: isTrusted })) === 'given' ? read() : first
}

function overridesOf(written: WrittenOverrides, wrong: TroupeError[]): AgentOverrides {
  try {
    return parseOverrides(written)
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    wrong.push(error)
    return new Map()
  }
}
