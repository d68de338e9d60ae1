/**
 * Hides secrets in a text that comes in pieces. What may be the beginning of one is held back until more has come.
 * `forms` are the ways in which they are written.
 */
export class RedactionStream {
  readonly #forms: readonly string[]
  readonly #hide: (text: string) => string
  /** Nobody holds back more than this, whatever repeats itself without end. */
  readonly #most: number
  #held = ''

  constructor(forms: readonly string[], hide: (text: string) => string) {
    this.#forms = forms
    this.#hide = hide
    this.#most = 8 * Math.max(0, ...forms.map(({ length }) => length))
  }

  /** The part of what has come so far that can be shown. */
  push(piece: string): string {
    const text = this.#held + piece
    const safe = this.#safeEnd(text)
    this.#held = text.slice(safe)
    return this.#hide(text.slice(0, safe))
  }

  /** Nothing more comes. */
  end(): string {
    const held = this.#held
    this.#held = ''
    return this.#hide(held)
  }

  /** Where the end may be the beginning of a secret; one that ends in such a beginning is held back with it, not cut in two. */
  #safeEnd(text: string): number {
    const open = text.length - this.#unfinished(text)
    let end = open
    for (let start = this.#across(text, end); start !== undefined; start = this.#across(text, end)) end = start
    return text.length - end > this.#most ? open : end
  }

  /** Where a secret begins that has begun before a place and ends behind it. */
  #across(text: string, place: number): number | undefined {
    const starts = this.#forms.map((form) => text.indexOf(form, Math.max(0, place - form.length + 1)))
    const before = starts.filter((start) => start >= 0 && start < place)
    return before.length === 0 ? undefined : Math.min(...before)
  }

  /** How many characters at the end may be the beginning of a secret. */
  #unfinished(text: string): number {
    let most = 0
    for (const form of this.#forms) {
      for (let size = Math.min(form.length - 1, text.length); size > most; size--) {
        if (text.endsWith(form.slice(0, size))) most = size
      }
    }
    return most
  }
}
