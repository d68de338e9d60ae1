import type { MaybePromise } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'

const longestText = 1_000_000
// The library goes back to the start of a text at every quote that it finds in it: a megabyte of quotes would hold
// the process for minutes. This keeps it well below a second.
const mostWork = 1_000_000_000

/** JSON has no value for these. */
const notNumbers = /[:[,]\s*[+-]?(?:NaN|Infinity)\b/

let jsonrepair: ((text: string) => string) | undefined

/** Repairs invalid JSON of a model, but never truncated JSON. Returns the text of one JSON object, or `undefined`. */
export function repairJson(text: string): MaybePromise<string | undefined> {
  if (text.length > longestText) return undefined
  const bare = withoutFence(text.trim())
  if (bare === '') return undefined
  const whole = asObject(bare)
  if (whole !== undefined) return whole
  if (isTruncated(bare) || notNumbers.test(bare)) return undefined
  if (bare.length * count(bare, quotes) > mostWork) return undefined
  if (jsonrepair !== undefined) return repaired(jsonrepair, bare)
  return import('jsonrepair').then((loaded) => {
    jsonrepair = loaded.jsonrepair
    return repaired(jsonrepair, bare)
  })
}

function repaired(repair: (text: string) => string, text: string): string | undefined {
  try {
    return asObject(repair(text))
  } catch {
    // It cannot be repaired, or is nested deeper than the stack.
    return undefined
  }
}

/** The text if it is a JSON object; its content if it is a JSON string that contains one. */
function asObject(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'string') return isRecord(JSON.parse(value)) ? value : undefined
    return isRecord(value) ? text : undefined
  } catch {
    return undefined
  }
}

/** The text between code fences that are outside the JSON; the closing one may be missing. */
function withoutFence(text: string): string {
  const open = text.indexOf('```')
  const brace = text.indexOf('{')
  if (open < 0 || (brace >= 0 && brace < open)) return text
  const start = text.indexOf('\n', open)
  const body = start < 0 ? text.slice(open + 3).replace(/^[a-z]+/i, '') : text.slice(start + 1)
  const close = body.lastIndexOf('```')
  return (close < 0 ? body : body.slice(0, close)).trim()
}

/** All that the library takes for a quote. */
const quotes = '"\'`\u00b4\u2018\u2019\u201a\u201b\u201c\u201d'

/**
 * Whether JSON text may be truncated, by its brackets and quotes. If in doubt it is, because a call made of half a text
 * does something that was not requested.
 */
function isTruncated(text: string): boolean {
  if (!/[}\]]\s*$/.test(text)) return true
  if (count(text, '{') !== count(text, '}') || count(text, '[') !== count(text, ']')) return true
  return count(text, '"') % 2 === 1 || (!text.includes('"') && count(text, "'") % 2 === 1)
}

/** How often one of the wanted letters occurs, without those after a backslash. */
function count(text: string, wanted: string): number {
  let found = 0
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (wanted.includes(text[index] ?? '\0')) found++
  }
  return found
}
