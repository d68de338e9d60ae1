/** `lines`: breaks are kept. `line`: they are spaces. `verbatim`: everything is kept. */
export type WriterMode = 'lines' | 'line' | 'verbatim'

const mostIndent = 6
const mostQuotes = 4

/** Collects text: collapses whitespace, and writes breaks only between texts. */
export class TextWriter {
  readonly mode: WriterMode
  readonly #parts: string[] = []
  readonly #lists: { readonly isOrdered: boolean; next: number }[] = []
  #quotes = 0
  #breaks = 0
  #hasSpace = false
  #marker = ''

  constructor(mode: WriterMode) {
    this.mode = mode
  }

  text(text: string): void {
    if (this.mode === 'verbatim') {
      this.#push(text)
      return
    }
    const words = text.replace(/[ \t\n\r\f\u00a0]+/g, ' ')
    if (words.startsWith(' ')) this.#hasSpace = true
    const trimmed = words.trim()
    if (trimmed === '') return
    this.#begin()
    this.#push(trimmed)
    this.#hasSpace = words.endsWith(' ')
  }

  /** Unchanged text on its own lines. */
  block(text: string): void {
    this.break(2)
    this.#begin()
    this.#push(text)
    this.break(2)
  }

  inline(text: string): void {
    this.#begin()
    this.#push(text)
  }

  /** The next text begins on a new line, after an empty one where `lines` is 2. */
  break(lines: 1 | 2): void {
    if (this.mode === 'verbatim') {
      if (lines === 1) this.#push('\n')
    } else if (this.mode === 'line') this.#hasSpace = true
    else this.#breaks = Math.max(this.#breaks, lines)
  }

  openList(isOrdered: boolean, start = 1): void {
    this.break(this.#lists.length > 0 ? 1 : 2)
    this.#lists.push({ isOrdered, next: start })
  }

  closeList(): void {
    this.#lists.pop()
    this.#marker = ''
    this.break(this.#lists.length > 0 ? 1 : 2)
  }

  openEntry(): void {
    this.break(1)
    const list = this.#lists.at(-1)
    this.#marker = list?.isOrdered ? `${list.next++}. ` : '- '
  }

  quote(more: 1 | -1): void {
    this.break(2)
    this.#quotes = Math.max(0, this.#quotes + more)
  }

  finish(): string {
    return this.#parts.join('')
  }

  /** Writes the pending break or space before the next text. */
  #begin(): void {
    const isFirst = this.#parts.length === 0
    if (this.mode === 'lines' && (isFirst || this.#breaks > 0)) {
      if (!isFirst) this.#push('\n'.repeat(this.#breaks))
      this.#push(this.#margin())
    } else if (this.#hasSpace && !isFirst) this.#push(' ')
    this.#breaks = 0
    this.#hasSpace = false
  }

  #margin(): string {
    const depth = Math.min(mostIndent, this.#lists.length)
    const isEntry = this.#marker !== ''
    const indent = '  '.repeat(isEntry ? Math.max(0, depth - 1) : depth)
    const margin = `${'> '.repeat(Math.min(mostQuotes, this.#quotes))}${indent}${this.#marker}`
    this.#marker = ''
    return margin
  }

  #push(text: string): void {
    if (text !== '') this.#parts.push(text)
  }
}
