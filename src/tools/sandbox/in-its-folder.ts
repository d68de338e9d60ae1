/*
 * Working on something by way of the folder that it is in, opened and looked at first. A command may have put a link in the
 * place of that folder, or of one above it, and another may do so this very moment: whatever is done here is done in the
 * folder that was meant, or not at all.
 */
import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Replaced } from './replaced.ts'

/** Only a name for the folder: nobody need be allowed to read it. Node does not list it. */
const onlyPath = 0o10000000
const asFolder = constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Other names, which hold for as long as the work on it takes. */
export interface Place {
  readonly at: string
  /** Where it is in. */
  readonly folder: string
}

/** `path`: without links in all but its last part. */
export function inItsFolder<Result>(path: string, work: (place: Place) => Result): Result {
  const folder = dirname(path)
  if (process.platform !== 'linux') {
    if (realpathSync(folder) !== folder) throw new Replaced(folder)
    return work({ at: path, folder })
  }
  const opened = openSync(folder, onlyPath | asFolder)
  try {
    const name = `/proc/self/fd/${opened}`
    if (readlinkSync(name) !== folder) throw new Replaced(folder)
    return work({ at: `${name}/${basename(path)}`, folder: name })
  } finally {
    closeSync(opened)
  }
}

/** Never that of what a link leads to. Where `identity` is given, of that folder alone. */
export function changeMode(at: string, mode: (before: number) => number, identity?: string): void {
  const opened = openSync(at, process.platform === 'linux' ? onlyPath | asFolder : asFolder)
  try {
    const stat = fstatSync(opened, { bigint: true })
    const before = Number(stat.mode & 0o7777n)
    const after = mode(before)
    if (after === before || (identity !== undefined && identityIn(stat) !== identity)) return
    chmodSync(process.platform === 'linux' ? `/proc/self/fd/${opened}` : at, after)
  } finally {
    closeSync(opened)
  }
}

/** Which file or folder stands at a path that has no links in it; nothing where one has been put into it. It is one look: nobody can come between. */
export function identityInPlace(path: string): string | undefined {
  try {
    if (process.platform !== 'linux') return realpathSync(path) === path ? identityIn(lstatSync(path, { bigint: true })) : undefined
    const opened = openSync(path, onlyPath | constants.O_NOFOLLOW)
    try {
      return identityOfOpened(opened, path)
    } finally {
      closeSync(opened)
    }
  } catch {
    return undefined
  }
}

/** A name for a folder that stays its own, whatever is put in its place; only where it is the one that is meant. To be closed. */
export function openedInPlace(path: string, identity: string): number {
  const opened = openSync(path, onlyPath | asFolder)
  if (identityOfOpened(opened, path) === identity) return opened
  closeSync(opened)
  throw new Replaced(path)
}

function identityOfOpened(opened: number, path: string): string | undefined {
  const stat = fstatSync(opened, { bigint: true })
  return stat.isSymbolicLink() || readlinkSync(`/proc/self/fd/${opened}`) !== path ? undefined : identityIn(stat)
}

/** Which file or folder it is: one that is made in its place is another one, whatever it is called. */
export const identityIn = ({
  dev,
  ino,
  birthtimeNs,
}: {
  readonly dev: bigint
  readonly ino: bigint
  readonly birthtimeNs: bigint
}): string => `${dev}:${ino}:${birthtimeNs}`
