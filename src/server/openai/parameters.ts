import { type AgentDescription, type ModelParameters, type ReasoningEffort, reasoningEfforts } from '../../contracts/index.ts'
import { asksNothing, HttpError } from '../http/index.ts'
import { invalid } from './content.ts'

// What happens to each parameter of a request. Parameters that would change the answer are refused. All others that have no effect
// are ignored and named in a header, also those that are not in the table. The tables are also the ones of docs/openai.md.

type ParameterUse =
  /** Translated. */
  | 'used'
  /** Replaces a setting of the agent, if the agent allows it; otherwise like `ignored`. */
  | { readonly overrides: keyof ModelParameters }
  /** Has no effect, and is named in the header `x-troupe-ignored-parameters`. */
  | 'ignored'
  /** 400, unless it has its default. */
  | 'refused'

export interface ParameterRule {
  readonly use: ParameterUse
  /** Values that ask for nothing. Empty ones always do. */
  readonly defaults?: readonly unknown[]
  readonly note: string
}

export type ParameterTable = { readonly [name: string]: ParameterRule }

export interface CheckedParameters {
  readonly parameters: ModelParameters
  /** Names, in the order of the request. */
  readonly ignored: readonly string[]
}

const unknown: ParameterRule = { use: 'ignored', note: '' }

/** Throws 400 with the name of the first parameter that is not supported. */
export function checkParameters(
  body: object,
  { table, agent }: { readonly table: ParameterTable; readonly agent: Pick<AgentDescription, 'overrides' | 'parameters'> },
): CheckedParameters {
  const parameters: Partial<Record<keyof ModelParameters, unknown>> = {}
  const ignored: string[] = []
  for (const [name, value] of Object.entries(body)) {
    const rule = (Object.hasOwn(table, name) ? table[name] : undefined) ?? unknown
    if (rule.use === 'used' || asksNothing(value) || rule.defaults?.includes(value)) continue
    if (rule.use === 'refused') throw unsupported(name, rule.note)
    if (rule.use === 'ignored') ignored.push(name)
    else if (agent.overrides.includes(rule.use.overrides))
      parameters[rule.use.overrides] = rule.use.overrides === 'reasoning' ? effortOf(value, name) : value
    else if (agent.parameters[rule.use.overrides] !== value) ignored.push(name)
  }
  return { parameters: parameters as ModelParameters, ignored }
}

/** Clients add names: one that Troupe does not know matters only where the agent allows it. */
function effortOf(value: unknown, name: string): ReasoningEffort {
  const effort = reasoningEfforts.find((each) => each === (value === 'max' ? 'xhigh' : value))
  if (effort) return effort
  throw invalid(name, `there is no effort ${JSON.stringify(value)}`, `Use ${reasoningEfforts.join(', ')} or max.`)
}

export const unsupported = (name: string, why: string): HttpError =>
  new HttpError('invalid_request', `The parameter "${name}" is not supported. ${why}`, { code: 'unsupported_parameter', parameter: name })

/** The rows of the table in docs/openai.md. */
export function parameterRows(table: ParameterTable): readonly string[] {
  const order = ['used', 'overrides', 'ignored', 'refused']
  const word = ({ use }: ParameterRule): string => (typeof use === 'object' ? 'overrides' : use)
  return Object.entries(table)
    .toSorted(([, a], [, b]) => order.indexOf(word(a)) - order.indexOf(word(b)))
    .map(([name, rule]) => {
      const use = typeof rule.use === 'object' ? `overrides \`${rule.use.overrides}\`` : rule.use
      const defaults = rule.defaults ? ` Passes: ${rule.defaults.map((value) => `\`${JSON.stringify(value)}\``).join(', ')}.` : ''
      return `| \`${name}\` | ${use} | ${rule.note}${defaults} |`
    })
}
