import { charactersOf } from '../../terminal/text-width.ts'

// The text that a person types.
//
// 1. Positions are indices of the text, always between two characters as people see them.
// 2. A long paste is one mark in the text, `[Pasted text 1: 2,000 lines]`. It moves and is deleted as a whole.
// 3. The content has the pastes instead of their marks.

/** A longer paste becomes a mark: drawing takes time. */
const maxPastedChars = 1_000
const maxPastedLines = 10

export class LineEditor {
  #text = ''
  #cursor = 0
  readonly #pastes = new Map<string, string>()
  #pasted = 0
  /** The last deleted word or line. */
  #killed = ''

  get text(): string {
    return this.#text
  }

  get cursor(): number {
    return this.#cursor
  }

  /** What was typed and pasted. */
  get content(): string {
    let content = this.#text
    for (const [mark, pasted] of this.#pastes) content = content.replace(mark, () => pasted)
    return content
  }

  set(text: string): void {
    this.#text = text
    this.#cursor = text.length
  }

  clear(): void {
    this.set('')
    this.#pastes.clear()
    this.#pasted = 0
    this.#killed = ''
  }

  insert(text: string): void {
    this.replace(this.#cursor, this.#cursor, text)
  }

  paste(given: string): void {
    const text = given.replace(/\r\n?/g, '\n')
    const lines = text.split('\n').length
    if (text.length <= maxPastedChars && lines <= maxPastedLines) {
      this.insert(text)
      return
    }
    this.#pasted++
    const size = lines > 1 ? `${lines.toLocaleString('en')} lines` : `${text.length.toLocaleString('en')} characters`
    const mark = `[Pasted text ${this.#pasted}: ${size}]`
    this.#pastes.set(mark, text)
    this.insert(mark)
  }

  replace(from: number, to: number, text: string): void {
    this.#text = this.#text.slice(0, from) + text + this.#text.slice(to)
    this.#cursor = from + text.length
  }

  move(by: Move): void {
    this.#cursor = this.#target(by)
  }

  /** Deletes from the cursor to where a move would lead. */
  delete(by: Move): void {
    const [from, to] = [this.#target(by), this.#cursor].toSorted((a, b) => a - b) as [number, number]
    if (by !== 'left' && by !== 'right') this.#killed = this.#text.slice(from, to)
    this.replace(from, to, '')
  }

  /** Inserts what was deleted last. */
  yank(): void {
    this.insert(this.#killed)
  }

  /** Whether there is a line above or below. */
  moveLine(by: -1 | 1): boolean {
    const start = this.#lineStart()
    const column = this.#cursor - start
    if (by < 0) {
      if (start === 0) return false
      const above = this.#text.lastIndexOf('\n', start - 2) + 1
      this.#cursor = Math.min(above + column, start - 1)
    } else {
      const end = this.#lineEnd()
      if (end === this.#text.length) return false
      const below = this.#text.indexOf('\n', end + 1)
      this.#cursor = Math.min(end + 1 + column, below === -1 ? this.#text.length : below)
    }
    // Not into a character.
    let at = this.#lineStart()
    for (const character of charactersOf(this.#text.slice(at, this.#lineEnd()))) {
      if (at + character.length > this.#cursor) break
      at += character.length
    }
    this.#cursor = at
    return true
  }

  #target(by: Move): number {
    switch (by) {
      case 'left':
        return (
          this.#cursor - lengthOfLast(this.#text.slice(this.#lineStart(), this.#cursor) || this.#text.slice(0, this.#cursor), this.#pastes)
        )
      case 'right':
        return this.#cursor + lengthOfFirst(this.#text.slice(this.#cursor), this.#pastes)
      case 'word-left':
        return this.#cursor - (/[^\s]*\s*$/.exec(this.#text.slice(0, this.#cursor))?.[0].length ?? 0)
      case 'word-right':
        return this.#cursor + (/^\s*[^\s]*/.exec(this.#text.slice(this.#cursor))?.[0].length ?? 0)
      case 'line-start':
        return this.#lineStart()
      case 'line-end':
        return this.#lineEnd()
      case 'start':
        return 0
      default:
        return by satisfies never
    }
  }

  #lineStart(): number {
    return this.#cursor === 0 ? 0 : this.#text.lastIndexOf('\n', this.#cursor - 1) + 1
  }

  #lineEnd(): number {
    const end = this.#text.indexOf('\n', this.#cursor)
    return end === -1 ? this.#text.length : end
  }
}

export type Move = 'left' | 'right' | 'word-left' | 'word-right' | 'line-start' | 'line-end' | 'start'

type Pastes = ReadonlyMap<string, string>

function lengthOfLast(text: string, pastes: Pastes): number {
  for (const mark of pastes.keys()) if (text.endsWith(mark)) return mark.length
  let last = ''
  // A character is not longer than this.
  for (const character of charactersOf(text.slice(-64))) last = character
  return last.length
}

function lengthOfFirst(text: string, pastes: Pastes): number {
  for (const mark of pastes.keys()) if (text.startsWith(mark)) return mark.length
  const { value } = charactersOf(text.slice(0, 64)).next()
  return value === undefined ? 0 : value.length
}
