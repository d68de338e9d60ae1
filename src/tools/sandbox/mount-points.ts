/*
 * Something has to be there for anything to be bound over it. What is not there is made: an empty folder, which Git does
 * not see, and which is taken away when the command is gone.
 *
 * 1. Whoever takes one away takes the mount away, in every world: so it stays for as long as one of our commands holds it.
 * 2. It carries a time of its own, so that one is known for what it is when whoever made it could not take it away.
 * 3. Only an empty one of ours is ever removed. What a person has put into it meanwhile is theirs.
 */
import { lstatSync, mkdirSync, readdirSync, renameSync, utimesSync } from 'node:fs'
import { readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

/** 4 May 2003, and a third of a second. */
const markSeconds = 1_052_006_400.333

const holders = new Map<string, number>()
const leaving = new Set<Promise<unknown>>()
let moved = 0

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
  const bin = `/tmp/troupe-gone-${process.getuid?.() ?? 'anybody'}`
  if (paths.length === 0 || !isOurBin(bin)) return paths
  const left = paths.filter((path) => !isMoved(path, join(bin, `${process.pid}-${++moved}`)))
  emptied(bin).catch(() => {})
  return left
}

/** Anybody may make one of that name, and see what is put there. */
function isOurBin(bin: string): boolean {
  try {
    mkdirSync(bin, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(bin)
    return uid === process.getuid?.() && (mode & 0o7777) === 0o700
  } catch {
    return false
  }
}

/** With what earlier ones had no time for. Only folders that are empty. */
async function emptied(bin: string): Promise<void> {
  const names = await readdir(bin)
  await Promise.all(names.map((name) => rmdir(join(bin, name)).catch(() => {})))
  await rmdir(bin)
}

function isMoved(path: string, to: string): boolean {
  try {
    renameSync(path, to)
    return true
  } catch {
    // It is on another disk, most likely.
    return false
  }
}
