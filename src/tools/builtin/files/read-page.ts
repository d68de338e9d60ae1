import type { FileHandle } from 'node:fs/promises'
import { isPairAt, utf8Length } from '../../../util/fit-text.ts'
import { groupDigits } from '../../../util/group-digits.ts'
import { throwIfAborted } from './tool-output.ts'

interface PageRequest {
  readonly offset: number
  readonly limit: number
  readonly room: number
  readonly signal: AbortSignal
}

export interface Page {
  readonly rows: readonly string[]
  readonly lines: number
  readonly isWhollyCounted: boolean
  readonly hasCarriageReturns: boolean
  readonly hasOtherBytes: boolean
}

const chunkBytes = 256 * 1024
/** Longer lines are cut, so that one of them does not crowd out the others. */
const longestLine = 2_000
/** A letter takes at most four bytes. */
const longestLineBytes = 4 * longestLine
/** Lines are counted this far beyond the page. */
const mostCountedBytes = 512 * 1024 * 1024
const newline = 10

/** Reads some lines of a file of any size, with little memory. */
export async function readPage(handle: FileHandle, request: PageRequest): Promise<Page> {
  const reader = new PageReader(request)
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let sinceFull = 0
  for (let position = 0; ; ) {
    throwIfAborted(request.signal)
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, position)
    if (bytesRead === 0) return reader.page(true)
    position += bytesRead
    reader.take(buffer.subarray(0, bytesRead))
    if (reader.isFull) sinceFull += bytesRead
    if (sinceFull > mostCountedBytes) return reader.page(false)
  }
}

class PageReader {
  readonly #rows: string[] = []
  readonly #request: PageRequest
  #ended = 0
  #room: number
  /** The beginning of the current line. */
  #beginning: Buffer[] = []
  #kept = 0
  #lineBytes = 0
  #isInLine = false
  isFull = false
  #hasCarriageReturns = false
  #hasOtherBytes = false

  constructor(request: PageRequest) {
    this.#request = request
    this.#room = request.room
  }

  take(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) at = this.#isWanted() ? this.#keep(chunk, at) : this.#skip(chunk, at)
  }

  page(isWhollyCounted: boolean): Page {
    if (this.#isInLine) this.#endLine()
    return {
      rows: this.#rows,
      lines: this.#ended,
      isWhollyCounted,
      hasCarriageReturns: this.#hasCarriageReturns,
      hasOtherBytes: this.#hasOtherBytes,
    }
  }

  #isWanted(): boolean {
    return !this.isFull && this.#ended + 1 >= this.#request.offset
  }

  /** Counts lines up to the first requested one. For short lines, a loop over bytes is faster than a search. */
  #skip(chunk: Buffer, from: number): number {
    const until = this.isFull ? Number.POSITIVE_INFINITY : this.#request.offset - 1
    for (let at = from; at < chunk.length; at++) {
      if (chunk[at] !== newline) continue
      this.#isInLine = false
      if (++this.#ended >= until) return at + 1
    }
    this.#isInLine = chunk[chunk.length - 1] !== newline
    return chunk.length
  }

  #keep(chunk: Buffer, from: number): number {
    const found = chunk.indexOf(newline, from)
    const end = found < 0 ? chunk.length : found
    const most = Math.min(end, from + longestLineBytes - this.#kept)
    // The buffer is reused.
    if (most > from) this.#beginning.push(Buffer.from(chunk.subarray(from, most)))
    this.#kept += Math.max(0, most - from)
    this.#lineBytes += end - from
    this.#isInLine = true
    if (found >= 0) this.#endLine()
    return found < 0 ? chunk.length : found + 1
  }

  #endLine(): void {
    const isWanted = this.#isWanted()
    this.#ended++
    this.#isInLine = false
    if (isWanted) this.#addRow()
    this.#beginning = []
    this.#kept = 0
    this.#lineBytes = 0
  }

  #addRow(): void {
    const row = `${String(this.#ended).padStart(6)}\t${this.#text()}`
    this.#room -= utf8Length(row) + 1
    if (this.#room < 0 && this.#rows.length > 0) this.isFull = true
    else this.#rows.push(row)
    if (this.#rows.length >= this.#request.limit) this.isFull = true
  }

  #text(): string {
    const text = this.#decoded()
    if (text.endsWith('\r') && this.#kept === this.#lineBytes) {
      this.#hasCarriageReturns = true
      return this.#cut(text.slice(0, -1))
    }
    return this.#cut(text)
  }

  #decoded(): string {
    const bytes = Buffer.concat(this.#beginning)
    // In a stream, a character that the cut splits is dropped, not replaced.
    const options = { stream: this.#kept < this.#lineBytes }
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: this.#ended !== 1 }).decode(bytes, options)
    } catch {
      this.#hasOtherBytes = true
      return new TextDecoder('utf-8').decode(bytes, options)
    }
  }

  #cut(text: string): string {
    if (text.length <= longestLine && this.#kept === this.#lineBytes) return text
    const end = isPairAt(text, longestLine - 1) ? longestLine - 1 : longestLine
    return `${text.slice(0, end)} [cut: the line has ${groupDigits(this.#lineBytes)} bytes]`
  }
}
