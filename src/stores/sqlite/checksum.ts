import { crc32 } from 'node:zlib'

/** Detects damage, not manipulation. It covers the text and its place. */
export function checksumOf(place: string, seq: number, text: string | Uint8Array): number {
  return crc32(text, crc32(`${seq} ${place}\n`))
}
