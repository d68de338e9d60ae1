import { resolve } from 'node:path'
import type { ApprovalRule, SandboxPolicy } from '../../contracts/index.ts'
import { type SandboxList, uncoveredEntries } from '../../policy/merge-sandbox.ts'
import { locationOf, type OptionValue, type OptionValues } from '../agent-file/option-values.ts'
import { mayOverlap, overriddenRules } from '../ineffective-rules.ts'
import type { AgentDiagnostic } from './agent-diagnostic.ts'

export interface SessionSandbox {
  readonly policy: SandboxPolicy
  /** What folders are relative to: those of a file, and those that were said over it. */
  readonly file: string
  readonly over: string
}

/** What an agent says of rules and session that changes nothing, though whoever wrote it may believe that it does. */
export function ineffectiveSettings(values: OptionValues, session?: SessionSandbox): readonly AgentDiagnostic[] {
  return [...ineffectiveMode(values), ...(session ? ineffectiveEntries(values, session) : []), ...ineffectiveRules(values)]
}

const loosens = 'An agent can only be stricter than the session: say it in `.ai-agent.json`, or leave it out.'

function ineffectiveMode(values: OptionValues): readonly AgentDiagnostic[] {
  const said = values.get('sandbox.mode')
  return said?.value === 'off' ? [idle(said.place, '`sandbox.mode: off` has no effect here', loosens)] : []
}

/** Of lists only what the session allows as well is left. */
function ineffectiveEntries(values: OptionValues, session: SessionSandbox): readonly AgentDiagnostic[] {
  const isOff = session.policy.mode === 'off' && values.get('sandbox.mode')?.value !== 'required'
  return isOff
    ? []
    : (['hosts', 'privateHosts', 'writable', 'environment'] as const).flatMap((list) => ineffectiveInList(list, values, session))
}

function ineffectiveInList(list: SandboxList, values: OptionValues, session: SessionSandbox): readonly AgentDiagnostic[] {
  const said = values.get(`sandbox.${list}`)
  if (!said) return []
  const allowed = session.policy[list]
  return (said.value as readonly string[]).flatMap((entry, index) => {
    const meant = list === 'writable' ? resolve(folderOf(said, session), entry) : entry
    if (uncoveredEntries(list, [meant], allowed).length === 0) return []
    const isPart = uncoveredEntries(list, allowed, [meant]).length < allowed.length
    const message = `\`sandbox.${list}\` names ${JSON.stringify(entry)}, which the session does not allow${isPart ? ' as a whole' : ''}`
    return [idle(locationOf(said, index).place, message, loosens)]
  })
}

const folderOf = ({ rank }: OptionValue, { file, over }: SessionSandbox): string => (rank === 'override' ? over : file)

function ineffectiveRules(values: OptionValues): readonly AgentDiagnostic[] {
  const said = values.get('approvals.rules')
  if (!said) return []
  const rules = said.value as readonly ApprovalRule[]
  const allowing = rules.flatMap(({ allow }, index) => {
    // Behind one that asks or denies the same it makes an exception from that.
    const before = rules.slice(0, index).flatMap(({ ask = [], deny = [] }) => [ask, deny].flat())
    const isException = [allow ?? []].flat().some((each) => before.some((pattern) => mayOverlap(each, pattern)))
    return allow === undefined || isException
      ? []
      : [{ index, message: 'a rule that allows something has no effect here', remedy: loosens }]
  })
  return [...allowing, ...overriddenRules(rules)].map(({ index, message, remedy }) => idle(locationOf(said, index).place, message, remedy))
}

const idle = (place: string, message: string, remedy: string): AgentDiagnostic => ({
  code: 'agent_setting_idle',
  severity: 'warning',
  place,
  message,
  remedy,
})
