import type { InputContract, JsonObject } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'

// Agents with a JSON input. The server checks the whole schema; here people see early what is expected. Pure.

/** Why a text cannot be the input; `undefined` if it can. */
export function jsonInputProblem(text: string, input: InputContract): string | undefined {
  if (input.format !== 'json') return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : 'it cannot be read'}.`
  }
  const { schema } = input
  if (schema.type !== 'object') return undefined
  if (!isPlainObject(value)) return 'Expected a JSON object.'
  const missing = requiredOf(schema).filter((name) => !Object.hasOwn(value, name))
  return missing.length > 0 ? `Missing: ${missing.join(', ')}.` : undefined
}

const requiredOf = ({ required }: JsonObject): readonly string[] =>
  Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []

/** `{ "city": string, "nights"?: integer }`. */
export function expectedInput(schema: JsonObject): string {
  if (!isPlainObject(schema.properties)) return typeof schema.type === 'string' ? schema.type : 'JSON'
  const fields = Object.entries(schema.properties).map(([name, field]) => {
    const type = isPlainObject(field) && typeof field.type === 'string' ? field.type : 'any'
    return `${JSON.stringify(name)}${requiredOf(schema).includes(name) ? '' : '?'}: ${type}`
  })
  return fields.length > 0 ? `{ ${fields.join(', ')} }` : '{}'
}
