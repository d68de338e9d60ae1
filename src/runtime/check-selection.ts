import type { AgentSpec, Problem } from '../contracts/index.ts'
import { checkKeys, isMap, show } from '../util/config-problems.ts'
import { nearestNames } from '../util/nearest-names.ts'
import type { AgentLoopConfig } from './config.ts'
import type { AgentSelection } from './select-agent.ts'

/** Without a wish the only candidate speaks; of several, the one that fits the request best. */
export function selectionOf(problems: Problem[], config: AgentLoopConfig, agents: readonly AgentSpec[]): AgentSelection {
  const names = agents.map((agent) => String(agent.name))
  const wish: AgentSelection = config.agentSelection ?? (agents.length > 1 ? { infer: 'match' } : { agent: names[0] ?? '' })
  const place = 'config.agentSelection'
  if (!isMap(problems, wish, place)) return wish
  checkKeys(problems, wish, { known: ['agent', 'infer'], place })
  // That there is no agent is told already.
  if (agents.length === 0) return wish
  if ('agent' in wish && 'infer' in wish) {
    const remedy = 'Name the agent that speaks, or say how it is chosen.'
    problems.push({ place, message: 'expected either agent or infer, found both', remedy })
    return wish
  }
  if ('infer' in wish) {
    if (wish.infer !== 'match' && wish.infer !== 'model')
      problems.push({ place: `${place}.infer`, message: `expected match or model, found ${show(wish.infer)}` })
    if (config.agents.every(({ infer }) => infer === false))
      problems.push({
        place,
        message: 'no agent may be chosen: all of them say `infer: false`',
        remedy: `Name one. There are: ${names.join(', ')}.`,
      })
    return wish
  }
  if (names.includes(wish.agent)) return wish
  const [near] = nearestNames(String(wish.agent), names)
  problems.push({
    place: `${place}.agent`,
    message: `there is no agent ${show(wish.agent)}`,
    remedy: near ? `Did you mean "${near}"?` : `There are: ${names.join(', ')}.`,
  })
  return wish
}
