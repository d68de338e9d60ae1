import { type ErrorCode, type Problem, TroupeError } from '../../contracts/index.ts'

/** Beyond this a list helps nobody, and a hostile file could make it as long as itself. */
export const maxReported = 25

/** Where in the text, counted from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** The text of a file that remembers what is wrong with it, each problem with its place and its line. */
export class SourceText {
  readonly lines: readonly string[]
  readonly #place: string
  readonly #found = new Map<string, { readonly at: Position; readonly problem: Problem }>()
  readonly #elsewhere: Problem[] = []

  constructor(text: string, place: string) {
    this.lines = text.split('\n')
    this.#place = place
  }

  problem(at: Position, message: string, remedy?: string): void {
    const { place, ...line } = this.spot(at)
    const problem = { place, message, ...(remedy !== undefined && { remedy }), ...line }
    this.#found.set(`${place} ${message}`, { at, problem })
  }

  /** The same for a file that may be anything: none of its lines is shown. */
  problemWithoutLine(at: Position, message: string, remedy?: string): void {
    const { place } = this.spot(at)
    this.#found.set(`${place} ${message}`, { at, problem: { place, message, ...(remedy !== undefined && { remedy }) } })
  }

  /** A place for problems that are found later. */
  spot(at: Position): Pick<Problem, 'place' | 'line'> {
    const line = this.lines[at.line - 1]
    return { place: `${this.#place}:${at.line}:${at.column}`, ...(line !== undefined && { line }) }
  }

  /** A problem of another file that this one leads to. */
  elsewhere(problem: Problem): void {
    this.#elsewhere.push(problem)
  }

  /** What was found, in the order of the text, then what was found elsewhere. */
  get problems(): readonly Problem[] {
    const here = [...this.#found.values()].sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column)
    return [...here.map(({ problem }) => problem), ...this.#elsewhere]
  }

  /** Throws what was found. */
  done(code: ErrorCode, what: string): void {
    const found = this.problems
    if (found.length === 0) return
    const shown = found.length > maxReported ? `; here are the first ${maxReported}` : ''
    throw new TroupeError(code, `${what} ${this.#place} has ${found.length === 1 ? 'a problem' : `${found.length} problems`}${shown}`, {
      problems: found.slice(0, maxReported),
    })
  }
}
