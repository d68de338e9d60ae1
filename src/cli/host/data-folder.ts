import { accessSync, constants, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { type Problem, TroupeError } from '../../contracts/index.ts'

interface DataFolderSources {
  readonly flag: string | undefined
  readonly env: { readonly [name: string]: string | undefined }
  readonly home: string
}

/** Where journals are kept: the flag, else the user's state folder. */
export function dataFolder({ flag, env, home }: DataFolderSources): string {
  if (flag !== undefined) return resolve(flag)
  const state = env.XDG_STATE_HOME
  // The XDG specification has relative paths ignored.
  return join(state !== undefined && isAbsolute(state) ? state : join(homeFolder(home), '.local', 'state'), 'troupe')
}

/** What `HOME` says, where that is a folder that does not move with us. */
export const homeFolder = (home: string): string => (isAbsolute(home) ? home : ownHome())

/** As the system knows it. An empty or relative `HOME` would put journals, and the list of trust, wherever one happens to be. */
function ownHome(): string {
  try {
    const { homedir } = userInfo()
    if (isAbsolute(homedir)) return homedir
  } catch {
    // A user whom the system does not know.
  }
  throw new TroupeError('config_invalid', 'No home folder for journals found.', {
    remedy: 'Set HOME or XDG_STATE_HOME to an absolute path, or name a folder with --data-dir.',
  })
}

/** What would keep a journal from being written there; nothing is made to find out. */
export function dataFolderProblem(folder: string): Problem | undefined {
  const why = whyUnwritable(folder)
  if (why === undefined) return undefined
  return { place: folder, message: `Journals cannot be stored there: ${why}.`, remedy: 'Name another folder with --data-dir.' }
}

/** Why nothing could be written into a folder, be it there or still to be made; nothing is made to find out. */
export function whyUnwritable(folder: string): string | undefined {
  const existing = nearestExisting(folder)
  if (typeof existing === 'object') return existing.why
  try {
    if (!statSync(existing).isDirectory()) return `${existing} is not a folder`
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return `${existing} cannot be written (${codeOf(error)})`
  }
}

/** Why there is no folder of this name, and cannot be; nothing is made to find out. */
export function whyNoFolder(folder: string): string | undefined {
  const existing = nearestExisting(folder)
  if (typeof existing === 'object') return existing.why
  return statSync(existing).isDirectory() ? undefined : `${existing} is not a folder`
}

/** The folder itself, or whatever it would be made in. */
function nearestExisting(path: string): string | { readonly why: string } {
  for (let at = path; ; at = dirname(at)) {
    try {
      statSync(at)
      return at
    } catch (error) {
      const code = codeOf(error)
      const isElsewhere = code === 'ENOENT' || code === 'ENOTDIR'
      if (!isElsewhere || dirname(at) === at) return { why: `${at} cannot be read (${code})` }
    }
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown'
