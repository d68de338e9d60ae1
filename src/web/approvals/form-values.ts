import type { Json, JsonObject } from '../../contracts/index.ts'
import { type FormField, fieldProblem } from '../../policy/form-fields.ts'

// What a person has entered into a form, and what it means. Pure.

/** Texts as they were typed; checked or not; the choices that were checked. */
export type EnteredValue = string | boolean | readonly string[]
interface EnteredValues {
  readonly [field: string]: EnteredValue
}

export const presetValues = (fields: readonly FormField[]): EnteredValues =>
  Object.fromEntries(fields.map((field) => [field.name, presetOf(field)]))

function presetOf({ type, default: preset }: FormField): EnteredValue {
  if (type.kind === 'boolean') return preset === true
  if (type.kind === 'choices') return Array.isArray(preset) ? (preset as readonly string[]) : []
  return preset === undefined ? '' : String(preset)
}

type FilledForm =
  | { readonly kind: 'content'; readonly content: JsonObject }
  | { readonly kind: 'problems'; readonly problems: { readonly [field: string]: string } }

/** An empty field is left out unless it is required. */
export function fillForm(fields: readonly FormField[], entered: EnteredValues): FilledForm {
  const content: [string, Json][] = []
  const problems: [string, string][] = []
  for (const field of fields) {
    const value = enteredJson(field, entered[field.name])
    const isEmpty = value === '' || (Array.isArray(value) && value.length === 0)
    if (isEmpty && !field.isRequired) continue
    const problem = value === '' ? 'a value is required' : fieldProblem(field, value)
    if (problem === undefined) content.push([field.name, value])
    else problems.push([field.name, `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`])
  }
  return problems.length > 0
    ? { kind: 'problems', problems: Object.fromEntries(problems) }
    : { kind: 'content', content: Object.fromEntries(content) }
}

function enteredJson({ type }: FormField, entered: EnteredValue = ''): Json {
  if (type.kind !== 'number' && type.kind !== 'integer') return entered
  const typed = String(entered).trim()
  return typed === '' || Number.isNaN(Number(typed)) ? typed : Number(typed)
}
