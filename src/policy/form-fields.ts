// The form of a question: a flat object schema, as in MCP elicitation. Its fields, and whether an answer fits. Pure.
import type { Json, JsonSchema } from '../contracts/index.ts'
import { isPlainObject } from '../util/json-schema/schema-values.ts'

export interface FormField {
  readonly name: string
  readonly title: string
  readonly description?: string
  readonly isRequired: boolean
  readonly default?: Json
  readonly type: FieldType
}

interface FieldChoice {
  readonly value: string
  readonly label: string
}

interface Bounds {
  readonly least?: number
  readonly most?: number
}

/** Bounds are of the length of a text, of a number, or of the number of choices. */
type FieldType =
  | ({ readonly kind: 'text'; readonly format?: TextFormat } & Bounds)
  | ({ readonly kind: 'number' | 'integer' } & Bounds)
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly choices: readonly FieldChoice[] }
  | ({ readonly kind: 'choices'; readonly choices: readonly FieldChoice[] } & Bounds)

const formats = {
  email: { is: (text: string) => /^[^\s@]+@[^\s@]+$/.test(text), expected: 'an email address' },
  uri: { is: (text: string) => URL.parse(text) !== null, expected: 'a URI such as https://example.com' },
  date: { is: (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && isDate(text), expected: 'a date such as 2026-01-31' },
  'date-time': {
    is: (text: string) => /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d/.test(text) && isDate(text),
    expected: 'a time such as 2026-01-31T12:00:00Z',
  },
} as const
type TextFormat = keyof typeof formats
const isDate = (text: string): boolean => !Number.isNaN(Date.parse(text))

const maxFields = 50
const maxChoices = 200

/** @throws Error with the place that is wrong. */
export function formFields(form: JsonSchema): readonly FormField[] {
  const { type, properties, required } = form
  if (type !== 'object' || !isPlainObject(properties)) throw new Error('form: expected { type: "object", properties: { … } }')
  const names = Object.keys(properties)
  if (names.length > maxFields) throw new Error(`form: expected at most ${maxFields} fields, found ${names.length}`)
  return names.map((name) => {
    const schema = properties[name]
    const place = `form.properties.${name}`
    const kind = isPlainObject(schema) ? typeOf(schema, place) : undefined
    if (!isPlainObject(schema) || !kind) throw new Error(`${place}: expected a string, number, integer, boolean, or a list of choices`)
    const { title, description, default: preset } = schema
    const field: FormField = {
      name,
      title: typeof title === 'string' && title.trim() !== '' ? title : name,
      ...(typeof description === 'string' && { description }),
      isRequired: Array.isArray(required) && required.includes(name),
      type: kind,
    }
    return preset !== undefined && fieldProblem(field, preset) === undefined ? { ...field, default: preset as Json } : field
  })
}

function typeOf(schema: JsonSchema, place: string): FieldType | undefined {
  switch (schema.type) {
    case 'string': {
      const choices = choicesOf(schema.enum, schema.enumNames) ?? titledChoices(schema.oneOf)
      if (choices) return { kind: 'choice', choices: checkedChoices(choices, place) }
      const { format } = schema
      const known = typeof format === 'string' && Object.hasOwn(formats, format) ? { format: format as TextFormat } : {}
      return { kind: 'text', ...known, ...bounds(schema.minLength, schema.maxLength) }
    }
    case 'number':
    case 'integer':
      return { kind: schema.type, ...bounds(schema.minimum, schema.maximum) }
    case 'boolean':
      return { kind: 'boolean' }
    case 'array': {
      const { items } = schema
      const choices = isPlainObject(items) ? (choicesOf(items.enum, undefined) ?? titledChoices(items.anyOf)) : undefined
      return choices && { kind: 'choices', choices: checkedChoices(choices, place), ...bounds(schema.minItems, schema.maxItems) }
    }
    default:
      return undefined
  }
}

function choicesOf(values: unknown, names: unknown): readonly FieldChoice[] | undefined {
  if (!Array.isArray(values)) return undefined
  const labels: readonly unknown[] = Array.isArray(names) ? names : []
  return values.map((value, index) => ({ value: String(value), label: typeof labels[index] === 'string' ? labels[index] : String(value) }))
}

function titledChoices(options: unknown): readonly FieldChoice[] | undefined {
  if (!Array.isArray(options) || options.length === 0 || !options.every((each) => isPlainObject(each) && typeof each.const === 'string'))
    return undefined
  return options.map(({ const: value, title }) => ({ value, label: typeof title === 'string' ? title : value }))
}

function checkedChoices(choices: readonly FieldChoice[], place: string): readonly FieldChoice[] {
  if (choices.length > 0 && choices.length <= maxChoices) return choices
  throw new Error(`${place}: expected 1 to ${maxChoices} choices, found ${choices.length}`)
}

const bounds = (least: unknown, most: unknown): Bounds => ({
  ...(typeof least === 'number' && { least }),
  ...(typeof most === 'number' && { most }),
})

/** Why the content does not fit the form. */
export function contentProblem(form: JsonSchema, content: unknown): string | undefined {
  if (!isPlainObject(content)) return 'its content is not an object with the fields of the form'
  const fields = formFields(form)
  const unknown = Object.keys(content).find((name) => !fields.some((field) => field.name === name))
  if (unknown !== undefined) return `the form has no field ${JSON.stringify(unknown)}`
  for (const field of fields) {
    const value = Object.hasOwn(content, field.name) ? content[field.name] : undefined
    if (value === undefined && !field.isRequired) continue
    const problem = value === undefined ? 'a value is required' : fieldProblem(field, value)
    if (problem !== undefined) return `${JSON.stringify(field.name)}: ${problem}`
  }
  return undefined
}

/** Why a value does not fit a field. */
export function fieldProblem({ type }: FormField, value: unknown): string | undefined {
  switch (type.kind) {
    case 'text': {
      if (typeof value !== 'string') return 'expected a text'
      const format = type.format && formats[type.format]
      if (format && !format.is(value)) return `expected ${format.expected}`
      return boundsProblem([...value].length, type, 'characters')
    }
    case 'number':
    case 'integer':
      if (typeof value !== 'number' || !Number.isFinite(value) || (type.kind === 'integer' && !Number.isInteger(value)))
        return type.kind === 'integer' ? 'expected an integer' : 'expected a number'
      return boundsProblem(value, type, '')
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'expected true or false'
    case 'choice':
      return isChoice(type.choices, value) ? undefined : `expected one of ${listOf(type.choices)}`
    case 'choices':
      if (!Array.isArray(value) || !value.every((each) => isChoice(type.choices, each)))
        return `expected a list with some of ${listOf(type.choices)}`
      return new Set(value).size < value.length ? 'expected each choice once' : boundsProblem(value.length, type, 'choices')
    default:
      return type satisfies never
  }
}

const isChoice = (choices: readonly FieldChoice[], value: unknown): boolean => choices.some((each) => each.value === value)
const listOf = (choices: readonly FieldChoice[]): string => choices.map(({ value }) => value).join(', ')

function boundsProblem(size: number, { least, most }: Bounds, unit: string): string | undefined {
  const text = (bound: number): string => (unit === '' ? `${bound}` : `${bound} ${unit}`)
  if (least !== undefined && size < least) return `expected at least ${text(least)}`
  return most !== undefined && size > most ? `expected at most ${text(most)}` : undefined
}
