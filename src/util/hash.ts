/**
 * A fast 53-bit fingerprint of a text. Tells equal from different; it is no defence against somebody who looks for
 * collisions, so nothing is granted by it alone.
 */
function fingerprint(text: string): number {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 2654435761)
    b = Math.imul(b ^ unit, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (b & 0x1fffff) * 0x100000000 + (a >>> 0)
}

/** The fingerprint as letters and digits. */
export const shortHash = (text: string): string => fingerprint(text).toString(36).padStart(11, '0')

/** A number in [0, 1) that depends on the text alone. */
export const seededFraction = (text: string): number => fingerprint(text) / 2 ** 53
