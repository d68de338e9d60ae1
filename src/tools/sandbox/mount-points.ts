/*
 * Something has to be there for anything to be bound over it. What is not there is made: an empty folder, which Git does
 * not see, and which is taken away when the command is gone.
 *
 * 1. Whoever takes one away takes the mount away, in every world: so it stays for as long as one of our commands holds it.
 * 2. It carries a time of its own, so that one is known for what it is when whoever made it could not take it away.
 * 3. Only an empty one of ours is ever removed. What a person has put into it meanwhile is theirs.
 */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, utimesSync } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

/** 4 May 2003, and a third of a second. */
const markSeconds = 1_052_006_400.333

const holders = new Map<string, number>()
const leaving = new Set<Promise<unknown>>()
const scratch = '/tmp/troupe-gone-'

/** Whether it is an empty folder of ours, perhaps of an earlier life. */
export function isMountPoint(path: string): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat?.isDirectory() === true && Math.abs(stat.mtimeMs - markSeconds * 1000) < 1 && readdirSync(path).length === 0
  } catch {
    return false
  }
}

/** Which folder it is: one that is made in its place is another one, whatever it is called. */
export function identityOf(path: string): string | undefined {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return stat && `${stat.dev}:${stat.ino}:${stat.birthtimeNs}`
  } catch {
    return undefined
  }
}

/** Makes one, or shares it, and says which. There is none where we may not write; commands may not write there either. */
export function holdMountPoint(path: string): string | undefined {
  try {
    if (!isMountPoint(path)) {
      mkdirSync(path)
      utimesSync(path, markSeconds, markSeconds)
    }
    holders.set(path, (holders.get(path) ?? 0) + 1)
    return identityOf(path)
  } catch {
    return undefined
  }
}

/** Afterwards they are gone. */
export async function releaseMountPoints(paths: Iterable<string>): Promise<void> {
  const last = [...paths].filter(isLastHolder).filter(isMountPoint)
  const left = movedAway(last)
  // Where that fails they stay, and are known for what they are.
  const gone = Promise.all(left.map((path) => rmdir(path).catch(() => {})))
  leaving.add(gone)
  await gone
  leaving.delete(gone)
}

/** What is being taken away must not be shared any more. */
export async function mountPointsGone(): Promise<void> {
  await Promise.all(leaving)
}

function isLastHolder(path: string): boolean {
  const left = (holders.get(path) ?? 1) - 1
  if (left > 0) holders.set(path, left)
  else holders.delete(path)
  return left <= 0
}

/** Some file systems take milliseconds to remove a folder, and none to move it; nobody waits for the former. Gives what is still there. */
function movedAway(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return []
  try {
    const folder = mkdtempSync(scratch)
    const left = paths.filter((path, index) => !isMoved(path, join(folder, String(index))))
    rm(folder, { recursive: true, force: true }).catch(() => {})
    return left
  } catch {
    return paths
  }
}

function isMoved(path: string, to: string): boolean {
  try {
    renameSync(path, to)
    return true
  } catch {
    // On another disk, most likely.
    return false
  }
}
