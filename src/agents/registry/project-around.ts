import { homedir, userInfo } from 'node:os'
import { dirname } from 'node:path'
import { isInside } from '../../util/is-inside.ts'
import { foldersUpTo, hasConfiguration, isRepository } from '../project-context/index.ts'
import { realPath } from './agent-paths.ts'

/**
 * The folder of the project that a file lies in, wherever one stands: the nearest repository around it, else the nearest
 * folder with a configuration, else its own. A path without links.
 */
export function projectAround(file: string): string {
  const own = dirname(file)
  const around = foldersUpTo(own)
  const homes = homeFolders()
  // What a person keeps in their home folder makes no project of all that lies there.
  const isAboveHome = (folder: string): boolean => homes.some((home) => isInside(folder, home))
  return around.find(isRepository) ?? around.find((folder) => hasConfiguration(folder) && !isAboveHome(folder)) ?? own
}

/** What `HOME` says, and what the system does. */
function homeFolders(): readonly string[] {
  return [homedir, () => userInfo().homedir].flatMap((ask) => {
    try {
      return [realPath(ask())]
    } catch {
      // A user whom the system does not know.
      return []
    }
  })
}
