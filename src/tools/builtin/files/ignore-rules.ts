import { type Glob, globOf } from './glob.ts'

interface Rule {
  readonly glob: Glob
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

  ignores(path: string, isFolder: boolean): boolean {
    if (always.has(path.slice(path.lastIndexOf('/') + 1))) return true
    return this.#verdict(path, isFolder) ?? false
  }

  #verdict(path: string, isFolder: boolean): boolean | undefined {
    if (path.startsWith(this.#prefix)) {
      const way = path.slice(this.#prefix.length)
      const rule = this.#rules.find(({ glob, isForFolders }) => (isFolder || !isForFolders) && glob.matches(way))
      if (rule) return !rule.isNegated
    }
    return this.#above === undefined ? undefined : this.#above.#verdict(path, isFolder)
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
  return [{ glob: globOf(isTied ? pattern : `**/${pattern}`, { hasBraces: false }), isNegated, isForFolders }]
}
