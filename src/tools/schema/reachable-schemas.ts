import type { JsonSchema } from '../../contracts/index.ts'

/** Every object in a schema and in its references: errors name the object that they come from. */
export function reachableSchemas(schema: unknown, root: JsonSchema): ReadonlySet<unknown> {
  const reached = new Set<unknown>()
  const waiting = [schema]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null || reached.has(next)) continue
    reached.add(next)
    waiting.push(...Object.values(next))
    if ('$ref' in next) waiting.push(resolveReference(next.$ref, root))
  }
  return reached
}

/** The target of a reference within the root; undefined for anchors, ids and missing targets. */
export function resolveReference(reference: unknown, root: JsonSchema): unknown {
  if (typeof reference !== 'string' || (reference !== '#' && !reference.startsWith('#/'))) return undefined
  let at: unknown = root
  for (const part of reference.split('/').slice(1)) {
    const key = unescaped(part)
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as JsonSchema)[key]
  }
  return at
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}

const lists = ['allOf', 'anyOf', 'oneOf']
const single = ['if', 'then', 'else']

/** The properties that a schema names for one object: its own, and those of the schemas that it combines. */
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
