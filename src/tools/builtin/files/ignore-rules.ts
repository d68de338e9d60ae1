import { type Effort, lettersOf, type PathGlob, pathGlobOf } from './glob.ts'

interface Rule {
  readonly glob: PathGlob
  readonly isNegated: boolean
  readonly isForFolders: boolean
}

const mostRules = 2_000

/** What is left out unless it is asked for, whatever the ignore files say. */
const always = new Set(['.git', 'node_modules'])

/** The rules of a `.gitignore` file, on top of those of the folders above. The last that fits counts, the nearest file first. */
export class IgnoreRules {
  readonly #above: IgnoreRules | undefined
  /** The folder of the file, with a slash; empty for the root. */
  readonly #prefix: string
  readonly #rules: readonly Rule[]

  constructor(text: string, folder: string, above?: IgnoreRules) {
    this.#above = above
    this.#prefix = folder === '.' ? '' : `${folder}/`
    this.#rules = text.split('\n').slice(0, mostRules).flatMap(ruleOf).reverse()
  }

  /** Where the effort is used up before a rule was found, nothing is left out. */
  ignores(path: string, isFolder: boolean, effort: Effort): boolean {
    if (always.has(path.slice(path.lastIndexOf('/') + 1))) return true
    return this.#verdict(path, isFolder, effort) ?? false
  }

  #verdict(path: string, isFolder: boolean, effort: Effort): boolean | undefined {
    if (effort.isSpent) return undefined
    if (this.#rules.length > 0 && path.startsWith(this.#prefix)) {
      const way = lettersOf(path.slice(this.#prefix.length))
      for (const { glob, isForFolders, isNegated } of this.#rules) {
        if (effort.isSpent) return undefined
        if ((isFolder || !isForFolders) && glob.matches(way, effort)) return !isNegated
      }
    }
    return this.#above === undefined ? undefined : this.#above.#verdict(path, isFolder, effort)
  }
}

function ruleOf(line: string): readonly Rule[] {
  let pattern = line.trimEnd()
  if (pattern.endsWith('\\') && pattern.length < line.length) pattern += ' '
  if (pattern === '' || pattern.startsWith('#')) return []
  const isNegated = pattern.startsWith('!')
  if (isNegated) pattern = pattern.slice(1)
  const isForFolders = pattern.endsWith('/')
  if (isForFolders) pattern = pattern.slice(0, -1)
  // A slash at the beginning or within ties a rule to the folder of its file.
  const isTied = pattern.includes('/')
  pattern = pattern.replace(/^\//, '')
  if (pattern === '') return []
  // All that is in a folder is not the folder.
  if (pattern.endsWith('/**')) pattern += '/*'
  return [{ glob: pathGlobOf(isTied ? pattern : `**/${pattern}`, { hasBraces: false }), isNegated, isForFolders }]
}
