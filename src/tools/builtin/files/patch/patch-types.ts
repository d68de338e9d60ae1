import { FileError } from '../../../workspace/index.ts'

export interface PatchLine {
  readonly mark: ' ' | '-' | '+'
  /** Without its line feed, but with a carriage return. */
  readonly text: string
  /** The last line of the file, without a line end. */
  readonly isUnended?: boolean
}

export interface Hunk {
  /** Lines that occur before it, from the outermost. */
  readonly anchors: readonly string[]
  /** Stated line, from 0; undefined if the format has none. */
  readonly position: number | undefined
  readonly lines: readonly PatchLine[]
  readonly isAtEnd: boolean
  readonly patchLine: number
}

export type FilePatch =
  | { readonly kind: 'add'; readonly path: string; readonly content: string; readonly mode?: number }
  /** Its hunks must remove all lines. */
  | { readonly kind: 'delete'; readonly path: string; readonly hunks: readonly Hunk[] }
  | { readonly kind: 'update'; readonly path: string; readonly to?: string; readonly hunks: readonly Hunk[]; readonly mode?: number }

/** `line` starts at 1. */
export const patchError = (line: number, message: string, remedy: string): FileError =>
  new FileError('invalid_input', `Line ${line} of the patch: ${message}`, remedy)

export class PatchLines {
  readonly #lines: readonly string[]
  #at = 0

  constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  /** Counted from 1. */
  get number(): number {
    return this.#at + 1
  }

  get isOver(): boolean {
    return this.#at >= this.#lines.length
  }

  peek(ahead = 0): string | undefined {
    return this.#lines[this.#at + ahead]
  }

  take(): string {
    return this.#lines[this.#at++] ?? ''
  }

  /** Whether only blank lines come before the next matching line or the end. */
  isBlankUntil(fits: (line: string) => boolean): boolean {
    for (let at = this.#at; at < this.#lines.length; at++) {
      const line = this.#lines[at] ?? ''
      if (fits(line)) return true
      if (line.trim() !== '') return false
    }
    return true
  }
}

export interface HunkHeader {
  /** First old line, from 0. */
  readonly position: number
  readonly oldCount: number
  readonly newCount: number
}

const pattern = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** `@@ -12,3 +12,4 @@ function` */
export function hunkPosition(line: string): HunkHeader | undefined {
  const found = pattern.exec(line)
  if (!found) return undefined
  const [, start, oldCount = '1', , newCount = '1'] = found
  // An empty range names the line before it.
  return { position: Math.max(0, Number(start) - (Number(oldCount) === 0 ? 0 : 1)), oldCount: Number(oldCount), newCount: Number(newCount) }
}

export function parseLine(line: string, number: number): PatchLine {
  const [mark] = line
  // An empty context line without its space.
  if (mark === undefined || line === '\r') return { mark: ' ', text: line }
  if (mark === ' ' || mark === '-' || mark === '+') return { mark, text: line.slice(1) }
  throw patchError(
    number,
    `The line "${line.slice(0, 80)}" does not begin with " ", "-" or "+".`,
    'Begin each line with " " (context), "-" (removed) or "+" (added).',
  )
}
