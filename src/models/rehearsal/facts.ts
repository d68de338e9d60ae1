import type { Json, JsonObject } from '../../contracts/index.ts'
import type { Parameter } from './parameters.ts'
import { nameWords, readWords, type WordKind } from './words.ts'

// What results say, by name. Results only ever fill arguments and answers; they never choose a tool.

/** The JSON that a result is, if it is JSON. */
export function jsonOf(result: string): Json | undefined {
  if (!/^\s*[[{]/.test(result)) return undefined
  try {
    return JSON.parse(result) as Json
  } catch {
    return undefined
  }
}

const sameName = (name: string): string => nameWords(name).join('')

const mostNodes = 5_000

/** Every named value in the JSON, the outermost first. */
export function namedValues(json: Json): readonly (readonly [name: string, value: Json])[] {
  const found: [string, Json][] = []
  const waiting: Json[] = [json]
  for (let at = 0; at < waiting.length && at < mostNodes; at++) {
    const value = waiting[at]
    if (Array.isArray(value)) waiting.push(...(value as readonly Json[]).slice(0, 100))
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value as JsonObject)) {
        if (inner === undefined) continue
        found.push([sameName(name), inner])
        waiting.push(inner)
      }
    }
  }
  return found
}

/** What a result has under the parameter's name, or in the form that it wants: an address, a path. */
export function factIn(result: string, parameter: Parameter): Json | undefined {
  const json = jsonOf(result)
  if (json !== undefined) {
    const wanted = sameName(parameter.name)
    const named = namedValues(json).find(([name, value]) => name === wanted && isOfType(value, parameter.type))
    if (named) return named[1]
  }
  const kind = formOf(parameter)
  if (kind === undefined || parameter.type !== 'string') return undefined
  return readWords(result).find((word) => word.kind === kind)?.text
}

export function isOfType(value: Json, type: Parameter['type']): boolean {
  switch (type) {
    case 'any':
      return true
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function formOf({ role }: Parameter): WordKind | undefined {
  if (role === 'recipient' || role === 'person') return 'email'
  if (role === 'path' || role === 'url') return role
  return undefined
}
