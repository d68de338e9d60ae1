import { resolve } from 'node:path'
import type { ApprovalRule, SandboxPolicy } from '../../contracts/index.ts'
import { type SandboxList, uncoveredEntries } from '../../policy/merge-sandbox.ts'
import { mayOverlap, overriddenRules } from '../options/ineffective-rules.ts'
import { locationOf, type OptionValue, type OptionValues } from '../options/option-values.ts'
import type { AgentDiagnostic } from './agent-diagnostic.ts'

interface SessionSandbox {
  readonly policy: SandboxPolicy
  /** The base of relative folders in the file, and of those in overrides. */
  readonly file: string
  readonly over: string
}

/** Rules and sandbox settings of an agent without effect. */
export function ineffectiveSettings(values: OptionValues, session?: SessionSandbox): readonly AgentDiagnostic[] {
  return [...ineffectiveMode(values), ...(session ? ineffectiveEntries(values, session) : []), ...ineffectiveRules(values)]
}

const loosens = 'An agent can only add restrictions: set it in `.ai-agent.json`, or remove it.'

function ineffectiveMode(values: OptionValues): readonly AgentDiagnostic[] {
  const option = values.get('sandbox.mode')
  return option?.value === 'off' ? [idle(option.place, '`sandbox.mode: off` has no effect', loosens)] : []
}

/** Lists are intersected with those of the session. */
function ineffectiveEntries(values: OptionValues, session: SessionSandbox): readonly AgentDiagnostic[] {
  const isOff = session.policy.mode === 'off' && values.get('sandbox.mode')?.value !== 'required'
  return isOff
    ? []
    : (['hosts', 'privateHosts', 'writable', 'environment'] as const).flatMap((list) => ineffectiveInList(list, values, session))
}

function ineffectiveInList(list: SandboxList, values: OptionValues, session: SessionSandbox): readonly AgentDiagnostic[] {
  const option = values.get(`sandbox.${list}`)
  if (!option) return []
  const allowed = session.policy[list]
  return (option.value as readonly string[]).flatMap((entry, index) => {
    const meant = list === 'writable' ? resolve(folderOf(option, session), entry) : entry
    if (uncoveredEntries(list, [meant], allowed).length === 0) return []
    const isPart = uncoveredEntries(list, allowed, [meant]).length < allowed.length
    const message = `\`sandbox.${list}\` names ${JSON.stringify(entry)}, which the session does not${isPart ? ' fully' : ''} allow`
    return [idle(locationOf(option, index).place, message, loosens)]
  })
}

const folderOf = ({ precedence }: OptionValue, { file, over }: SessionSandbox): string => (precedence === 'override' ? over : file)

function ineffectiveRules(values: OptionValues): readonly AgentDiagnostic[] {
  const option = values.get('approvals.rules')
  if (!option) return []
  const rules = option.value as readonly ApprovalRule[]
  const allowing = rules.flatMap(({ allow }, index) => {
    // After a rule that asks or denies, it makes an exception.
    const before = rules.slice(0, index).flatMap(({ ask = [], deny = [] }) => [ask, deny].flat())
    const isException = [allow ?? []].flat().some((each) => before.some((pattern) => mayOverlap(each, pattern)))
    return allow === undefined || isException ? [] : [{ index, message: 'a rule that allows something has no effect', remedy: loosens }]
  })
  return [...allowing, ...overriddenRules(rules)].map(({ index, message, remedy }) =>
    idle(locationOf(option, index).place, message, remedy),
  )
}

const idle = (place: string, message: string, remedy: string): AgentDiagnostic => ({
  code: 'agent_setting_idle',
  severity: 'warning',
  place,
  message,
  remedy,
})
