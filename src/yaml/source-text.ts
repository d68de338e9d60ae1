import { type ErrorCode, type Problem, TroupeError } from '../contracts/index.ts'
import { plural } from '../util/plural.ts'

/** The most problems in one report: a hostile file could produce as many as it has characters. */
export const maxReported = 25

/** Line and column, from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

export const startOfText: Position = { line: 1, column: 1 }

/** Where a problem is: `file:line:column`, and the text of the line. */
export type SourceLocation = Pick<Problem, 'place' | 'line'>

interface Finding {
  readonly at: Position
  readonly problem: Problem
}

/** The text of a file with the problems and warnings that were found in it. */
export class SourceText {
  readonly lines: readonly string[]
  readonly place: string
  readonly #problems = new Map<string, Finding>()
  readonly #warnings: Finding[] = []
  readonly #otherProblems: Problem[] = []

  constructor(text: string, place: string) {
    this.lines = text.split('\n')
    this.place = place
  }

  problem(at: Position, message: string, remedy?: string): void {
    this.#add(at, problemOf(this.locate(at), message, remedy))
  }

  /** For a file that may be anything, such as a file with secrets: does not show the line. */
  problemWithoutLine(at: Position, message: string, remedy?: string): void {
    this.#add(at, problemOf({ place: this.locate(at).place }, message, remedy))
  }

  warn(at: Position, message: string, remedy?: string): void {
    this.#warnings.push({ at, problem: problemOf(this.locate(at), message, remedy) })
  }

  /** Adds a problem of another file that this one refers to. */
  addProblem(problem: Problem): void {
    this.#otherProblems.push(problem)
  }

  /** Before the text is read a second time, in another form. */
  clearProblems(): void {
    this.#problems.clear()
  }

  locate(at: Position): SourceLocation {
    const line = this.lines[at.line - 1]
    return { place: `${this.place}:${at.line}:${at.column}`, ...(line !== undefined && { line }) }
  }

  /** In the order of the text, then those of other files. */
  get problems(): readonly Problem[] {
    return [...inOrder([...this.#problems.values()]), ...this.#otherProblems]
  }

  /** In the order of the text, at most `maxReported` and the number of the others. */
  get warnings(): readonly Problem[] {
    const all = inOrder(this.#warnings)
    if (all.length <= maxReported) return all
    return [...all.slice(0, maxReported), { place: this.place, message: `${all.length - maxReported} more warnings about this file` }]
  }

  throwIfProblems(code: ErrorCode, what: string): void {
    const { problems } = this
    if (problems.length === 0) return
    const shown = problems.length > maxReported ? `; the first ${maxReported} are shown` : ''
    throw new TroupeError(code, `${what} ${this.place} has ${plural(problems.length, 'problem')}${shown}`, {
      problems: problems.slice(0, maxReported),
    })
  }

  #add(at: Position, problem: Problem): void {
    this.#problems.set(`${problem.place} ${problem.message}`, { at, problem })
  }
}

const problemOf = ({ place, ...line }: SourceLocation, message: string, remedy?: string): Problem => ({
  place,
  message,
  ...(remedy !== undefined && { remedy }),
  ...line,
})

const inOrder = (findings: readonly Finding[]): readonly Problem[] =>
  findings.toSorted((a, b) => a.at.line - b.at.line || a.at.column - b.at.column).map(({ problem }) => problem)
