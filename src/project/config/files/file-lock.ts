import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, link, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as after } from 'node:timers/promises'
import { TroupeError } from '../../../contracts/index.ts'
import { errorCode } from '../../../util/error-code.ts'

/** How long to wait for a lock that another process holds. */
interface LockWait {
  readonly tries: number
  pause(): Promise<void>
}

/** About ten seconds, with random pauses. A lock is held only while a small file is written. */
const defaultWait: LockWait = { tries: 2_000, pause: () => after(1 + Math.random() * 8) }

interface Holder {
  readonly pid: number
  readonly host: string
  readonly token: string
}

/** Locks of this process. */
const held = new Set<string>()

/**
 * Runs `work` while no other process holds the lock of the same path. The lock is a file beside it, created atomically,
 * that names its holder.
 *
 * 1. Only one process removes a stale lock: the one that holds a lock on that lock, by its token. A later lock has another
 *    token.
 * 2. The lock of a live process is never removed.
 *
 * @throws TroupeError `config_invalid` if that takes too long.
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
  const temporary = `${lock}.${mine.token}.tmp`
  await writeFile(temporary, JSON.stringify(mine), { flag: 'wx', mode: 0o600 })
  held.add(mine.token)
  try {
    let holder: Holder | undefined
    for (let tries = 0; tries < wait.tries; tries++) {
      if (await tryLink(temporary, lock)) return mine.token
      holder = await holderOf(lock)
      if (holder && (await isStale(lock, holder))) await removeStale(lock, holder, wait)
      else await wait.pause()
    }
    throw lockTimeout(lock, holder)
  } catch (error) {
    held.delete(mine.token)
    throw error
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Only the first process succeeds. */
async function tryLink(temporary: string, lock: string): Promise<boolean> {
  try {
    await link(temporary, lock).catch((error: unknown) => {
      if (errorCode(error) === 'EEXIST') throw error
      // Some file systems have no links.
      return copyFile(temporary, lock, constants.COPYFILE_EXCL)
    })
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

/** `undefined` if the lock was released meanwhile, or does not name its holder. */
async function holderOf(lock: string): Promise<Holder | undefined> {
  try {
    const { pid, host, token }: { [key in keyof Holder]?: unknown } = JSON.parse(await readFile(lock, 'utf8'))
    const isWhole = Number.isInteger(pid) && typeof host === 'string' && typeof token === 'string' && /^[\da-f]{16}$/.test(token)
    return isWhole ? { pid: Number(pid), host, token } : undefined
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Reads the lock a second time, because a process releases its lock before it ends. */
const isStale = async (lock: string, holder: Holder): Promise<boolean> => hasEnded(holder) && (await holderOf(lock))?.token === holder.token

/** Unknown for another machine. This process may have got the id of an earlier one. */
function hasEnded({ pid, host, token }: Holder): boolean {
  if (host !== hostname()) return false
  if (pid === process.pid) return !held.has(token)
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return errorCode(error) === 'ESRCH'
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
    remedy: 'Try again. If no process of Troupe is running, remove that file.',
  })
