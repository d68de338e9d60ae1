import type { Json } from '../contracts/index.ts'

// Providers and UTF-8 do not accept a lone surrogate. Each becomes U+FFFD before a text enters the history or the journal.

export const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed())

/** The start of a text; a cut inside of a surrogate pair is repaired. */
export const cutText = (text: string, most: number): string => (text.length <= most ? text : wellFormed(text.slice(0, most)))

/** JSON text whose values are well formed, too: a lone surrogate may be escaped (`"\ud800"`). */
export function wellFormedJson(json: string): string {
  const text = wellFormed(json)
  return text.includes('\\u') ? text.replaceAll(surrogates, (found) => (found.length === halfLength ? '\\ufffd' : found)) : text
}

/** Matches escaped backslashes and pairs first, so that the last alternative is a lone surrogate. */
const surrogates = /\\\\|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}/g
const halfLength = 6

export const parseWellFormed = (json: string): Json => JSON.parse(wellFormedJson(json)) as Json
