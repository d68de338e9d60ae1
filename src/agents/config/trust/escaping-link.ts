import { lstatSync, realpathSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isInside } from '../../../util/is-inside.ts'

/**
 * The link by which a path leaves a folder that it is written to lie in. Whoever trusted the path has seen where it lies,
 * and no link that was put there later. A link that leads nowhere may lead anywhere soon.
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

/** What cannot be looked at cannot be followed either. */
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
