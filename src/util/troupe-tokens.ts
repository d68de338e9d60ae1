// Tokens of `troupe serve`: `trp_NAME_SECRET`. People paste them; a runtime knows their form, not their values.

const start = 'trp_'
const name = '[a-z0-9][a-z0-9.-]{0,62}'
const secretLength = 32
const token = new RegExp(`${start}${name}_[\\w-]{${secretLength}}`, 'g')
/** Not in a word, unless its letter belongs to an escape such as `\\n` in JSON. */
const wordStart = '(?<!(?<!\\\\)[A-Za-z0-9])'
const beginning = new RegExp(`(?:${start}(?:${name}(?:_[\\w-]{0,${secretLength - 1}})?)?|${wordStart}t(?:rp?)?)$`)

export const shortestToken = start.length + 2 + secretLength
export const longestToken = start.length + 64 + secretLength

interface Place {
  readonly start: number
  readonly end: number
}

const none: readonly Place[] = []

export const tokensIn = (text: string): readonly Place[] =>
  text.includes(start) ? [...text.matchAll(token)].map(({ index, 0: { length } }) => ({ start: index, end: index + length })) : none

/** How many characters at the end of a text may be the beginning of a token. Words such as `start` are not held back. */
export function tokenBegins(text: string): number {
  // Called for every piece of every text.
  const isPossible = text.includes(start) || text.endsWith('t') || text.endsWith('tr') || text.endsWith('trp')
  return isPossible ? (beginning.exec(text.slice(-longestToken - 2))?.[0].length ?? 0) : 0
}
