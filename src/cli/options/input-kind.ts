import { fstatSync, type Stats, statSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Host } from '../host/process-host.ts'

/**
 * The kind of standard input. Files and pipes come from the command line and are read to their end. A socket or device
 * may be inherited from the parent process and never send anything. `nothing` is the null device.
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
