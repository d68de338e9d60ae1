/** JSON on one line without characters that could control a terminal: JSON itself does not escape all of them. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => character.split('').map(escaped).join(''))
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
