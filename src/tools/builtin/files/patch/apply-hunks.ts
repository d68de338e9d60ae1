import { LineFinder } from './find-lines.ts'
import type { Hunk, PatchLine } from './patch-types.ts'

export type AppliedHunks =
  | { readonly ok: true; readonly text: string }
  /** `index` starts at 0. */
  | { readonly ok: false; readonly index: number; readonly why: 'missing' | 'overlap' }

/** Lines of context that may be wrong at either edge of a hunk. */
const mostFuzz = 2

/** Applies hunks to a text, each where its old lines occur. Context lines are kept as in the text. */
export function applyHunks(text: string, hunks: readonly Hunk[]): AppliedHunks {
  const source = sourceOf(text)
  const finder = new LineFinder(source.lines)
  const splices: Splice[] = []
  const cursor = { end: 0, drift: 0 }
  for (const [index, hunk] of hunks.entries()) {
    const splice = spliceOf(finder, hunk, cursor)
    if (splice === undefined) return { ok: false, index, why: 'missing' }
    if (splices.some((other) => isOverlap(other, splice))) return { ok: false, index, why: 'overlap' }
    splices.push(splice)
    cursor.end = splice.end
    if (hunk.position !== undefined) cursor.drift = splice.start - hunk.position
  }
  return { ok: true, text: assembled(source, splices) }
}

interface Source {
  readonly lines: readonly string[]
  readonly isEnded: boolean
  readonly usesCrlf: boolean
}

function sourceOf(text: string): Source {
  if (text === '') return { lines: [], isEnded: true, usesCrlf: false }
  const lines = text.split('\n')
  const isEnded = lines.at(-1) === ''
  if (isEnded) lines.pop()
  return { lines, isEnded, usesCrlf: lines.filter((line) => line.endsWith('\r')).length * 2 > lines.length - (isEnded ? 0 : 1) }
}

interface Splice {
  readonly start: number
  readonly end: number
  readonly lines: readonly PatchLine[]
}

interface Cursor {
  readonly end: number
  /** Distance of earlier hunks from their stated positions. */
  readonly drift: number
}

const oldLines = (lines: readonly PatchLine[]): readonly string[] => lines.filter(({ mark }) => mark !== '+').map(({ text }) => text)

function spliceOf(finder: LineFinder, hunk: Hunk, cursor: Cursor): Splice | undefined {
  for (const lines of fuzzed(hunk.lines)) {
    const old = oldLines(lines)
    // With reduced context, the place must be unique.
    const start = lines === hunk.lines ? placeOf(finder, hunk, cursor) : finder.find(old, { from: 0, isOnly: true })
    if (start !== undefined) return { start, end: start + old.length, lines }
  }
  return undefined
}

function placeOf(finder: LineFinder, hunk: Hunk, cursor: Cursor): number | undefined {
  const old = oldLines(hunk.lines)
  if (old.length === 0) return insertion(finder, hunk, cursor)
  if (hunk.position !== undefined) return finder.find(old, { from: 0, near: hunk.position + cursor.drift })
  const anchor = anchorOf(finder, hunk, cursor)
  if (anchor === undefined) return finder.find(old, { from: 0, isOnly: true })
  const atEnd = hunk.isAtEnd ? finder.find(old, { from: anchor, isAtEnd: true }) : undefined
  // Some models do not keep the order of the file.
  return atEnd ?? finder.find(old, { from: anchor }) ?? finder.find(old, { from: 0, isOnly: true })
}

/** Where the search starts; undefined if an anchor is not found. */
function anchorOf(finder: LineFinder, { anchors }: Hunk, { end }: Cursor): number | undefined {
  let at = end
  for (const anchor of anchors) {
    const found = finder.anchor(anchor, at) ?? finder.anchor(anchor, 0)
    if (found === undefined) return undefined
    at = found
  }
  return at
}

/** The place of a hunk without old lines: its position, after its anchor, or the end. */
function insertion(finder: LineFinder, hunk: Hunk, cursor: Cursor): number | undefined {
  const { length } = finder.lines
  if (hunk.position !== undefined) return Math.min(length, Math.max(0, hunk.position + cursor.drift))
  if (hunk.anchors.length === 0 || hunk.isAtEnd) return length
  const anchor = anchorOf(finder, hunk, cursor)
  return anchor === undefined ? undefined : Math.min(length, anchor + 1)
}

/** The lines of a hunk, then with less and less context, while an old line with letters or digits is left. */
function* fuzzed(lines: readonly PatchLine[]): Generator<readonly PatchLine[]> {
  yield lines
  const first = lines.findIndex(({ mark }) => mark !== ' ')
  const after = lines.length - 1 - lines.findLastIndex(({ mark }) => mark !== ' ')
  for (let fuzz = 1; fuzz <= mostFuzz; fuzz++) {
    const less = lines.slice(Math.min(fuzz, first), lines.length - Math.min(fuzz, after))
    if (less.length < lines.length && less.some(({ mark, text }) => mark !== '+' && /[\p{L}\p{N}]/u.test(text))) yield less
  }
}

/** Two insertions at one place do not overlap. */
const isOverlap = (one: Splice, other: Splice): boolean => one.start < other.end && other.start < one.end

function assembled(source: Source, splices: readonly Splice[]): string {
  const result: string[] = []
  const adaptsReturns = source.usesCrlf && !splices.some(({ lines }) => lines.some(({ mark, text }) => mark !== '+' && text.endsWith('\r')))
  const lastLine = source.lines.length - 1
  const isEnded = isEndedAfter(source, splices)
  // A last line without line end may now be followed by others.
  const keep = (index: number): void => {
    const line = source.lines[index] ?? ''
    result.push(index === lastLine && !source.isEnded && adaptsReturns ? `${line}\r` : line)
  }
  let at = 0
  for (const { start, end, lines } of splices.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
    for (; at < start; at++) keep(at)
    for (const { mark, text } of lines) {
      if (mark === '+') result.push(adaptsReturns && !text.endsWith('\r') ? `${text}\r` : text)
      else if (mark === ' ') keep(at++)
      else at++
    }
    at = end
  }
  for (; at <= lastLine; at++) keep(at)
  if (result.length === 0) return ''
  if (!isEnded && adaptsReturns) result.push((result.pop() ?? '').replace(/\r$/, ''))
  return result.join('\n') + (isEnded ? '\n' : '')
}

/** Whether the text ends with a line end: as before, unless a hunk at the end says otherwise. */
function isEndedAfter({ lines, isEnded }: Source, splices: readonly Splice[]): boolean {
  const last = splices.find(({ end }) => end === lines.length)
  if (last === undefined) return isEnded
  if (last.lines.findLast(({ mark }) => mark !== '-')?.isUnended) return false
  return isEnded || last.lines.some(({ mark, isUnended }) => mark === '-' && isUnended === true)
}
