import type { JsonSchema } from '../../contracts/index.ts'
import { resolveReference } from './reachable-schemas.ts'

const lists = ['allOf', 'anyOf', 'oneOf']
const single = ['if', 'then', 'else']

/** The properties that a schema names for one and the same object: its own, and those of the schemas that it is put together from. */
export function propertiesIn(schema: JsonSchema, root: JsonSchema): ReadonlySet<string> {
  const names = new Set<string>()
  const seen = new Set<unknown>()
  const waiting: unknown[] = [schema]
  while (waiting.length > 0) {
    const next = waiting.shift()
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    const part = next as JsonSchema
    for (const name of Object.keys(part.properties ?? {})) names.add(name)
    if ('$ref' in part) waiting.push(resolveReference(part.$ref, root))
    for (const key of lists) if (Array.isArray(part[key])) waiting.push(...part[key])
    for (const key of single) waiting.push(part[key])
    waiting.push(...Object.values(part.dependentSchemas ?? {}))
  }
  return names
}
