import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/*
 * Processes that left the group of who has started them, found by a variable that they have inherited.
 *
 * 1. Only what carries the mark is ended, and no mark is used twice.
 * 2. Found on Linux alone, and only where the variable was passed on. Elsewhere nobody is ended.
 */

/** The variable that hooks and all that they start have, besides those that they are given. */
const variable = 'TROUPE_HOOK'
/** What is found may start something before it is gone. */
const mostRounds = 5

export interface Mark {
  readonly environment: { readonly [name: string]: string }
  /** `variable=value`, as it stands in the environment of a process. */
  readonly text: string
}

export function newMark(): Mark {
  const value = randomUUID()
  return { environment: { [variable]: value }, text: `${variable}=${value}` }
}

/** Takes a look at every process of the system: not for what happens often. */
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

/** Nothing where it is gone, or somebody else's. */
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
    // It was faster.
  }
}
