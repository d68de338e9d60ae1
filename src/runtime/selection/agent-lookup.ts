import type { AgentCard, AgentSpec } from '../../contracts/index.ts'
import { agentCard } from '../../tools/index.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'

// A session keeps the definition that it began with; agents that it names may be gone by now.

interface Family {
  readonly agents: ReadonlyMap<string, AgentSpec>
  /** By who may call them. */
  readonly cards: WeakMap<AgentSpec, readonly AgentCard[]>
}

const families = new WeakMap<RuntimeParts, Family>()

function familyOf(parts: RuntimeParts): Family {
  const known = families.get(parts)
  if (known) return known
  const family = { agents: new Map(parts.options.config.agents.map((agent) => [agent.name, agent])), cards: new WeakMap() }
  families.set(parts, family)
  return family
}

/** The agents that there are now, by name. */
export const agentsNow = (parts: RuntimeParts): ReadonlyMap<string, AgentSpec> => familyOf(parts).agents

/** What a session may know of the agents that it may call. */
export function cardsOf(parts: RuntimeParts, caller: AgentSpec): readonly AgentCard[] {
  const { agents, cards } = familyOf(parts)
  const known = cards.get(caller)
  if (known) return known
  const found = caller.agents.flatMap((name) => {
    const agent = agents.get(name)
    return agent ? [agentCard(agent)] : []
  })
  cards.set(caller, found)
  return found
}
