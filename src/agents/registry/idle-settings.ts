import type { ApprovalRule } from '../../contracts/index.ts'
import { misspeltRules } from '../misspelt-rules.ts'
import { type PlacedValues, spotOf } from '../placed-value.ts'
import type { AgentDiagnostic } from './diagnostic.ts'

/** What an agent says of rules and walls that changes nothing, though whoever wrote it may believe that it does. */
export function idleSettings(values: PlacedValues, tools: readonly string[]): readonly AgentDiagnostic[] {
  return [...idleMode(values), ...idleRules(values, tools)]
}

const loosens = 'An agent can only be stricter than the session: say it in `.ai-agent.json`, or leave it out.'

function idleMode(values: PlacedValues): readonly AgentDiagnostic[] {
  const said = values.get('sandbox.mode')
  return said?.value === 'off' ? [idle(said.place, '`sandbox.mode: off` has no effect here', loosens)] : []
}

function idleRules(values: PlacedValues, tools: readonly string[]): readonly AgentDiagnostic[] {
  const said = values.get('approvals.rules')
  if (!said) return []
  const rules = said.value as readonly ApprovalRule[]
  const allowing = rules.flatMap(({ allow }, index) => {
    // Behind one that asks or denies it makes an exception from that.
    const isException = rules.slice(0, index).some(({ ask, deny }) => ask !== undefined || deny !== undefined)
    return allow === undefined || isException
      ? []
      : [{ index, message: 'a rule that allows something has no effect here', remedy: loosens }]
  })
  return [...allowing, ...misspeltRules(rules, tools)].map(({ index, message, remedy }) => idle(spotOf(said, index).place, message, remedy))
}

const idle = (place: string, message: string, remedy: string): AgentDiagnostic => ({
  code: 'agent_setting_idle',
  severity: 'warning',
  place,
  message,
  remedy,
})
