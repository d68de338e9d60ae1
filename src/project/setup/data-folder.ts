import { accessSync, constants, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { errorCode } from '../../util/error-code.ts'
import type { Environment } from '../config/variables/resolve-placeholders.ts'

interface DataFolderSources {
  readonly flag: string | undefined
  /** The base of a relative flag. Default: the working directory of the process. */
  readonly cwd?: string
  readonly env: Environment
}

/** The folder of the journals: the flag, else the user's state folder. */
export function dataFolder({ flag, env, cwd = '' }: DataFolderSources): string {
  if (flag !== undefined) return resolve(cwd, flag)
  const state = env.XDG_STATE_HOME
  // The XDG specification has relative paths ignored.
  return join(state !== undefined && isAbsolute(state) ? state : join(homeFolder(env), '.local', 'state'), 'troupe')
}

/** The folder for `--data-dir` of a command; `undefined` if it is the default. */
export const dataDirOf = (folder: string, env: DataFolderSources['env']): string | undefined =>
  folder === dataFolder({ flag: undefined, env }) ? undefined : folder

/** `HOME` if it is absolute. */
export function homeFolder({ HOME = homedir() }: Environment): string {
  return isAbsolute(HOME) ? HOME : ownHome()
}

/** From the system, because an empty or relative `HOME` would depend on the current folder. */
function ownHome(): string {
  try {
    const { homedir: own } = userInfo()
    if (isAbsolute(own)) return own
  } catch {
    // A user id without an account.
  }
  throw new TroupeError('config_invalid', 'No home folder for journals found.', {
    remedy: 'Set HOME or XDG_STATE_HOME to an absolute path, or set a folder with --data-dir.',
  })
}

/** Why journals cannot be written there. Creates nothing. */
export function dataFolderProblem(folder: string): Problem | undefined {
  const why = whyUnwritable(folder)
  if (why === undefined) return undefined
  return { place: folder, message: `Journals cannot be stored there: ${why}.`, remedy: 'Use another folder with --data-dir.' }
}

/** Why a folder, existing or not, cannot be written. Creates nothing. */
export function whyUnwritable(folder: string): string | undefined {
  const existing = nearestExisting(folder)
  if (typeof existing === 'object') return existing.why
  try {
    if (!statSync(existing).isDirectory()) return `${existing} is not a folder`
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return `${existing} cannot be written (${errorCode(error) ?? 'unknown'})`
  }
}

/** Why a folder does not exist and cannot be created. Creates nothing. */
export function whyNoFolder(folder: string): string | undefined {
  const existing = nearestExisting(folder)
  if (typeof existing === 'object') return existing.why
  return statSync(existing).isDirectory() ? undefined : `${existing} is not a folder`
}

/** The folder itself, or the nearest existing parent. */
function nearestExisting(path: string): string | { readonly why: string } {
  for (let at = path; ; at = dirname(at)) {
    try {
      statSync(at)
      return at
    } catch (error) {
      const code = errorCode(error) ?? 'unknown'
      const isMissing = code === 'ENOENT' || code === 'ENOTDIR'
      if (!isMissing || dirname(at) === at) return { why: `${at} cannot be read (${code})` }
    }
  }
}
