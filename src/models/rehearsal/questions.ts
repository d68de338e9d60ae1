import type { Field } from './fields.ts'
import type { Parameter } from './parameters.ts'

// A question is asked in a form that can be read back from the history: there is no other memory.

export function askFor(tool: string, missing: readonly Field[]): string {
  return `To use ${tool} I need: ${missing.map(describeField).join(', ')}.`
}

const asked = /\bTo use (\S{1,64}) I need: /g

/** The tools that an answer has asked something for. */
export function askedTools(answer: string): readonly string[] {
  return [...answer.slice(-20_000).matchAll(asked)].map((match) => match[1] ?? '')
}

export function describeField({ path, parameter, items }: Field): string {
  const name = path.filter((part) => typeof part === 'string').join('.')
  return `${name} (${items ? `a list: ${describeType(items)}` : describeType(parameter)})`
}

const mostChoices = 8

function describeType({ type, role, schema }: Parameter): string {
  if (Array.isArray(schema.enum)) {
    const choices = schema.enum.slice(0, mostChoices).map(String).join(', ')
    return `one of ${choices}${schema.enum.length > mostChoices ? ', …' : ''}`
  }
  switch (type) {
    case 'integer':
      return `a whole number${range(schema)}`
    case 'number':
      return `a number${range(schema)}`
    case 'boolean':
      return 'yes or no'
    case 'string':
      return textType(role, schema.format)
    case 'array':
      return 'a list'
    default:
      return type === 'object' ? 'several values' : 'text'
  }
}

function textType(role: Parameter['role'], format: unknown): string {
  if (format === 'date') return 'a date such as 2026-05-01'
  if (format === 'date-time') return 'a date and time such as 2026-05-01 14:00'
  if (format === 'email') return 'an e-mail address'
  if (role === 'url') return 'a web address'
  return 'text'
}

function range({ minimum, maximum }: Parameter['schema']): string {
  if (typeof minimum === 'number' && typeof maximum === 'number') return ` from ${minimum} to ${maximum}`
  if (typeof minimum === 'number') return ` of at least ${minimum}`
  return typeof maximum === 'number' ? ` of at most ${maximum}` : ''
}
