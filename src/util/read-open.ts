/** What of `node:fs` is used: helpers know no host. */
export interface ReadSync {
  readSync(file: number, bytes: Uint8Array, offset: number, length: number, position: null): number
}

/** Some files of the system are read in whole pages only. */
const page = 4_096
const wholePages = (length: number): number => Math.ceil(length / page) * page

/**
 * What an open file holds. Beyond `maxBytes` no more than the rest of a page, which tells that there is more. What the system makes up
 * while it is read says that it has no size, and may have no end: `expectedBytes` is only where to begin.
 */
export function readOpenFile(
  fs: ReadSync,
  file: number,
  { maxBytes, expectedBytes }: { readonly maxBytes: number; readonly expectedBytes: number },
): Uint8Array {
  let bytes = new Uint8Array(wholePages(Math.min(maxBytes, expectedBytes) + 1))
  let filled = 0
  for (;;) {
    const read = fs.readSync(file, bytes, filled, bytes.length - filled, null)
    filled += read
    if (read === 0 || filled > maxBytes) return bytes.subarray(0, filled)
    if (filled === bytes.length) {
      const larger = new Uint8Array(Math.min(wholePages(maxBytes + 1), bytes.length * 2))
      larger.set(bytes)
      bytes = larger
    }
  }
}
