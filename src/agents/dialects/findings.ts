import type { Problem } from '../../contracts/index.ts'
import { type Position, SourceText } from '../values/source-text.ts'

/** As with problems, a longer list helps nobody. */
export const maxWarnings = 25

/** What is found while a file is read: problems, which end it, and warnings, which go with the agent. */
export class Findings {
  readonly #source: SourceText
  readonly #place: string
  readonly #warnings: { readonly at: Position; readonly problem: Problem }[] = []

  constructor(text: string, place: string) {
    this.#source = new SourceText(text, place)
    this.#place = place
  }

  get lines(): readonly string[] {
    return this.#source.lines
  }

  problem(at: Position, message: string, remedy?: string): void {
    this.#source.problem(at, message, remedy)
  }

  warn(at: Position, message: string, remedy?: string): void {
    const line = this.lines[at.line - 1]
    const place = `${this.#place}:${at.line}:${at.column}`
    this.#warnings.push({ at, problem: { place, message, ...(remedy !== undefined && { remedy }), ...(line !== undefined && { line }) } })
  }

  /** The warnings, in the order of the text. Throws `agent_file_invalid` where there are problems. */
  done(): readonly Problem[] {
    this.#source.done('agent_file_invalid', 'the agent file')
    const sorted = this.#warnings.sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column).map(({ problem }) => problem)
    if (sorted.length <= maxWarnings) return sorted
    const more = sorted.length - maxWarnings
    return [...sorted.slice(0, maxWarnings), { place: this.#place, message: `there are ${more} more warnings about this file` }]
  }
}
