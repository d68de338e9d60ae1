import type { Problem } from '../../../contracts/index.ts'
import { nearestNames } from '../../../util/nearest-names.ts'
import { parseValue } from '../../../yaml/yaml-nodes.ts'
import { type AgentOptionKey, agentOptions } from '../../options/agent-options.ts'
import type { AgentOverrides, ExternalValue } from '../../options/option-values.ts'
import { readValue } from '../../values/read-value.ts'
import type { ConfigDiagnostic } from '../config.ts'
import { defaultKeys } from '../sections.ts'
import type { Environment } from './resolve-placeholders.ts'

const prefix = 'TROUPE_'
const maxValueLength = 65_536
/** Where sessions are stored. It is no option of agents. */
export const storeVariable = 'TROUPE_STORE'

/** `limits.maxToolTurns` → `TROUPE_LIMITS_MAX_TOOL_TURNS`. */
export function variableOf(key: string): string {
  const words = key.replaceAll('.', '_').replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
  return `${prefix}${words.toUpperCase()}`
}

interface OptionVariables {
  readonly values: AgentOverrides
  readonly diagnostics: readonly ConfigDiagnostic[]
  readonly problems: readonly Problem[]
}

/** Reads the options that `TROUPE_*` variables set. An empty variable sets nothing. `others` have another meaning. */
export function readOptionVariables(environment: Environment, others: readonly string[] = []): OptionVariables {
  const values = new Map<AgentOptionKey, ExternalValue>()
  const problems: Problem[] = []
  const known = new Map(defaultKeys.map((key) => [variableOf(key), key as AgentOptionKey]))
  const diagnostics: ConfigDiagnostic[] = []
  for (const name of Object.keys(environment).filter((each) => each.startsWith(prefix))) {
    const key = known.get(name)
    const text = environment[name]?.trim() ?? ''
    if (key === undefined && name !== storeVariable && !others.includes(name)) diagnostics.push(unknownVariable(name, [...known.keys()]))
    if (key === undefined || text === '') continue
    const read = readVariable(key, text)
    if (read.ok) values.set(key, { value: read.value, place: name })
    else {
      const remedy = `Write it like ${name}='${agentOptions[key].example}'.`
      problems.push(...read.messages.map((message) => ({ place: name, message, remedy })))
    }
  }
  return { values, diagnostics, problems }
}

type ReadVariable = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly messages: readonly string[] }

/** Values are written as in an agent file. */
function readVariable(key: AgentOptionKey, text: string): ReadVariable {
  if (text.length > maxValueLength) return { ok: false, messages: [`the value is longer than ${maxValueLength} characters`] }
  const parsed = parseValue(text)
  if (!parsed.ok) return { ok: false, messages: [`the value cannot be read: ${parsed.message}`] }
  const read = readValue(key, agentOptions[key], parsed.node)
  return read.ok ? read : { ok: false, messages: read.problems.map(({ message }) => message) }
}

function unknownVariable(name: string, known: readonly string[]): ConfigDiagnostic {
  const withoutPrefix = (each: string): string => each.slice(prefix.length)
  const near = nearestNames(withoutPrefix(name), known.map(withoutPrefix))
  const meant = near.map((each) => `${prefix}${each}`).join(', ')
  const remedy = near.length > 0 ? `Did you mean ${meant}?` : `Variables are named after options, like ${known[0]}.`
  return { code: 'variable_unused', severity: 'warning', place: name, message: 'Troupe does not use this variable', remedy }
}
