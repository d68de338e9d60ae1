import type { Json } from '../contracts/index.ts'

// A half of a surrogate pair is no text: providers refuse it, and UTF-8 cannot hold it. Each half becomes U+FFFD where text
// comes in, before it enters the history or the journal.

export const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed())

/** The beginning of a text, which may end inside a pair. */
export const cutText = (text: string, most: number): string => (text.length <= most ? text : wellFormed(text.slice(0, most)))

/** JSON text whose values are well formed, too: a half may be there as an escape (`"\ud800"`), which the text does not show. */
export function wellFormedJson(json: string): string {
  const text = wellFormed(json)
  return text.includes('\\u') ? text.replaceAll(surrogates, (found) => (found.length === halfLength ? '\\ufffd' : found)) : text
}

/** Escaped backslashes and whole pairs are found first, so that what is left is a half. */
const surrogates = /\\\\|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}/g
const halfLength = 6

export const parseWellFormed = (json: string): Json => JSON.parse(wellFormedJson(json)) as Json
