import type { StructuredPatchHunk } from 'diff'

interface FileVersions {
  /** Undefined: the file is new. */
  readonly before: string | undefined
  /** Undefined: the file is deleted. */
  readonly after: string | undefined
  readonly path: string
  readonly to?: string
}

const contextLines = 3
/** The time grows with its square: 0.2 s. Beyond it, all lines between the first and the last change are shown as replaced. */
const mostChangedLines = 1_000
export const noNewline = '\\ No newline at end of file'

/** The changes of a file as `git diff` shows them; cut after about `mostLetters` of its JSON form. */
export async function unifiedDiff(
  { before, after, path, to = path }: FileVersions,
  mostLetters: number,
): Promise<{ readonly diff: string; readonly added: number; readonly removed: number }> {
  const { structuredPatch } = await import('diff')
  const [older, newer] = [before ?? '', after ?? '']
  const options = { context: contextLines, maxEditLength: mostChangedLines }
  const hunks = structuredPatch('', '', older, newer, '', '', options)?.hunks ?? [replacement(linesOf(older), linesOf(newer))]
  const body = new BoundedLines(mostLetters)
  body.add(`--- ${before === undefined ? '/dev/null' : quoted(`a/${path}`)}`)
  body.add(`+++ ${after === undefined ? '/dev/null' : quoted(`b/${to}`)}`)
  let [added, removed] = [0, 0]
  for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
    body.add(`@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`)
    for (const line of lines) {
      if (line.startsWith('+')) added++
      else if (line.startsWith('-')) removed++
      body.add(line)
    }
  }
  return { diff: body.text(), added, removed }
}

/** One hunk from the first line that differs to the last one. */
function replacement(older: readonly string[], newer: readonly string[]): StructuredPatchHunk {
  const shorter = Math.min(older.length, newer.length)
  let start = 0
  while (start < shorter && older[start] === newer[start]) start++
  let end = 0
  while (end < shorter - start && older.at(-1 - end) === newer.at(-1 - end)) end++
  const from = Math.max(0, start - contextLines)
  const after = Math.min(end, contextLines)
  const [oldEnd, newEnd] = [older.length - end, newer.length - end]
  const marked = (mark: string, lines: readonly string[]): readonly string[] =>
    lines.flatMap((line) => (line.endsWith('\n') ? [mark + line.slice(0, -1)] : [mark + line, noNewline]))
  return {
    oldStart: from + 1,
    oldLines: oldEnd + after - from,
    newStart: from + 1,
    newLines: newEnd + after - from,
    lines: [
      ...marked(' ', older.slice(from, start)),
      ...marked('-', older.slice(start, oldEnd)),
      ...marked('+', newer.slice(start, newEnd)),
      ...marked(' ', older.slice(oldEnd, oldEnd + after)),
    ],
  }
}

/** Lines with their line ends; the last one may have none. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** An empty range names the line before it. */
const range = (start: number, count: number): string => (count === 1 ? `${start}` : `${count === 0 ? start - 1 : start},${count}`)

const quoted = (path: string): string => (needsQuotes.test(path) ? JSON.stringify(path) : path)
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that need quotes
const needsQuotes = /["\\\u0000-\u001f]/

/** Whole lines up to a length. */
class BoundedLines {
  #text = ''
  #left: number
  #leftOut = 0

  constructor(room: number) {
    this.#left = room
  }

  add(line: string): void {
    // The diff is stored as JSON. After the first omitted line, all others are omitted.
    if (this.#leftOut === 0 && line.length < this.#left) this.#left -= JSON.stringify(line).length
    else this.#left = -1
    if (this.#left < 0) this.#leftOut++
    else this.#text += `${line}\n`
  }

  text(): string {
    return this.#leftOut === 0 ? this.#text : `${this.#text}… the diff is cut: ${this.#leftOut} more lines\n`
  }
}
