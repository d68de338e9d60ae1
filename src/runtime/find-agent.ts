import { type AgentSpec, TroupeError } from '../contracts/index.ts'
import { nearestNames } from '../util/nearest-names.ts'

/** @throws TroupeError `agent_unknown` that lists what there is. */
export function findAgent(agents: readonly AgentSpec[], name: string): AgentSpec {
  const agent = agents.find((each) => each.name === name)
  if (agent) return agent
  const names = agents.map((each) => each.name)
  const [near] = nearestNames(name, names)
  throw new TroupeError('agent_unknown', `There is no agent "${name}".`, {
    remedy: near ? `Did you mean "${near}"? There are: ${names.join(', ')}.` : `There are: ${names.join(', ')}.`,
  })
}
