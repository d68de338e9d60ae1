import type { Problem } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { knownNames } from '../../util/nearest-names.ts'
import { checkField, checkKeys, expectObject, oneOf } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import type { AgentLoopConfig } from '../options/agent-config.ts'

export function checkSelection(problems: Problem[], { agents, agentSelection }: AgentLoopConfig): void {
  const place = 'config.agentSelection'
  const isDefault = agentSelection === undefined && Array.isArray(agents) && agents.length > 1
  const selection = isDefault ? { infer: 'match' } : agentSelection
  if (!expectObject(problems, selection, place)) return
  checkKeys(problems, selection, { known: ['agent', 'infer'], place })
  const { agent, infer } = selection as { readonly agent?: unknown; readonly infer?: unknown }
  const known = Array.isArray(agents) ? agents.filter(isRecord) : []
  const names = known.flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
  if ((agent === undefined) === (infer === undefined)) {
    const message = `expected either agent or infer, found ${agent === undefined ? 'neither' : 'both'}`
    problems.push({ place, message, remedy: 'Set agent to a name, or infer to "match" or "model".' })
  } else if (infer === undefined) {
    if (names.includes(agent as string)) return
    const remedy = knownNames(typeof agent === 'string' ? agent : '', names, 'agent')
    problems.push({ place: `${place}.agent`, message: `unknown agent ${showValue(agent)}`, remedy })
  } else if (infer !== 'match' && infer !== 'model')
    checkField(problems, infer, { type: oneOf(['match', 'model']), place: `${place}.infer` })
  else if (known.length > 0 && known.every((each) => each.infer === false)) {
    const remedy = `Set agentSelection.agent. ${knownNames('', names, 'agent')}`
    problems.push({ place, message: 'no agent can be selected: all of them set `infer: false`', remedy })
  }
}
