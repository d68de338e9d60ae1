/**
 * Databases store text as UTF-8, which has no lone surrogates: two different ids could become equal. Some of them also refuse NUL. A
 * string with one of these is stored as JSON; the leading quote marks it.
 */
export function encodeText(text: string): string {
  return text.isWellFormed() && !text.includes('\0') && !text.startsWith('"') ? text : JSON.stringify(text)
}

export function decodeText(stored: string): string {
  return stored.startsWith('"') ? (JSON.parse(stored) as string) : stored
}
