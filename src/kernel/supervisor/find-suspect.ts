import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isInside } from '../../util/is-inside.ts'

export interface ExtensionFolder {
  readonly id: string
  /** Absolute. Node names files by their real paths. */
  readonly folder: string
}

export function realFolder({ id, folder }: ExtensionFolder): ExtensionFolder {
  try {
    return { id, folder: realpathSync(folder) }
  } catch {
    return { id, folder }
  }
}

const location = /(?:^|[ (])(file:\/\/[^\s()]+?|\/[^()]+?|[a-z]:\\[^()]+?)(?:\?[^()]*?)?(?::\d+){0,2}\)?$/i

/** The extension whose code is nearest to the top of a stack. `places`: lines of a stack trace, or addresses of files. */
export function findSuspect(places: readonly string[], folders: readonly ExtensionFolder[]): string | undefined {
  for (const place of places) {
    const file = fileAt(place)
    const found = file === undefined ? undefined : folders.find(({ folder }) => isInside(folder, file))
    if (found) return found.id
  }
  return undefined
}

function fileAt(place: string): string | undefined {
  const written = location.exec(place.trim())?.[1]
  try {
    return written?.startsWith('file:') ? fileURLToPath(written) : written
  } catch {
    return undefined
  }
}
