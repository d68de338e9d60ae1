import type { AgentCard, AgentSpec } from '../../contracts/index.ts'
import { agentCard } from '../../tools/index.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'

// A session keeps the definition that it began with; agents that it names may be gone by now.

interface AgentLookup {
  readonly agents: ReadonlyMap<string, AgentSpec>
  /** By who may call them. */
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

/** The agents that there are now, by name. */
export const currentAgents = (parts: RuntimeParts): ReadonlyMap<string, AgentSpec> => lookupOf(parts).agents

/** What a session may know of the agents that it may call. */
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
