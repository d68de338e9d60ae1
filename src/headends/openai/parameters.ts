import type { AgentDescription, ModelParameters } from '../../contracts/index.ts'
import { HttpError } from '../server/index.ts'

// What happens to each parameter of a request. Nothing is ignored silently: a parameter that is not in the table is refused, and one
// that has no effect although it has a value is named in a header. The tables are also the ones of docs/openai.md.

export type ParameterUse =
  /** Translated. */
  | 'used'
  /** Replaces a setting of the agent, if the agent allows it; otherwise like `ignored`. */
  | { readonly overrides: keyof ModelParameters }
  /** Changes nothing that a client could notice. */
  | 'accepted'
  /** Has no effect, and is named in the header `x-troupe-ignored-parameters`. */
  | 'ignored'
  /** 400, unless it has its default. */
  | 'refused'

export interface ParameterRule {
  readonly use: ParameterUse
  /** Values that ask for nothing. `null` always does. */
  readonly defaults?: readonly unknown[]
  readonly note: string
}

export type ParameterTable = { readonly [name: string]: ParameterRule }

export interface CheckedParameters {
  readonly parameters: ModelParameters
  /** Names, in the order of the request. */
  readonly ignored: readonly string[]
}

/** Throws 400 with the name of the first parameter that is unknown or not supported. */
export function checkParameters(
  body: object,
  { table, agent }: { readonly table: ParameterTable; readonly agent: Pick<AgentDescription, 'overrides' | 'parameters'> },
): CheckedParameters {
  const parameters: Partial<Record<keyof ModelParameters, unknown>> = {}
  const ignored: string[] = []
  for (const [name, value] of Object.entries(body)) {
    if (value === null || value === undefined) continue
    const rule = Object.hasOwn(table, name) ? table[name] : undefined
    if (!rule) throw unknownParameter(name)
    if (rule.use === 'used' || rule.use === 'accepted' || isDefault(value, rule)) continue
    if (rule.use === 'refused') throw unsupported(name, rule.note)
    if (rule.use === 'ignored') ignored.push(name)
    else if (agent.overrides.includes(rule.use.overrides)) parameters[rule.use.overrides] = value
    else if (agent.parameters[rule.use.overrides] !== value) ignored.push(name)
  }
  return { parameters: parameters as ModelParameters, ignored }
}

export const unsupported = (name: string, why: string): HttpError =>
  new HttpError('invalid_request', `The parameter "${name}" is not supported. ${why}`, { code: 'unsupported_parameter', parameter: name })

const unknownParameter = (name: string): HttpError =>
  new HttpError('invalid_request', `Unknown parameter: "${name}".`, {
    code: 'unknown_parameter',
    parameter: name,
    remedy: 'Leave it out: it would have no effect.',
  })

/** Empty lists, objects and texts ask for nothing. */
function isDefault(value: unknown, { defaults = [] }: ParameterRule): boolean {
  if (value === '' || defaults.includes(value)) return true
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** The rows of the table in docs/openai.md. */
export function parameterRows(table: ParameterTable): readonly string[] {
  const order = ['used', 'overrides', 'accepted', 'ignored', 'refused']
  const word = ({ use }: ParameterRule): string => (typeof use === 'object' ? 'overrides' : use)
  return Object.entries(table)
    .toSorted(([, a], [, b]) => order.indexOf(word(a)) - order.indexOf(word(b)))
    .map(([name, rule]) => {
      const use = typeof rule.use === 'object' ? `overrides \`${rule.use.overrides}\`` : rule.use
      const defaults = rule.defaults ? ` Passes: ${rule.defaults.map((value) => `\`${JSON.stringify(value)}\``).join(', ')}.` : ''
      return `| \`${name}\` | ${use} | ${rule.note}${defaults} |`
    })
}
