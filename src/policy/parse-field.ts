import type { Json } from '../contracts/index.ts'
import { type FormField, fieldProblem } from './form-fields.ts'

// What a person types for one field of a form. Pure.

type Parsed =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'wrong'; readonly message: string }

/** An empty text takes the default, or skips an optional field. */
export function parseField(field: FormField, typed: string): Parsed {
  if (typed === '' && field.default !== undefined) return { kind: 'value', value: field.default }
  if (typed === '') return field.isRequired ? { kind: 'wrong', message: 'a value is required' } : { kind: 'skipped' }
  const value = typedValue(field, typed)
  const problem = fieldProblem(field, value)
  const message = problem !== undefined && field.type.kind === 'boolean' ? 'expected yes or no' : problem
  return message === undefined ? { kind: 'value', value } : { kind: 'wrong', message }
}

function typedValue({ type }: FormField, typed: string): Json {
  switch (type.kind) {
    case 'text':
      return typed
    case 'number':
    case 'integer':
      return /^[+-]?[\d.]+(?:e[+-]?\d+)?$/i.test(typed) ? Number(typed) : typed
    case 'boolean':
      return /^(?:y|yes|true)$/i.test(typed) ? true : /^(?:n|no|false)$/i.test(typed) ? false : typed
    case 'choice':
      return chosen(type.choices, typed)
    case 'choices':
      return typed.split(',').map((each) => chosen(type.choices, each.trim()))
    default:
      return type satisfies never
  }
}

type Choices = Extract<FormField['type'], { kind: 'choice' }>['choices']

/** A value, a label, or the number of a choice. */
function chosen(choices: Choices, typed: string): string {
  const named = choices.find(({ value, label }) => value === typed || label === typed)
  return (named ?? (/^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined))?.value ?? typed
}
