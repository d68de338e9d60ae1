import { lstatSync } from 'node:fs'

export type PathKind = 'absent' | 'folder' | 'file' | 'link'

/** What can not be looked at is as good as absent. */
export function kindOf(path: string): PathKind {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (!stat) return 'absent'
    if (stat.isSymbolicLink()) return 'link'
    return stat.isDirectory() ? 'folder' : 'file'
  } catch {
    return 'absent'
  }
}
