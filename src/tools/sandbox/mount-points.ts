/*
 * Something has to be there for anything to be bound over it. What is not there is made: an empty folder, which Git does
 * not see, and which is taken away when the command is gone.
 *
 * 1. It carries a mark from its first moment on, so that one is known for what it is: by other programs that need it, too,
 *    and when whoever made it could not take it away.
 * 2. Only an empty one of ours is ever removed. What a person has put into it meanwhile is theirs.
 */
import { lstatSync, mkdirSync, readdirSync, renameSync, type Stats } from 'node:fs'
import { readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { identityIn, inItsFolder } from './in-its-folder.ts'
import { namesIn } from './names-in.ts'
import { isOurFolder } from './our-folder.ts'

/** Its own alone, and sticky, which makes no difference to that. A folder may inherit more from the one that it is in. */
const mark = 0o1700
const markBits = 0o1777

let moved = 0

/** Whether a folder was made to be bound over, by whomever. */
export const isMarked = (stat: Pick<Stats, 'mode' | 'isDirectory'>): boolean => stat.isDirectory() && (stat.mode & markBits) === mark

/** Whether it is an empty folder of ours, perhaps of an earlier life. */
export function isMountPoint(path: string): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat !== undefined && isMarked(stat) && namesIn(path, 0).length === 0
  } catch {
    return false
  }
}

export function identityOf(path: string): string | undefined {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return stat && identityIn(stat)
  } catch {
    return undefined
  }
}

/** Makes one, or shares it, and says which. There is none where we may not write. */
export function makeMountPoint(path: string): string | undefined {
  try {
    return inItsFolder(path, ({ at }) => {
      if (!isMountPoint(at)) mkdirSync(at, { mode: mark })
      return identityOf(at)
    })
  } catch {
    // Another program may have made it just now.
    return isMountPoint(path) ? identityOf(path) : undefined
  }
}

/** Afterwards they are gone. */
export async function removeMountPoints(paths: readonly string[]): Promise<void> {
  const left = movedAway(paths.filter(isMountPoint))
  // Where that fails they stay, and are known for what they are.
  await Promise.all(left.map((path) => rmdir(path).catch(() => {})))
}

/** Some file systems take milliseconds to remove a folder, and none to move it; nobody waits for the former. Gives what is still there. */
function movedAway(paths: readonly string[]): readonly string[] {
  const bin = `/tmp/troupe-gone-${process.getuid?.() ?? 'anybody'}`
  if (paths.length === 0 || !isOurFolder(bin)) return paths
  const left = paths.filter((path) => !isMoved(path, join(bin, `${process.pid}-${++moved}`)))
  emptied(bin).catch(() => {})
  return left
}

/** With what earlier ones had no time for. Only folders that are empty. */
async function emptied(bin: string): Promise<void> {
  const names = await readdir(bin)
  await Promise.all(names.map((name) => rmdir(join(bin, name)).catch(() => {})))
  await rmdir(bin)
}

function isMoved(path: string, to: string): boolean {
  try {
    return inItsFolder(path, ({ at }) => {
      renameSync(at, to)
      if (readdirSync(to).length === 0) return true
      // Somebody has put something into it at the last moment: it is theirs.
      renameSync(to, at)
      return true
    })
  } catch {
    // It is on another disk, most likely.
    return false
  }
}
