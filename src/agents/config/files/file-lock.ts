import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, link, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as after } from 'node:timers/promises'
import { TroupeError } from '../../../contracts/index.ts'

/** How long somebody waits for a lock that another holds. */
export interface LockWait {
  readonly tries: number
  pause(): Promise<void>
}

/** About ten seconds; nobody holds a lock for longer than it takes to write a small file. Whoever waits does so in no rhythm. */
const defaultWait: LockWait = { tries: 2_000, pause: () => after(1 + Math.random() * 8) }

interface Holder {
  readonly pid: number
  readonly host: string
  readonly token: string
}

/** Locks of this process. */
const held = new Set<string>()

/**
 * Does something while no other process does so for the same path. Who holds the lock stands in a file beside it, which
 * comes to be as a whole or not at all.
 *
 * 1. A lock whose process is gone is taken away by one alone: who has a lock on that very lock, by its token. Nobody else
 *    can change it meanwhile, and a later lock has another token.
 * 2. Who lives is waited for, and never robbed.
 *
 * @throws TroupeError `config_invalid` where that takes too long.
 */
export async function withLock<Result>(path: string, work: () => Promise<Result>, wait: LockWait = defaultWait): Promise<Result> {
  const lock = `${path}.lock`
  const token = await acquire(lock, wait)
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
    held.delete(token)
  }
}

async function acquire(lock: string, wait: LockWait): Promise<string> {
  const mine: Holder = { pid: process.pid, host: hostname(), token: randomBytes(8).toString('hex') }
  const aside = `${lock}.${mine.token}.tmp`
  await writeFile(aside, JSON.stringify(mine), { flag: 'wx', mode: 0o600 })
  held.add(mine.token)
  try {
    let holder: Holder | undefined
    for (let tries = 0; tries < wait.tries; tries++) {
      if (await tryLink(aside, lock)) return mine.token
      holder = await holderOf(lock)
      if (holder && (await isStale(lock, holder))) await removeStale(lock, holder, wait)
      else await wait.pause()
    }
    throw lockTimeout(lock, holder)
  } catch (error) {
    held.delete(mine.token)
    throw error
  } finally {
    await rm(aside, { force: true })
  }
}

/** Only the first of all that try succeeds. */
async function tryLink(aside: string, lock: string): Promise<boolean> {
  try {
    await link(aside, lock).catch((error: unknown) => {
      if (codeOf(error) === 'EEXIST') throw error
      // Some media know no links.
      return copyFile(aside, lock, constants.COPYFILE_EXCL)
    })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Nothing where it has been given up meanwhile, or does not say whose it is. */
async function holderOf(lock: string): Promise<Holder | undefined> {
  try {
    const { pid, host, token }: { [key in keyof Holder]?: unknown } = JSON.parse(await readFile(lock, 'utf8'))
    const isWhole = Number.isInteger(pid) && typeof host === 'string' && typeof token === 'string' && /^[\da-f]{16}$/.test(token)
    return isWhole ? { pid: Number(pid), host, token } : undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** One that has ended properly has given its lock up before: then the lock is no longer there, or another's. */
const isStale = async (lock: string, holder: Holder): Promise<boolean> => hasEnded(holder) && (await holderOf(lock))?.token === holder.token

/** Of another machine nobody can tell. A number may have been given to this process after the one that had it. */
function hasEnded({ pid, host, token }: Holder): boolean {
  if (host !== hostname()) return false
  if (pid === process.pid) return !held.has(token)
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}

async function removeStale(lock: string, { token }: Holder, wait: LockWait): Promise<void> {
  await withLock(
    `${lock}.${token}`,
    async () => {
      if ((await holderOf(lock))?.token === token) await rm(lock, { force: true })
    },
    wait,
  )
}

const lockTimeout = (lock: string, holder: Holder | undefined): TroupeError =>
  new TroupeError('config_invalid', `${lock} is held${holder ? ` by process ${holder.pid} on ${holder.host}` : ''}.`, {
    remedy: 'Try again; where nothing of Troupe runs any more, remove that file.',
  })

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException | undefined)?.code
