import { lstatSync, realpathSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isInside } from '../../../util/is-inside.ts'

/** The link by which a path leaves the folder, perhaps created after the trust. Dangling links too: targets may come later. */
export function findEscapingLink(folder: string, path: string): string | undefined {
  if (!isInside(folder, path)) return undefined
  let at = folder
  for (const part of relative(folder, path).split(sep)) {
    at = join(at, part)
    if (isLink(at) && !staysInside(folder, at)) return at
  }
  return undefined
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false
  }
}

function staysInside(folder: string, link: string): boolean {
  try {
    return isInside(realpathSync(folder), realpathSync(link))
  } catch {
    return false
  }
}
