import { isPairAt } from '../../../../util/fit-text.ts'

/** A part of a file: whole lines, unless they are too long. */
export interface Chunk {
  readonly bytes: Uint8Array
  /** The first chunk of a file; otherwise it continues the previous one. */
  readonly isFirst: boolean
}

export interface FoundLine {
  readonly line: number
  readonly text: string
  readonly isHit: boolean
}

export interface ChunkResult {
  readonly found: readonly FoundLine[]
  readonly hits: number
  readonly lineEnds: number
}

interface ChunkSearch {
  readonly firstLine: number
  readonly pattern: RegExp
  readonly context: number
  readonly mostHits: number
}

const longestShown = 300
/** Columns before the match in a long line. */
const beforeHit = 80

export function searchChunk(bytes: Uint8Array, { firstLine, pattern, context, mostHits }: ChunkSearch): ChunkResult {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8').split('\n')
  const isEnded = lines.at(-1) === ''
  const count = isEnded ? lines.length - 1 : lines.length
  const found: FoundLine[] = []
  let [hits, shownUpTo, after] = [0, 0, 0]
  for (let at = 0; at < count && (hits < mostHits || after > 0); at++) {
    const line = withoutReturn(lines[at] ?? '')
    const match = hits < mostHits ? pattern.exec(line) : null
    if (match) {
      for (let before = Math.max(shownUpTo, at - context); before < at; before++) found.push(contextLine(lines, before, firstLine))
      found.push({ line: firstLine + at, text: around(line, match.index), isHit: true })
      hits++
      after = context
    } else if (after > 0) {
      found.push(contextLine(lines, at, firstLine))
      after--
    } else continue
    shownUpTo = at + 1
  }
  return { found, hits, lineEnds: lines.length - 1 }
}

const contextLine = (lines: readonly string[], at: number, firstLine: number): FoundLine => ({
  line: firstLine + at,
  text: around(withoutReturn(lines[at] ?? ''), 0),
  isHit: false,
})

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)

function around(line: string, index: number): string {
  if (line.length <= longestShown) return line
  let start = Math.max(0, Math.min(index - beforeHit, line.length - longestShown))
  if (start > 0 && isPairAt(line, start - 1)) start--
  let end = Math.min(line.length, start + longestShown)
  if (isPairAt(line, end - 1)) end--
  return `${start > 0 ? '…' : ''}${line.slice(start, end)}${end < line.length ? '…' : ''} [columns ${start + 1}-${end} of ${line.length}]`
}
