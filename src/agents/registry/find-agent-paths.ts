import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join, matchesGlob, parse, relative, sep } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { hasAgentExtension } from './agent-paths.ts'

/** How far a search goes: a project may stand beside anything, and a glob may mean everything. */
export const searchBounds = { folders: 2_000, files: 10_000, depth: 16 } as const
/** A pattern beyond these could take for ever to be compared with a single name. */
export const patternBounds = { characters: 1_000, stars: 6, alternatives: 16 } as const

const skipped = new Set(['node_modules', '.git'])
const magic = /[*?[\]{}]/

/** What one search has looked at so far, or several together. */
export class SearchBudget {
  readonly #seen = { folders: 0, files: 0 }

  /** Throws where it would be one too many. */
  spend(what: 'folders' | 'files', begin: string): void {
    if (++this.#seen[what] > searchBounds[what]) throw searchLimitError(begin, `${searchBounds[what]} ${what}`)
  }
}

export interface FoundPaths {
  readonly paths: readonly string[]
  /** Whether every one was named, so that one which is no agent is a problem. */
  readonly isNamed: boolean
}

/**
 * The files that an entry of the configuration leads to: a file, everything below a folder, or a glob. Folders behind
 * links are not entered. Throws where the search would go beyond its bounds: half of what there is helps nobody.
 */
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

/** Only ever downwards from the last folder that is named outright, and only where the pattern can still lead. */
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

/** Paths are relative to where the search begins. */
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
  return new TroupeError('agent_file_invalid', `the search for agents in ${begin} goes beyond ${bound}`, {
    remedy: 'Name the folders that have agents in them, or the files.',
  })
}

const sorted = (entries: readonly Dirent[]): readonly Dirent[] => entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
