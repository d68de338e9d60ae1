import { type AgentCard, type AgentSpec, TroupeError } from '../../contracts/index.ts'
import { agentCard } from '../../tools/index.ts'
import { knownNames } from '../../util/nearest-names.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'

// A session keeps the definition that it began with. Agents that it names may have been removed since.

interface AgentLookup {
  readonly agents: ReadonlyMap<string, AgentSpec>
  /** By caller. */
  readonly cards: WeakMap<AgentSpec, readonly AgentCard[]>
}

const lookups = new WeakMap<RuntimeParts, AgentLookup>()

function lookupOf(parts: RuntimeParts): AgentLookup {
  const known = lookups.get(parts)
  if (known) return known
  const lookup = { agents: new Map(parts.options.config.agents.map((agent) => [agent.name, agent])), cards: new WeakMap() }
  lookups.set(parts, lookup)
  return lookup
}

/** The agents of this runtime, by name. */
export const currentAgents = (parts: RuntimeParts): ReadonlyMap<string, AgentSpec> => lookupOf(parts).agents

/** The cards of the agents that a caller may call. */
export function callableCards(parts: RuntimeParts, caller: AgentSpec): readonly AgentCard[] {
  const { agents, cards } = lookupOf(parts)
  const known = cards.get(caller)
  if (known) return known
  const found = caller.agents.flatMap((name) => {
    const agent = agents.get(name)
    return agent ? [agentCard(agent)] : []
  })
  cards.set(caller, found)
  return found
}

/** @throws TroupeError `agent_unknown` that lists the agents. */
export function findAgent(agents: readonly AgentSpec[], name: string): AgentSpec {
  const agent = agents.find((each) => each.name === name)
  if (agent) return agent
  const names = agents.map((each) => each.name)
  throw new TroupeError('agent_unknown', `Unknown agent "${name}".`, { remedy: knownNames(name, names, 'agent') })
}
