/**
 * SQLite keeps text as UTF-8, which has no lone surrogates: two ids that differ would become one. Such a
 * string is kept as a JSON string instead; a leading quote tells the two forms apart.
 */
export function encodeText(text: string): string {
  return text.isWellFormed() && !text.startsWith('"') ? text : JSON.stringify(text)
}

export function decodeText(stored: string): string {
  return stored.startsWith('"') ? (JSON.parse(stored) as string) : stored
}
