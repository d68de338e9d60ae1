import type { Problem } from '../../contracts/index.ts'
import { checkKeys, expectObject, isRecord, show } from '../../util/option-problems.ts'
import { knownNames } from '../../util/suggestion.ts'
import type { AgentLoopConfig } from '../api/agent-config.ts'
import type { AgentSelection } from './select-agent.ts'

/** Without one the only agent speaks; of several, the one that fits the request best. */
export function selectionOf({ agentSelection, agents }: AgentLoopConfig): AgentSelection {
  return agentSelection ?? (agents.length > 1 ? { infer: 'match' } : { agent: agents[0]?.name ?? '' })
}

export function checkSelection(problems: Problem[], { agents, agentSelection }: AgentLoopConfig): void {
  const place = 'config.agentSelection'
  const isLeftOut = agentSelection === undefined && Array.isArray(agents) && agents.length > 1
  const selection: AgentSelection | undefined = isLeftOut ? { infer: 'match' } : agentSelection
  if (!expectObject(problems, selection, place)) return
  checkKeys(problems, selection, { known: ['agent', 'infer'], place })
  const { agent, infer } = selection as { readonly agent?: unknown; readonly infer?: unknown }
  const known = Array.isArray(agents) ? agents.filter(isRecord) : []
  const names = known.flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
  if ((agent === undefined) === (infer === undefined)) {
    const remedy = 'Name the agent that speaks, or say how it is chosen.'
    problems.push({ place, message: `expected either agent or infer, found ${agent === undefined ? 'neither' : 'both'}`, remedy })
  } else if (infer === undefined) {
    if (names.includes(agent as string)) return
    const remedy = knownNames(typeof agent === 'string' ? agent : '', names, 'agent')
    problems.push({ place: `${place}.agent`, message: `there is no agent ${show(agent)}`, remedy })
  } else if (infer !== 'match' && infer !== 'model')
    problems.push({ place: `${place}.infer`, message: `expected match or model, found ${show(infer)}` })
  else if (known.length > 0 && known.every((each) => each.infer === false))
    problems.push({
      place,
      message: 'no agent may be chosen: all of them say `infer: false`',
      remedy: `Name one. ${knownNames('', names, 'agent')}`,
    })
}
