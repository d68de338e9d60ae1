/** A fast 53-bit hash. Not collision-resistant: nothing may be granted by it alone. */
function hash53(text: string): number {
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

export const shortHash = (text: string): string => hash53(text).toString(36).padStart(11, '0')

/** A number in [0, 1) that depends on the text alone. */
export const seededFraction = (text: string): number => hash53(text) / 2 ** 53
