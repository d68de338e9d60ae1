import type { Json, JsonObject } from '../contracts/index.ts'
import { parseJsonObject } from './json-object.ts'

/** A copy that somebody may change without changing what is on record. */
export function copyJson(value: JsonObject): JsonObject {
  const copy: Record<string, Json | undefined> = {}
  // Defined, not assigned: a key called `__proto__` is a key like any other.
  for (const key of Object.keys(value)) {
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: inner(value[key]), enumerable: true, configurable: true, writable: true })
    else copy[key] = inner(value[key])
  }
  return copy
}

function inner(value: Json | undefined): Json | undefined {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? value.map((each: Json) => inner(each) as Json) : copyJson(value as JsonObject)
}

/** A value of other people's code as plain JSON, or nothing where it is none. */
export function plainJson(value: unknown): JsonObject | undefined {
  if (value === undefined) return undefined
  try {
    return parseJsonObject(JSON.stringify(value) ?? '')
  } catch {
    return undefined
  }
}
