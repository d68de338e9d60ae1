import { readFileSync, statSync } from 'node:fs'

/** The process that holds the lock of a database, and what to do about it. */
export interface LockHolder {
  /** `process 4242, which is stopped,` */
  readonly name: string
  readonly remedy: string
}

/** A driver of trees that lives, but has not renewed its lease. */
export interface SilentDriver {
  readonly pid: number
  readonly silentMs: number
}

/**
 * Linux lists file locks with their processes. Elsewhere the holder is probably a driver of trees that lives but has not
 * renewed its lease: a stopped process does not.
 */
export function lockHolder(file: string, silent: () => readonly SilentDriver[]): LockHolder | undefined {
  const pid = lockedBy(file)
  if (pid !== undefined && isStopped(pid)) return { name: `process ${pid}, which is stopped,`, remedy: continueIt(pid) }
  if (pid !== undefined) return { name: `process ${pid}`, remedy: `Wait for process ${pid} or end it, then try again.` }
  const [driver] = silent()
  if (!driver) return undefined
  const seconds = Math.round(driver.silentMs / 1000)
  return { name: `probably process ${driver.pid}, which has been silent for ${seconds} s,`, remedy: continueIt(driver.pid) }
}

const continueIt = (pid: number): string => `Continue it (kill -CONT ${pid}) or end it (kill -KILL ${pid}), then try again.`

/** Writers lock the index of the log; a process that recovers or closes the database locks the file. */
function lockedBy(file: string): number | undefined {
  try {
    const inodes = new Set([`${file}-shm`, file].flatMap(inodeOf))
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const [, kind, , mode, pid, place = ''] = line.split(/\s+/)
      if (kind === 'POSIX' && mode === 'WRITE' && Number(pid) !== process.pid && inodes.has(place.slice(place.lastIndexOf(':') + 1)))
        return Number(pid)
    }
  } catch {
    // Not Linux, or not readable.
  }
  return undefined
}

function inodeOf(path: string): readonly string[] {
  const ino = statSync(path, { throwIfNoEntry: false })?.ino
  return ino === undefined ? [] : [String(ino)]
}

function isStopped(pid: number): boolean {
  try {
    // The state follows the last parenthesis: the name before it may contain any character.
    return /^\) [Tt]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, ')'))
  } catch {
    return false
  }
}
