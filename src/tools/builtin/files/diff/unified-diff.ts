import { type Difference, diffLines } from './diff-lines.ts'

export interface FileVersions {
  /** Nothing: the file is new. */
  readonly before: string | undefined
  /** Nothing: the file is gone. */
  readonly after: string | undefined
  readonly path: string
  readonly to?: string
}

export interface UnifiedDiff {
  readonly diff: string
  readonly added: number
  readonly removed: number
}

const contextLines = 3
export const noNewline = '\\ No newline at end of file'

/** What changed, as `git diff` shows it; cut after about `mostLetters` of its JSON form. */
export function unifiedDiff({ before, after, path, to = path }: FileVersions, mostLetters: number): UnifiedDiff {
  const older = linesOf(before ?? '')
  const newer = linesOf(after ?? '')
  const differences = diffLines(older, newer)
  let [added, removed] = [0, 0]
  for (const { oldCount, newCount } of differences) {
    added += newCount
    removed += oldCount
  }
  const body = new Body(mostLetters)
  body.add(`--- ${before === undefined ? '/dev/null' : quoted(`a/${path}`)}\n`)
  body.add(`+++ ${after === undefined ? '/dev/null' : quoted(`b/${to}`)}\n`)
  for (const hunk of hunksOf(differences, older.length)) addHunk(body, hunk, { older, newer })
  return { diff: body.text(), added, removed }
}

/** Lines with their line ends; the last one may have none. */
export function linesOf(text: string): readonly string[] {
  const lines: string[] = []
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start)
    const end = found < 0 ? text.length : found + 1
    lines.push(text.slice(start, end))
    start = end
  }
  return lines
}

/** Differences whose contexts meet are shown together. */
function hunksOf(differences: readonly Difference[], oldLength: number): readonly (readonly Difference[])[] {
  const hunks: Difference[][] = []
  let end = -1
  for (const difference of differences) {
    const last = hunks.at(-1)
    if (last && difference.oldStart - contextLines <= end) last.push(difference)
    else hunks.push([difference])
    end = Math.min(oldLength, difference.oldStart + difference.oldCount + contextLines)
  }
  return hunks
}

interface Lines {
  readonly older: readonly string[]
  readonly newer: readonly string[]
}

function addHunk(body: Body, hunk: readonly Difference[], { older, newer }: Lines): void {
  const [first, last] = [hunk[0], hunk.at(-1)]
  if (!first || !last) return
  const oldStart = Math.max(0, first.oldStart - contextLines)
  const newStart = first.newStart - (first.oldStart - oldStart)
  const oldEnd = Math.min(older.length, last.oldStart + last.oldCount + contextLines)
  const newEnd = last.newStart + last.newCount + (oldEnd - last.oldStart - last.oldCount)
  body.add(`@@ -${range(oldStart, oldEnd - oldStart)} +${range(newStart, newEnd - newStart)} @@\n`)
  let at = oldStart
  for (const { oldStart: from, oldCount, newStart: into, newCount } of hunk) {
    for (const line of older.slice(at, from)) body.addLine(' ', line)
    for (const line of older.slice(from, from + oldCount)) body.addLine('-', line)
    for (const line of newer.slice(into, into + newCount)) body.addLine('+', line)
    at = from + oldCount
  }
  for (const line of older.slice(at, oldEnd)) body.addLine(' ', line)
}

/** An empty range names the line before it. */
const range = (start: number, count: number): string => (count === 1 ? `${start + 1}` : `${count === 0 ? start : start + 1},${count}`)

const quoted = (path: string): string => (needsQuotes.test(path) ? JSON.stringify(path) : path)
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that need quotes
const needsQuotes = /["\\\u0000-\u001f]/

/** Up to what may be shown, in whole lines. */
class Body {
  #text = ''
  #left: number
  #leftOut = 0

  constructor(room: number) {
    this.#left = room
  }

  addLine(mark: string, line: string): void {
    this.add(line.endsWith('\n') ? mark + line : `${mark}${line}\n${noNewline}\n`)
  }

  add(line: string): void {
    // As JSON, because that is how it is measured where it is kept; nothing follows what was left out.
    if (this.#leftOut === 0 && line.length <= this.#left) this.#left -= JSON.stringify(line).length - 2
    else this.#left = -1
    if (this.#left < 0) this.#leftOut++
    else this.#text += line
  }

  text(): string {
    return this.#leftOut === 0 ? this.#text : `${this.#text}… the diff is cut: ${this.#leftOut} more lines\n`
  }
}
