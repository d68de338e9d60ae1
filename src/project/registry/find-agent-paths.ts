import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join, matchesGlob, parse, relative, sep } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { hasAgentExtension } from './agent-paths.ts'

/** Limits of a search: a glob may match everything. */
export const searchBounds = { folders: 2_000, files: 10_000, depth: 16 } as const
/** Other patterns could take very long to match a single name. */
export const patternBounds = { characters: 1_000, stars: 6, alternatives: 16 } as const

const skipped = new Set(['node_modules', '.git'])
const magic = /[*?[\]{}]/

/** Counts the folders and files of one or more searches. */
export class SearchBudget {
  readonly #seen = { folders: 0, files: 0 }

  /** Throws if the limit is exceeded. */
  spend(what: 'folders' | 'files', begin: string): void {
    if (++this.#seen[what] > searchBounds[what]) throw searchLimitError(begin, `${searchBounds[what]} ${what}`)
  }
}

export interface FoundPaths {
  readonly paths: readonly string[]
  /** Whether the file itself was named, so that it must be an agent. */
  readonly isNamed: boolean
}

/** Finds a file, all files below a folder, or a glob. Does not follow links to folders. Throws beyond a limit: a part would mislead. */
export function findAgentPaths(written: string, budget = new SearchBudget()): FoundPaths {
  if (magic.test(written)) return { paths: glob(written, budget), isNamed: false }
  const found = statSync(written, { throwIfNoEntry: false })
  if (found?.isDirectory()) {
    const search = new Search(written, budget, { enters: () => true, takes: hasAgentExtension })
    return { paths: search.found(), isNamed: false }
  }
  budget.spend('files', written)
  return { paths: [written], isNamed: true }
}

/** Searches from the last folder without wildcards, and only folders that can match. */
function glob(written: string, budget: SearchBudget): readonly string[] {
  const { root } = parse(written)
  const parts = written.slice(root.length).split(/[/\\]/)
  const first = parts.findIndex((part) => magic.test(part))
  const begin = join(root, ...parts.slice(0, first))
  const pattern = parts.slice(first)
  checkPattern(pattern, written)
  if (!statSync(begin, { throwIfNoEntry: false })?.isDirectory()) return []
  const anyDepth = pattern.indexOf('**')
  const fixed = anyDepth === -1 ? pattern : pattern.slice(0, anyDepth)
  const search = new Search(begin, budget, {
    enters: (path) => {
      const names = path.split(sep)
      const fits = names.every((name, level) => level >= fixed.length || matchesGlob(name, fixed[level] ?? ''))
      return fits && (anyDepth !== -1 || names.length < pattern.length)
    },
    takes: (path) => matchesGlob(path, pattern.join(sep)),
  })
  return search.found()
}

function checkPattern(pattern: readonly string[], written: string): void {
  const { characters, stars, alternatives } = patternBounds
  const isLong = written.length > characters
  const isStarry = pattern.some((part) => part !== '**' && part.split('*').length - 1 > stars)
  const choices = pattern.flatMap((part) => part.match(choice) ?? [])
  const isManifold = choices.length > 1 || choices.join('').split(',').length > alternatives
  const isNested = pattern.some((part) => /[{}()]/.test(part.replaceAll(choice, '')))
  if (!isLong && !isStarry && !isManifold && !isNested) return
  throw new TroupeError('agent_file_invalid', `the pattern ${isLong ? `${written.slice(0, 100)}…` : written} is too much`, {
    remedy: `At most ${characters} characters, ${stars} \`*\` between two \`/\`, and one \`{a,b}\` of ${alternatives} names; write others as entries of their own.`,
  })
}

const choice = /\{[^{}()./]*\}/g

/** Paths are relative to the start of the search. */
interface Wanted {
  enters(path: string): boolean
  takes(path: string): boolean
}

class Search {
  readonly #begin: string
  readonly #budget: SearchBudget
  readonly #wanted: Wanted
  readonly #found: string[] = []

  constructor(begin: string, budget: SearchBudget, wanted: Wanted) {
    this.#begin = begin
    this.#budget = budget
    this.#wanted = wanted
  }

  found(): readonly string[] {
    this.#look(this.#begin, 0)
    return this.#found
  }

  #look(folder: string, depth: number): void {
    this.#budget.spend('folders', this.#begin)
    if (depth > searchBounds.depth) throw searchLimitError(this.#begin, `${searchBounds.depth} levels of folders`)
    for (const entry of sorted(readdirSync(folder, { withFileTypes: true }))) {
      const path = join(folder, entry.name)
      const way = relative(this.#begin, path)
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name) && this.#wanted.enters(way)) this.#look(path, depth + 1)
      } else if (this.#wanted.takes(way)) {
        this.#budget.spend('files', this.#begin)
        this.#found.push(path)
      }
    }
  }
}

function searchLimitError(begin: string, bound: string): TroupeError {
  return new TroupeError('agent_file_invalid', `the search for agents in ${begin} exceeds ${bound}`, {
    remedy: 'Name only folders with agents, or the files.',
  })
}

const sorted = (entries: readonly Dirent[]): readonly Dirent[] => entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
