/** JSON on one line that says the same and cannot steer a terminal: JSON itself leaves some characters as they are that could. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => character.split('').map(escaped).join(''))
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
