import { fstatSync, type Stats, statSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Host } from '../host/process-host.ts'

/**
 * What standard input is. A file and a pipe were put there by whoever wrote the command line, so they are read to their
 * end. A socket or a device may have come along with the program that started us, and never say anything. The null device never does, and that is known at once.
 */
export type InputKind = 'nothing' | 'terminal' | 'file' | 'pipe' | 'socket' | 'device' | 'folder'

export function inputKindOf({ isTTY, fd }: Host['stdin']): InputKind {
  if (isTTY) return 'terminal'
  return fd === undefined ? 'pipe' : kindOf(fstatSync(fd))
}

function kindOf(found: Stats): InputKind {
  if (found.isDirectory()) return 'folder'
  if (found.isFile()) return 'file'
  if (found.isSocket()) return 'socket'
  if (found.isFIFO()) return 'pipe'
  return isNothing(found) ? 'nothing' : 'device'
}

function isNothing({ rdev }: Stats): boolean {
  const nothing = statSync(devNull, { throwIfNoEntry: false })
  return nothing !== undefined && !nothing.isFile() && nothing.rdev === rdev
}
