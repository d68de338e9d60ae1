import type { Ignore } from 'ignore'

const mostPatterns = 2_000
const longestPattern = 1_000

/** Left out by default, whatever the ignore files say. */
const alwaysIgnored = new Set(['.git', 'node_modules'])

/** The patterns of a `.gitignore` file, on top of those of its parent folders. The last match of the nearest file decides. */
export class IgnoreRules {
  readonly #parent: IgnoreRules | undefined
  /** The folder of the file, with a slash; empty for the root. */
  readonly #prefix: string
  readonly #matcher: Ignore | undefined
  /** Several `**` in one pattern can take exponential time. */
  readonly canBeSlow: boolean

  constructor(file?: { readonly matcher: Ignore; readonly folder: string; readonly canBeSlow: boolean }, parent?: IgnoreRules) {
    this.#matcher = file?.matcher
    this.#prefix = !file || file.folder === '.' ? '' : `${file.folder}/`
    this.canBeSlow = file?.canBeSlow || parent?.canBeSlow || false
    this.#parent = parent
  }

  /** The library is loaded with the first ignore file. */
  static async parse(text: string, folder: string, parent?: IgnoreRules): Promise<IgnoreRules> {
    const { default: ignore } = await import('ignore')
    const patterns = text.split(/\r?\n/, mostPatterns).filter(({ length }) => length <= longestPattern)
    const matcher = ignore({ ignorecase: false, allowRelativePaths: true }).add(patterns)
    return new IgnoreRules({ matcher, folder, canBeSlow: patterns.some((pattern) => pattern.split('**').length > 2) }, parent)
  }

  /** Callers bound the time where the rules can be slow. */
  ignores(path: string, isFolder: boolean): boolean {
    return alwaysIgnored.has(path.slice(path.lastIndexOf('/') + 1)) || this.#verdict(path, isFolder)
  }

  #verdict(path: string, isFolder: boolean): boolean {
    const { ignored = false, unignored = false } =
      this.#matcher && path.startsWith(this.#prefix) ? this.#matcher.test(`${path.slice(this.#prefix.length)}${isFolder ? '/' : ''}`) : {}
    if (ignored || unignored) return ignored
    return this.#parent ? this.#parent.#verdict(path, isFolder) : false
  }
}
