import { longestToken, tokenBegins, tokensIn } from './troupe-tokens.ts'

/** Redacts a text in pieces. Holds back what may be the start of a secret. `forms` are all encodings of the secrets. */
export class RedactionStream {
  readonly #forms: readonly string[]
  readonly #hide: (text: string) => string
  /** Holds back at most this much. */
  readonly #most: number
  #held = ''

  constructor(forms: readonly string[], hide: (text: string) => string) {
    this.#forms = forms
    this.#hide = hide
    this.#most = 8 * Math.max(longestToken, ...forms.map(({ length }) => length))
  }

  /** The part that can be shown now. */
  push(piece: string): string {
    const text = this.#held + piece
    const safe = this.#safeEnd(text)
    this.#held = text.slice(safe)
    return this.#hide(text.slice(0, safe))
  }

  /** The rest, when the text is complete. */
  end(): string {
    const held = this.#held
    this.#held = ''
    return this.#hide(held)
  }

  /** The position up to which the text can be shown. A secret that overlaps what is held back is held back, too. */
  #safeEnd(text: string): number {
    const open = text.length - this.#unfinished(text)
    if (open === text.length) return open
    let end = open
    for (let start = this.#across(text, end); start !== undefined; start = this.#across(text, end)) end = start
    return text.length - end > this.#most ? open : end
  }

  /** The start of a secret that spans a position. */
  #across(text: string, place: number): number | undefined {
    const starts = this.#forms.map((form) => text.indexOf(form, Math.max(0, place - form.length + 1)))
    for (const token of tokensIn(text)) if (token.end > place) starts.push(token.start)
    const before = starts.filter((start) => start >= 0 && start < place)
    return before.length === 0 ? undefined : Math.min(...before)
  }

  /** How many characters at the end may be the start of a secret. */
  #unfinished(text: string): number {
    let most = tokenBegins(text)
    for (const form of this.#forms) {
      for (let size = Math.min(form.length - 1, text.length); size > most; size--) {
        if (text.endsWith(form.slice(0, size))) most = size
      }
    }
    return most
  }
}
