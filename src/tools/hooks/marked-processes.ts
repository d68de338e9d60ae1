import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/*
 * Finds processes that left their group, by a variable that they inherited.
 *
 * 1. Only processes with the mark are killed, and no mark is used twice.
 * 2. Works on Linux only, and only if the variable was passed on.
 */

const variable = 'TROUPE_HOOK'
/** A process may start others before it is killed. */
const mostRounds = 5

export interface Mark {
  readonly environment: { readonly [name: string]: string }
  /** `variable=value`, as in the environment of a process. */
  readonly text: string
}

export function newMark(): Mark {
  const value = randomUUID()
  return { environment: { [variable]: value }, text: `${variable}=${value}` }
}

/** Reads every process of the system, so it is slow. */
export function killMarked({ text }: Mark): void {
  const ended = new Set<string>()
  for (let round = 0; round < mostRounds; round++) {
    const found = processes().filter((pid) => !ended.has(pid) && environmentOf(pid).includes(text))
    if (found.length === 0) return
    for (const pid of found) {
      ended.add(pid)
      kill(Number(pid))
    }
  }
}

function processes(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** Empty if the process is gone or belongs to another user. */
function environmentOf(pid: string): Buffer {
  try {
    return readFileSync(`/proc/${pid}/environ`)
  } catch {
    return Buffer.alloc(0)
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is already gone.
  }
}
