import type { Json, JsonObject } from '../contracts/index.ts'
import { parseJsonObject } from './json-object.ts'

/** A copy that somebody may change without changing what is on record. */
export function copyJson(value: JsonObject): JsonObject {
  // As a whole first: most of what it has are plain values, and need nothing more.
  const copy: Record<string, Json | undefined> = { ...value }
  for (const key in copy) {
    const inside = copy[key]
    if (isPlain(inside)) continue
    // Defined, not assigned: a key called `__proto__` is a key like any other.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: copyOf(inside) })
    else copy[key] = copyOf(inside)
  }
  return copy
}

type Compound = JsonObject | readonly Json[]

const isPlain = (value: Json | undefined): value is Exclude<Json | undefined, Compound> => typeof value !== 'object' || value === null
const copyOf = (value: Compound): Json =>
  Array.isArray(value) ? value.map((each: Json) => (isPlain(each) ? each : copyOf(each))) : copyJson(value as JsonObject)

/** A value of other people's code as plain JSON, or nothing where it is none. */
export function plainJson(value: unknown): JsonObject | undefined {
  if (value === undefined) return undefined
  try {
    return parseJsonObject(JSON.stringify(value) ?? '')
  } catch {
    return undefined
  }
}
