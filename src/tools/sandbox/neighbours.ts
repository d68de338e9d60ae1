/*
 * Other programs of ours that run commands in the same folder, or in one above it or inside of it.
 *
 * 1. Whoever is at work there has a file that says where, and whose name says so: `busy`, and in the end `leaving`.
 * 2. Who comes says so, then waits for those who are leaving. Who leaves says so, then looks for those who are busy. Each
 *    speaks before it looks, so two can not miss each other.
 * 3. Who was killed says nothing any more: a name tells the process, and when it began.
 * 4. Where no such files can be kept, everybody is alone.
 */
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { isInside } from '../../util/is-inside.ts'
import { isOurFolder } from './our-folder.ts'

type Doing = 'busy' | 'leaving'

const place = `/tmp/troupe-at-work-${process.getuid?.() ?? 'anybody'}`

/** Once it is ours nobody else can put another in its place. */
let hasPlace = false
let made = 0

export class Neighbours {
  readonly #folder: string
  readonly #self = `${process.pid}-${beginningOf(process.pid) ?? ''}-${threadId}-${++made}`
  #times = 0
  #since = Number.POSITIVE_INFINITY

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Says that we are at work, too. */
  come(): void {
    this.#times++
    this.#since = Date.now()
    hasPlace ||= isOurFolder(place)
    try {
      if (hasPlace) writeFileSync(this.#file('busy'), this.#folder, { flag: 'wx', mode: 0o600 })
      // The clock of the files goes a little behind ours.
      if (hasPlace) this.#since = statSync(this.#file('busy')).mtimeMs
    } catch {
      // Then nobody knows of us. Perhaps somebody has cleared up in there.
      hasPlace = false
    }
  }

  leave(): void {
    try {
      renameSync(this.#file('busy'), this.#file('leaving'))
    } catch {
      // Nobody knew of us.
    }
  }

  /** Nobody waits for that: some file systems take milliseconds. */
  gone(): void {
    rm(this.#file('leaving'), { force: true }).catch(() => {})
  }

  /** Whether somebody else is doing that. */
  areAny(doing: Doing): boolean {
    return this.#others(doing).length > 0
  }

  /** Since when somebody has been at work, ourselves or others, in milliseconds; never where nobody is. */
  busySince(): number {
    return Math.min(this.#since, ...this.#others('busy').map(timeOf))
  }

  /** Their files. */
  #others(doing: Doing): readonly string[] {
    return names().filter((name) => {
      const [who = '', , what] = name.split('.')
      return who !== this.#self && isThere(who, name) && what === doing && this.#isNear(name)
    })
  }

  #isNear(name: string): boolean {
    try {
      const folder = readFileSync(join(place, name), 'utf8')
      return isInside(folder, this.#folder) || isInside(this.#folder, folder)
    } catch {
      // It has changed its name just now, or is gone: whoever looks again sees it.
      return false
    }
  }

  /** Never the same twice: an earlier one may still be on its way out. */
  #file(doing: Doing): string {
    return join(place, `${this.#self}.${this.#times}.${doing}`)
  }
}

function timeOf(name: string): number {
  try {
    return statSync(join(place, name)).mtimeMs
  } catch {
    // It is leaving.
    return Number.POSITIVE_INFINITY
  }
}

function names(): readonly string[] {
  try {
    return readdirSync(place)
  } catch {
    return []
  }
}

/** What somebody who is gone has left is taken away, wherever they were. */
function isThere(who: string, name: string): boolean {
  const [pid, beginning] = who.split('-')
  if (beginningOf(Number(pid)) === beginning) return true
  rm(join(place, name), { force: true }).catch(() => {})
  return false
}

/** In ticks since the machine began; nothing where there is no such process, or it only waits to be forgotten. */
function beginningOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Whatever its name contains, it ends with the last bracket.
    const [state = '', ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return 'ZX'.includes(state) ? undefined : rest[18]
  } catch {
    return undefined
  }
}
