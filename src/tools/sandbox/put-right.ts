/*
 * Puts right what a command has done to what it must not touch, and tells.
 *
 * 1. Each thing by itself: what fails is told, and keeps nothing else from being put right.
 * 2. Folders that a command has locked are opened first: they are ours.
 */
import { chmodSync, lstatSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../../util/message-of.ts'
import { kindOf } from './path-kind.ts'

export function putAside(path: string): readonly string[] {
  return carefully(path, () => {
    if (kindOf(path) === 'absent') return []
    const aside = moveAway(path)
    return [`"${path}" was made by the command and is now "${aside}": commands may not make what other programs run.`]
  })
}

export function putBackLink({ path, target }: { readonly path: string; readonly target: string }): readonly string[] {
  return carefully(path, () => {
    if (kindOf(path) === 'link' && readlinkSync(path) === target) return []
    if (kindOf(path) === 'link') {
      unlock(dirname(path))
      rmSync(path)
    } else if (kindOf(path) !== 'absent') moveAway(path)
    symlinkSync(target, path)
    return [`"${path}" was changed by the command and leads to "${target}" again: commands may not change what other programs run.`]
  })
}

export function putBackFile({ path, text }: { readonly path: string; readonly text: string }): readonly string[] {
  return carefully(path, () => {
    unlock(dirname(path))
    if (kindOf(path) !== 'absent') moveAway(path)
    writeFileSync(path, text, { flag: 'wx' })
    return [`"${path}" was broken by the command and is again as it was: without it Git would believe other files.`]
  })
}

/** Quietly: nothing is lost, and whoever locks a folder may have meant well. */
export function putBackMode({ path, mode }: { readonly path: string; readonly mode: number }): readonly string[] {
  return carefully(path, () => {
    const now = lstatSync(path, { throwIfNoEntry: false })
    if (now?.isDirectory() && (now.mode & 0o7777) !== mode) chmodSync(path, mode)
    return []
  })
}

function moveAway(path: string): string {
  unlock(dirname(path))
  // A folder that may not be written to can not be moved.
  if (kindOf(path) === 'folder') unlock(path)
  const aside = freeName(`${path}.refused`)
  renameSync(path, aside)
  return aside
}

function unlock(folder: string): void {
  const { mode, uid } = lstatSync(folder)
  if ((mode & 0o700) !== 0o700 && uid === process.getuid?.()) chmodSync(folder, (mode & 0o7777) | 0o700)
}

function freeName(path: string): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? path : `${path}-${count}`
    if (kindOf(name) === 'absent') return name
  }
}

function carefully(path: string, work: () => readonly string[]): readonly string[] {
  try {
    return work()
  } catch (error) {
    return [`"${path}" could not be put right after the command: ${messageOf(error)}. Look at it before you use this folder.`]
  }
}
