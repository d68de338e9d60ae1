import { type AgentSpec, TroupeError } from '../../contracts/index.ts'
import { knownNames } from '../../util/suggestion.ts'

/** @throws TroupeError `agent_unknown` that lists what there is. */
export function findAgent(agents: readonly AgentSpec[], name: string): AgentSpec {
  const agent = agents.find((each) => each.name === name)
  if (agent) return agent
  const names = agents.map((each) => each.name)
  throw new TroupeError('agent_unknown', `There is no agent "${name}".`, { remedy: knownNames(name, names, 'agent') })
}
