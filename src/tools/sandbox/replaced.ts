const words = 'was replaced meanwhile'

/** Somebody has put another file or folder, or a link, in the place of what was meant. Whoever looks again may find it as it should be. */
export class Replaced extends Error {
  constructor(path: string) {
    super(`${path} ${words}`)
  }

  /** Where only its words are left. */
  static isToldBy(text: string): boolean {
    return text.endsWith(words)
  }
}
