import { crc32 } from 'node:zlib'

/** Tells damage, not intent: what a text was stored as, and where. */
export function checksumOf(place: string, seq: number, text: string | Uint8Array): number {
  return crc32(text, crc32(`${seq} ${place}\n`))
}
