/*
 * Repositories that lie inside of others: their work trees, and what submodules are made of. Git finds them by their names
 * alone, from settings and files that anybody may write, so all of them count, led to or not.
 */
import { join } from 'node:path'
import { namesIn } from './names-in.ts'
import { kindOf } from './path-kind.ts'
import { isWholeRepository, looksBare } from './repository.ts'

/** Names that are looked at in all repositories of a place together. */
const mostNames = 2_000

export interface Within {
  readonly entries: readonly string[]
  /** There were no more than are looked at. */
  readonly isWhole: boolean
}

interface Folder {
  readonly path: string
  readonly holds: 'work trees' | 'modules'
}

export function repositoriesWithin(repositories: readonly string[]): Within {
  const entries: string[] = []
  const queue = repositories.flatMap(foldersOf)
  let left = mostNames
  for (let folder = queue.shift(); folder; folder = queue.shift()) {
    const names = namesIn(folder.path, left)
    if (names.length > left) return { entries, isWhole: false }
    left -= names.length
    for (const name of names) {
      const path = join(folder.path, name)
      if (folder.holds === 'work trees' || leadsToRepository(path)) entries.push(path)
      queue.push(...below(path, folder.holds))
    }
  }
  return { entries, isWhole: true }
}

/** What of a repository holds others. Where one of these is a link, Git follows it, and we do not. */
export const foldersOf = (repository: string): readonly Folder[] => [
  { path: join(repository, 'worktrees'), holds: 'work trees' },
  { path: join(repository, 'modules'), holds: 'modules' },
]

const leadsToRepository = (path: string): boolean => kindOf(path) === 'link' || looksBare(path)

/** The name of a submodule may have slashes in it. Git takes none that lies inside of what is a repository for sure. */
function below(path: string, holds: Folder['holds']): readonly Folder[] {
  if (kindOf(path) !== 'folder') return []
  return holds === 'work trees' || isWholeRepository(path) ? foldersOf(path) : [{ path, holds }]
}
