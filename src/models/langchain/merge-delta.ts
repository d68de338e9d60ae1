import type { Json, JsonObject } from '../../contracts/index.ts'
import { isFields } from '../shared/index.ts'

/** Names, not texts: a later one is not the rest of an earlier one. */
const whole = new Set(['id', 'type', 'index', 'name'])

/** Puts the next piece of an object behind what has come of it: texts grow, list items find each other by their `index`. */
export function mergeDelta(left: JsonObject, right: JsonObject): JsonObject {
  const merged: Record<string, Json | undefined> = { ...left }
  for (const [key, value] of Object.entries(right)) {
    const known = merged[key]
    if (value === undefined || value === null) continue
    merged[key] = known === undefined || known === null || whole.has(key) ? value : mergeValues(known, value)
  }
  return merged
}

function mergeValues(left: Json, right: Json): Json {
  if (typeof left === 'string' && typeof right === 'string') return left + right
  if (Array.isArray(left) && Array.isArray(right)) return mergeLists(left, right)
  return isObject(left) && isObject(right) ? mergeDelta(left, right) : right
}

function mergeLists(left: readonly Json[], right: readonly Json[]): readonly Json[] {
  const merged = [...left]
  for (const item of right) {
    const index = isObject(item) && item.index !== undefined ? item.index : undefined
    const place = index === undefined ? -1 : merged.findIndex((known) => isObject(known) && known.index === index)
    const known = merged[place]
    if (isObject(known) && isObject(item)) merged[place] = mergeDelta(known, item)
    else merged.push(item)
  }
  return merged
}

const isObject = (value: Json | undefined): value is JsonObject => isFields(value)
