import type { AgentDescription, AgentSpec } from '../../contracts/index.ts'
import type { ResolvedConfig } from '../parts/resolve-config.ts'

type Described = Pick<ResolvedConfig, 'agents' | 'candidates' | 'shown'>

/** By configuration: servers ask with each request. */
const known = new WeakMap<Described, readonly AgentDescription[]>()

/** The agents that can be asked, each with the agents below it. They are sorted by name. */
export function describeAgents(config: Described): readonly AgentDescription[] {
  const descriptions = known.get(config) ?? describeAll(config)
  known.set(config, descriptions)
  return descriptions
}

function describeAll({ agents, candidates, shown }: Described): readonly AgentDescription[] {
  const full = (agent: AgentSpec): AgentDescription => ({ ...describe(agent), ...shown.get(agent.name) })
  return candidates.map((agent) => {
    const below = namesBelow(agent, agents)
    const team = agents.filter(({ name }) => below.has(name)).map(full)
    return { ...full(agent), ...(team.length > 0 && { team }) }
  })
}

function namesBelow(root: AgentSpec, agents: readonly AgentSpec[]): ReadonlySet<string> {
  const below = new Set(root.agents)
  // A set yields what is added while it is iterated.
  for (const name of below) for (const child of agents.find((each) => each.name === name)?.agents ?? []) below.add(child)
  below.delete(root.name)
  return below
}

function describe(agent: AgentSpec): AgentDescription {
  const { name, displayName, description, usage, input, output, limits, parameters, overrides = [], models, tools, agents } = agent
  const { clientTools, keepSessions } = agent
  return {
    name,
    ...(displayName !== undefined && { displayName }),
    description,
    ...(usage !== undefined && { usage }),
    input,
    output,
    limits,
    parameters,
    overrides,
    models,
    tools,
    ...(clientTools !== undefined && { clientTools }),
    ...(keepSessions && { keepSessions }),
    agents,
  }
}
