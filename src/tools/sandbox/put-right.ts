/*
 * Puts right what a command has done to what it must not touch, and tells.
 *
 * 1. Each thing by itself: what fails is told, and keeps nothing else from being put right.
 * 2. Folders that a command has locked are opened first: they are ours.
 * 3. Nothing is done where a link leads, and nothing in a folder that was replaced.
 */
import { chmodSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { messageOf } from '../../util/message-of.ts'
import { plainPartOf } from './git-config.ts'
import { changeMode, inItsFolder, type Place } from './in-its-folder.ts'
import { kindOf } from './path-kind.ts'
import { textOf } from './text-of.ts'

/** What was put aside by this process, and as which one in all. */
const asides = new Map<string, number>()
let asidesInAll = 0

/** To ask later what was put aside since. */
export const asidesUntilNow = (): number => asidesInAll

/** What is there then was made anew, by a command most likely. */
export const wasPutAsideSince = (path: string, then: number): boolean => (asides.get(path) ?? 0) > then

export function putAside(path: string): readonly string[] {
  return inPlace(path, (place) => {
    if (kindOf(place.at) === 'absent') return []
    const aside = `${path}${moveAway(place)}`
    asides.set(path, ++asidesInAll)
    return [`"${path}" came to be while the command ran and is now "${aside}": commands may not make what other programs run.`]
  })
}

/** Settings of Git without those that run something: a clone without its origin would be of no use. */
export function putSettingsAside(path: string): readonly string[] {
  const kept = plainPartOf(textOf(path) ?? '?')
  const told = putAside(path)
  if (kept === undefined || told.length === 0 || kindOf(path) !== 'absent') return told
  const failed = inPlace(path, ({ at }) => {
    writeFileSync(at, kept, { flag: 'wx' })
    return []
  })
  return [...told, ...failed]
}

export function putBackLink({ path, target }: { readonly path: string; readonly target: string }): readonly string[] {
  return inPlace(path, (place) => {
    const kind = kindOf(place.at)
    if (kind === 'link' && readlinkSync(place.at) === target) return []
    if (kind === 'link') {
      unlock(place.folder)
      rmSync(place.at)
    } else if (kind !== 'absent') moveAway(place)
    symlinkSync(target, place.at)
    return [`"${path}" was changed by the command and leads to "${target}" again: commands may not change what other programs run.`]
  })
}

export function putBackFile({ path, text }: { readonly path: string; readonly text: string }): readonly string[] {
  return inPlace(path, (place) => {
    unlock(place.folder)
    if (kindOf(place.at) !== 'absent') moveAway(place)
    writeFileSync(place.at, text, { flag: 'wx' })
    return [`"${path}" was broken by the command and is again as it was: without it Git would believe other files.`]
  })
}

export interface KnownMode {
  readonly path: string
  readonly mode: number
  /** Of the folder that had it. */
  readonly identity: string
}

/** Quietly: nothing is lost, and whoever locks a folder may have meant well. */
export function putBackMode({ path, mode, identity }: KnownMode): readonly string[] {
  return inPlace(path, ({ at }) => {
    if (kindOf(at) === 'folder') changeMode(at, () => mode, identity)
    return []
  })
}

/** Gives what its name has got behind it. */
function moveAway({ at, folder }: Place): string {
  unlock(folder)
  // A folder that may not be written to can not be moved.
  if (kindOf(at) === 'folder') changeMode(at, openToUs)
  const end = freeEnd(at)
  renameSync(at, `${at}${end}`)
  return end
}

/** A folder that is held open: nobody can put another in its place. */
function unlock(folder: string): void {
  const { mode, uid } = statSync(folder)
  if (openToUs(mode & 0o7777) !== (mode & 0o7777) && uid === process.getuid?.()) chmodSync(folder, openToUs(mode & 0o7777))
}

const openToUs = (mode: number): number => mode | 0o700

function freeEnd(path: string): string {
  for (let count = 1; ; count++) {
    const end = count === 1 ? '.refused' : `.refused-${count}`
    if (kindOf(`${path}${end}`) === 'absent') return end
  }
}

/** What can not be looked at keeps nothing else from being looked at, and is told. */
export function carefully(path: string, look: () => readonly string[]): readonly string[] {
  try {
    return look()
  } catch (error) {
    return [
      `"${path}" could not be looked at after the command: ${messageOf(error)}. Look for what is new there before you use this folder.`,
    ]
  }
}

function inPlace(path: string, work: (place: Place) => readonly string[]): readonly string[] {
  try {
    return inItsFolder(path, work)
  } catch (error) {
    // Nothing is there that could be put right.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    return [`"${path}" could not be put right after the command: ${messageOf(error)}. Look at it before you use this folder.`]
  }
}
