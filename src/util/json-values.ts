import type { Json, JsonObject } from '../contracts/index.ts'
import { isRecord } from './is-record.ts'
import { parseWellFormed } from './well-formed.ts'

/** The object in a JSON text; `undefined` if it is not one. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = parseWellFormed(text)
    return isRecord(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

/** JSON with sorted keys: equal values give equal texts. */
export function canonicalJson(value: Json | undefined): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}

/** Whether two values are equal, in any order of keys. */
export function isSameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [a, b] = [one, other] as { readonly [key: string]: Json }[]
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key) && isSameJson(a?.[key], b?.[key]))
}

/** A deep copy. */
export function copyJson(value: JsonObject): JsonObject {
  // A shallow copy first: most values need nothing more.
  const copy: Record<string, Json | undefined> = { ...value }
  for (const key in copy) {
    const inside = copy[key]
    if (isPlain(inside)) continue
    // Defined, not assigned: `__proto__` is a key like any other.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: copyOf(inside) })
    else copy[key] = copyOf(inside)
  }
  return copy
}

type Compound = JsonObject | readonly Json[]

const isPlain = (value: Json | undefined): value is Exclude<Json | undefined, Compound> => typeof value !== 'object' || value === null
const copyOf = (value: Compound): Json =>
  Array.isArray(value) ? value.map((each: Json) => (isPlain(each) ? each : copyOf(each))) : copyJson(value as JsonObject)

/** Any value as a plain JSON object; `undefined` if it is not one. */
export function plainJson(value: unknown): JsonObject | undefined {
  if (value === undefined) return undefined
  try {
    return parseJsonObject(JSON.stringify(value) ?? '')
  } catch {
    return undefined
  }
}

/** Whether two plain objects have the same JSON. The order of keys does not matter; mostly it is the same. */
export const haveSameJson = (a: object, b: object): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b) || isSameJson(plainJson({ a }), plainJson({ a: b }))
