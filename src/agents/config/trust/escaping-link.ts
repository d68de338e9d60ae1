import { lstatSync, realpathSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isInside } from '../../../util/is-inside.ts'

/**
 * The link over which a path inside a folder leaves the folder. A link may have been created after a person trusted the
 * path. A dangling link is reported too, because its target may be created later.
 */
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
