import { type Node, parseDocument } from 'yaml'
import type { Problem } from '../../../contracts/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import { nearestNames } from '../../../util/nearest-names.ts'
import { type AgentOption, type AgentOptionKey, agentOptions } from '../../agent-file/agent-options.ts'
import type { AgentOverrides } from '../../agent-file/overrides.ts'
import { readValue } from '../../values/read-value.ts'
import type { ConfigDiagnostic } from '../config.ts'
import { defaultKeys } from '../sections.ts'
import type { Environment } from './resolve-placeholders.ts'

const prefix = 'TROUPE_'
const maxValueLength = 65_536

/** `limits.maxToolTurns` → `TROUPE_LIMITS_MAX_TOOL_TURNS`. */
export function variableOf(key: string): string {
  const words = key.replaceAll('.', '_').replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
  return `${prefix}${words.toUpperCase()}`
}

export interface OptionVariables {
  readonly values: AgentOverrides
  readonly diagnostics: readonly ConfigDiagnostic[]
  /** Every value that is wrong. */
  readonly problems: readonly Problem[]
}

/**
 * The options that `TROUPE_*` variables set. An empty one sets nothing; one that is nearly the name of an option is told.
 * `others` are names with a meaning of their own.
 */
export function readOptionVariables(environment: Environment, others: readonly string[] = []): OptionVariables {
  const values = new Map<AgentOptionKey, { readonly value: unknown; readonly place: string }>()
  const problems: Problem[] = []
  const known = new Map(defaultKeys.map((key) => [variableOf(key), key as AgentOptionKey]))
  const diagnostics: ConfigDiagnostic[] = []
  for (const name of Object.keys(environment).filter((each) => each.startsWith(prefix))) {
    const key = known.get(name)
    const written = environment[name]?.trim() ?? ''
    if (key === undefined) diagnostics.push(...unusedVariable(name, [...known.keys()], others))
    else if (written !== '') {
      const read = readWritten(key, written)
      if (read.ok) values.set(key, { value: read.value, place: name })
      else problems.push(...read.messages.map((message) => ({ place: name, message, remedy: likeThis(name, agentOptions[key]) })))
    }
  }
  return { values, diagnostics, problems }
}

type Written = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly messages: readonly string[] }

function readWritten(key: AgentOptionKey, text: string): Written {
  const node = nodeOf(text)
  if (typeof node === 'string') return { ok: false, messages: [`the value cannot be read: ${node}`] }
  const read = readValue(key, agentOptions[key], node)
  return read.ok ? read : { ok: false, messages: read.faults.map(({ message }) => message) }
}

/** The node, or why there is none. Values are written as they are in an agent file. */
function nodeOf(text: string): Node | null | string {
  if (text.length > maxValueLength) return `it is longer than ${maxValueLength} characters`
  try {
    const { contents, errors, warnings } = parseDocument<Node>(text, { prettyErrors: false, logLevel: 'error' })
    return [...errors, ...warnings][0]?.message.split('\n', 1)[0] ?? contents
  } catch (error) {
    return messageOf(error)
  }
}

function unusedVariable(name: string, known: readonly string[], others: readonly string[]): readonly ConfigDiagnostic[] {
  const near = nearestNames(
    name.slice(prefix.length),
    known.map((each) => each.slice(prefix.length)),
  )
  if (others.includes(name)) return []
  // Whoever believes that it sets a limit has none.
  const meant = near.map((each) => `${prefix}${each}`).join(', ')
  const remedy = near.length > 0 ? `Did you mean ${meant}?` : `They are named after the options, like ${known[0]}.`
  return [{ code: 'variable_unused', severity: 'warning', place: name, message: 'no option has this variable', remedy }]
}

const likeThis = (name: string, { example }: AgentOption): string => `Write it like ${name}='${example}'.`
