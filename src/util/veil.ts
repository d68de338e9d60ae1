/**
 * Hides secrets in a text that comes in pieces. What may be the beginning of one is held back until more has come.
 * `forms` are the ways in which they are written.
 */
export class Veil {
  readonly #forms: readonly string[]
  readonly #hide: (text: string) => string
  #held = ''

  constructor(forms: readonly string[], hide: (text: string) => string) {
    this.#forms = forms
    this.#hide = hide
  }

  /** The part of what has come so far that can be shown. */
  push(piece: string): string {
    const text = this.#held + piece
    const safe = text.length - this.#unfinished(text)
    this.#held = text.slice(safe)
    return this.#hide(text.slice(0, safe))
  }

  /** Nothing more comes. */
  end(): string {
    const held = this.#held
    this.#held = ''
    return this.#hide(held)
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
