import type { JsonObject } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'

/** What an agent with a JSON input expects: `{ "city": string, "nights"?: integer }`. */
export function expectedInput({ properties, required, type }: JsonObject): string {
  if (!isPlainObject(properties)) return typeof type === 'string' ? type : 'JSON'
  const needed = Array.isArray(required) ? required : []
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `${JSON.stringify(name)}${needed.includes(name) ? '' : '?'}: ${isPlainObject(field) && typeof field.type === 'string' ? field.type : 'any'}`,
  )
  return fields.length > 0 ? `{ ${fields.join(', ')} }` : '{}'
}
