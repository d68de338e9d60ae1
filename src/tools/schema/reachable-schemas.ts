import type { JsonSchema } from '../../contracts/index.ts'

/** Every object in a schema and in what it refers to. Errors name the object they come from, so this tells whose they are. */
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

/** What a reference within the root points to; `undefined` for anchors, ids and what is not there. */
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
