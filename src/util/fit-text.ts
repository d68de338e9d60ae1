import { groupDigits } from './group-digits.ts'
/** In bytes; a lone surrogate has the length of U+FFFD. Counting stops beyond `limit`: the result is then some larger number. */
export function utf8Length(text: string, limit = Number.POSITIVE_INFINITY): number {
  if (text.length > limit) return text.length
  // Most texts are ASCII: a search for the first other character is faster than a loop.
  const first = text.search(beyondAscii)
  if (first < 0) return text.length
  let bytes = text.length
  for (let index = first; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else if (isPairAt(text, index)) {
      // Four bytes; the two units are counted already.
      bytes += 2
      index++
    } else bytes += 2
    if (bytes > limit) return bytes
  }
  return bytes
}

const beyondAscii = /[\u0080-\uffff]/

/** Start and end, and a line that says how to read the rest. `maxBytes` must have room for it: 512 for a `handle` of up to 200. */
export function fitText(text: string, { maxBytes, handle }: { readonly maxBytes: number; readonly handle: string }): string {
  if (utf8Length(text, maxBytes) <= maxBytes) return text
  const total = utf8Length(text)
  const room = Math.max(0, maxBytes - utf8Length(notice({ left: total, total, handle })) - 2)
  const headEnd = atLineEnd(text, indexAfter(text, Math.floor(room * headShare)))
  const head = text.slice(0, headEnd)
  const headBytes = utf8Length(head)
  const tailStart = atLineStart(text, Math.max(headEnd, indexBefore(text, room - headBytes)))
  const tail = text.slice(tailStart)
  const line = notice({ left: total - headBytes - utf8Length(tail), total, handle })
  return `${head}${head === '' || head.endsWith('\n') ? '' : '\n'}${line}${tail === '' ? '' : '\n'}${tail}`
}

const headShare = 0.7
/** A cut moves to the end of a line if that costs at most this part of the text. */
const nearShare = 0.2

function notice({ left, total, handle }: { readonly left: number; readonly total: number; readonly handle: string }): string {
  return `… ${groupDigits(left)} of ${groupDigits(total)} bytes left out; read_output {"handle":${JSON.stringify(handle)}} pages or searches the whole …`
}

/** The end of the longest start of at most that many bytes; never inside of a surrogate pair. */
export function indexAfter(text: string, bytes: number): number {
  let index = 0
  for (let used = 0; index < text.length; ) {
    const units = isPairAt(text, index) ? 2 : 1
    used += bytesAt(text, index)
    if (used > bytes) break
    index += units
  }
  return index
}

/** The start of the longest end of at most that many bytes. */
function indexBefore(text: string, bytes: number): number {
  let index = text.length
  for (let used = 0; index > 0; ) {
    const start = index > 1 && isPairAt(text, index - 2) ? index - 2 : index - 1
    used += bytesAt(text, start)
    if (used > bytes) break
    index = start
  }
  return index
}

function atLineEnd(text: string, end: number): number {
  const line = end === 0 ? -1 : text.lastIndexOf('\n', end - 1)
  return line + 1 >= end * (1 - nearShare) ? line + 1 : end
}

function atLineStart(text: string, start: number): number {
  if (start === 0 || text[start - 1] === '\n') return start
  const line = text.indexOf('\n', start)
  return line >= 0 && line + 1 - start <= (text.length - start) * nearShare ? line + 1 : start
}

function bytesAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  if (unit < 0x80) return 1
  if (unit < 0x800) return 2
  return isPairAt(text, index) ? 4 : 3
}

/** Whether a surrogate pair begins here. */
export function isPairAt(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  if (unit < 0xd800 || unit > 0xdbff) return false
  const next = text.charCodeAt(index + 1)
  return next >= 0xdc00 && next <= 0xdfff
}
