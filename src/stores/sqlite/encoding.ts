import { crc32 } from 'node:zlib'

/**
 * SQLite stores text as UTF-8, which has no lone surrogates: two different ids could become equal. A string with one is stored
 * as JSON; the leading quote marks it.
 */
export function encodeText(text: string): string {
  return text.isWellFormed() && !text.startsWith('"') ? text : JSON.stringify(text)
}

export function decodeText(stored: string): string {
  return stored.startsWith('"') ? (JSON.parse(stored) as string) : stored
}

/** Detects damage, not manipulation. It covers the text and its place. */
export function checksumOf(place: string, seq: number, text: string | Uint8Array): number {
  return crc32(text, crc32(`${seq} ${place}\n`))
}
