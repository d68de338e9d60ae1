import type { JsonObject } from '../contracts/index.ts'
import { parseWellFormed } from './well-formed.ts'

/** The object that a text is the JSON of, if it is that of one. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = parseWellFormed(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}
