/** What of `node:fs` is used: helpers know no host. */
export interface Reading {
  readSync(file: number, bytes: Uint8Array, offset: number, length: number, position: null): number
}

/** Some files of the system are read in whole pages only. */
const page = 4_096
const wholePages = (length: number): number => Math.ceil(length / page) * page

/**
 * What an open file holds. Beyond `most` no more than the rest of a page, which tells that there is more. What the system makes up
 * while it is read says that it has no size, and may have no end: `likely` is only where to begin.
 */
export function readOpen(fs: Reading, file: number, { most, likely }: { readonly most: number; readonly likely: number }): Uint8Array {
  let bytes = new Uint8Array(wholePages(Math.min(most, likely) + 1))
  let filled = 0
  for (;;) {
    const read = fs.readSync(file, bytes, filled, bytes.length - filled, null)
    filled += read
    if (read === 0 || filled > most) return bytes.subarray(0, filled)
    if (filled === bytes.length) {
      const larger = new Uint8Array(Math.min(wholePages(most + 1), bytes.length * 2))
      larger.set(bytes)
      bytes = larger
    }
  }
}
