import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join, matchesGlob, parse, relative, sep } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { mayBeAgent } from './agent-paths.ts'

/** How far a search goes: a project may stand beside anything, and a glob may mean everything. */
export const searchBounds = { folders: 2_000, files: 10_000, depth: 16 } as const
/** A pattern beyond these could take for ever to be compared with a single name. */
export const patternBounds = { characters: 1_000, stars: 6, alternatives: 16 } as const

const skipped = new Set(['node_modules', '.git'])
const magic = /[*?[\]{}]/

/** What one search has looked at so far, or several together. */
export class SearchEffort {
  readonly #seen = { folders: 0, files: 0 }

  /** Throws where it would be one too many. */
  spend(what: 'folders' | 'files', begin: string): void {
    if (++this.#seen[what] > searchBounds[what]) throw tooFar(begin, `${searchBounds[what]} ${what}`)
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
export function findAgentPaths(written: string, effort = new SearchEffort()): FoundPaths {
  if (magic.test(written)) return { paths: glob(written, effort), isNamed: false }
  const found = statSync(written, { throwIfNoEntry: false })
  if (found?.isDirectory()) {
    const search = new Search(written, effort, { enters: () => true, takes: mayBeAgent })
    return { paths: search.found(), isNamed: false }
  }
  effort.spend('files', written)
  return { paths: [written], isNamed: true }
}

/** Only ever downwards from the last folder that is named outright, and only where the pattern can still lead. */
function glob(written: string, effort: SearchEffort): readonly string[] {
  const { root } = parse(written)
  const parts = written.slice(root.length).split(/[/\\]/)
  const first = parts.findIndex((part) => magic.test(part))
  const begin = join(root, ...parts.slice(0, first))
  const pattern = parts.slice(first)
  refuseCostly(pattern, written)
  if (!statSync(begin, { throwIfNoEntry: false })?.isDirectory()) return []
  const anyDepth = pattern.indexOf('**')
  const fixed = anyDepth === -1 ? pattern : pattern.slice(0, anyDepth)
  const search = new Search(begin, effort, {
    enters: (path) => {
      const names = path.split(sep)
      const fits = names.every((name, level) => level >= fixed.length || matchesGlob(name, fixed[level] ?? ''))
      return fits && (anyDepth !== -1 || names.length < pattern.length)
    },
    takes: (path) => matchesGlob(path, pattern.join(sep)),
  })
  return search.found()
}

function refuseCostly(pattern: readonly string[], written: string): void {
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
  readonly #effort: SearchEffort
  readonly #wanted: Wanted
  readonly #found: string[] = []

  constructor(begin: string, effort: SearchEffort, wanted: Wanted) {
    this.#begin = begin
    this.#effort = effort
    this.#wanted = wanted
  }

  found(): readonly string[] {
    this.#look(this.#begin, 0)
    return this.#found
  }

  #look(folder: string, depth: number): void {
    this.#effort.spend('folders', this.#begin)
    if (depth > searchBounds.depth) throw tooFar(this.#begin, `${searchBounds.depth} levels of folders`)
    for (const entry of sorted(readdirSync(folder, { withFileTypes: true }))) {
      const path = join(folder, entry.name)
      const way = relative(this.#begin, path)
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name) && this.#wanted.enters(way)) this.#look(path, depth + 1)
      } else if (this.#wanted.takes(way)) {
        this.#effort.spend('files', this.#begin)
        this.#found.push(path)
      }
    }
  }
}

function tooFar(begin: string, bound: string): TroupeError {
  return new TroupeError('agent_file_invalid', `the search for agents in ${begin} goes beyond ${bound}`, {
    remedy: 'Name the folders that have agents in them, or the files.',
  })
}

const sorted = (entries: readonly Dirent[]): readonly Dirent[] => entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
