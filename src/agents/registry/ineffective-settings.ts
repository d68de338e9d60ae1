import { resolve } from 'node:path'
import type { ApprovalRule, SandboxPolicy } from '../../contracts/index.ts'
import { type SandboxList, uncoveredEntries } from '../../policy/merge-sandbox.ts'
import { type PlacedValue, type PlacedValues, spotOf } from '../agent-file/option-values.ts'
import { mayMeet, overruledRules } from '../ineffective-rules.ts'
import type { AgentDiagnostic } from './agent-diagnostic.ts'

export interface SessionWalls {
  readonly policy: SandboxPolicy
  /** What folders are relative to: those of a file, and those that were said over it. */
  readonly file: string
  readonly over: string
}

/** What an agent says of rules and walls that changes nothing, though whoever wrote it may believe that it does. */
export function idleSettings(values: PlacedValues, walls?: SessionWalls): readonly AgentDiagnostic[] {
  return [...idleMode(values), ...(walls ? idleEntries(values, walls) : []), ...idleRules(values)]
}

const loosens = 'An agent can only be stricter than the session: say it in `.ai-agent.json`, or leave it out.'

function idleMode(values: PlacedValues): readonly AgentDiagnostic[] {
  const said = values.get('sandbox.mode')
  return said?.value === 'off' ? [idle(said.place, '`sandbox.mode: off` has no effect here', loosens)] : []
}

/** Of lists only what the session allows as well is left. */
function idleEntries(values: PlacedValues, walls: SessionWalls): readonly AgentDiagnostic[] {
  const isOff = walls.policy.mode === 'off' && values.get('sandbox.mode')?.value !== 'required'
  return isOff ? [] : (['hosts', 'privateHosts', 'writable', 'environment'] as const).flatMap((list) => idleIn(list, values, walls))
}

function idleIn(list: SandboxList, values: PlacedValues, walls: SessionWalls): readonly AgentDiagnostic[] {
  const said = values.get(`sandbox.${list}`)
  if (!said) return []
  const allowed = walls.policy[list]
  return (said.value as readonly string[]).flatMap((entry, index) => {
    const meant = list === 'writable' ? resolve(folderOf(said, walls), entry) : entry
    if (uncoveredEntries(list, [meant], allowed).length === 0) return []
    const isPart = uncoveredEntries(list, allowed, [meant]).length < allowed.length
    const message = `\`sandbox.${list}\` names ${JSON.stringify(entry)}, which the session does not allow${isPart ? ' as a whole' : ''}`
    return [idle(spotOf(said, index).place, message, loosens)]
  })
}

const folderOf = ({ rank }: PlacedValue, { file, over }: SessionWalls): string => (rank === 'over' ? over : file)

function idleRules(values: PlacedValues): readonly AgentDiagnostic[] {
  const said = values.get('approvals.rules')
  if (!said) return []
  const rules = said.value as readonly ApprovalRule[]
  const allowing = rules.flatMap(({ allow }, index) => {
    // Behind one that asks or denies the same it makes an exception from that.
    const before = rules.slice(0, index).flatMap(({ ask = [], deny = [] }) => [ask, deny].flat())
    const isException = [allow ?? []].flat().some((each) => before.some((pattern) => mayMeet(each, pattern)))
    return allow === undefined || isException
      ? []
      : [{ index, message: 'a rule that allows something has no effect here', remedy: loosens }]
  })
  return [...allowing, ...overruledRules(rules)].map(({ index, message, remedy }) => idle(spotOf(said, index).place, message, remedy))
}

const idle = (place: string, message: string, remedy: string): AgentDiagnostic => ({
  code: 'agent_setting_idle',
  severity: 'warning',
  place,
  message,
  remedy,
})
