/*
 * A repository of Git, as far as it decides what Git runs: its settings, its hooks, and where else to look for both.
 */
import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { guardedPartsOfGit } from '../../util/guarded-names.ts'
import { isInside } from '../../util/is-inside.ts'
import { realOrSame } from '../real-or-same.ts'
import { gitSettings, isPlainConfig } from './git-config.ts'
import { identityOf, isMountPoint } from './mount-points.ts'
import { textOf } from './text-of.ts'

/** More than that is nobody's. */
const mostHooks = 200

/** The folder behind a `.git`, which may be a file or a link that leads there; nothing where it leads nowhere. */
export function repositoryAt(entry: string): string | undefined {
  try {
    const real = realpathSync(entry)
    if (lstatSync(real).isDirectory()) return real
    // As Git reads it: all but line breaks at the end is the path.
    const target = /^gitdir: ([\s\S]*?)[\r\n]*$/.exec(textOf(real) ?? '')?.[1]
    return target === undefined ? undefined : realpathSync(resolve(dirname(real), target))
  } catch {
    return undefined
  }
}

/** A folder that Git takes for a repository though it is not called `.git`. What it is made of may be elsewhere. */
export function looksBare(folder: string): boolean {
  const has = (name: string): boolean => statOf(join(folder, name)) !== undefined
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')))
}

/** A `.git` that is a file and leads nowhere for us; Git may read it otherwise. Which one it is, and as of when. */
export function riddle(entry: string): string | undefined {
  const stat = statOf(entry)
  if (!stat?.isFile() || repositoryAt(entry) !== undefined) return undefined
  return `${stat.ino}:${stat.ctimeMs}`
}

export const partsOf = (repository: string): readonly string[] => guardedPartsOfGit.map((name) => join(repository, name))

/** Changes whenever something of it does that decides what Git runs. The kernel keeps these times; nobody can set them. */
export function fingerprint(repository: string): string {
  const hooks = join(repository, 'hooks')
  const parts = [...partsOf(repository), ...namesIn(hooks).map((name) => join(hooks, name))]
  const times = parts.map((path) => {
    const stat = isMountPoint(path) ? undefined : lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return stat === undefined ? '-' : `${stat.ino}:${stat.ctimeNs}`
  })
  return [identityOf(repository), ...times].join(' ')
}

/** What of it makes Git run something. `known`: repositories that were there before, which may be looked into. */
export function runsSomething(repository: string, known: readonly string[]): readonly string[] {
  const [hooks, commondir] = [join(repository, 'hooks'), join(repository, 'commondir')]
  const settings = ['config', 'config.worktree'].map((name) => join(repository, name))
  const shared = textOf(commondir)?.trim()
  return [
    ...settings.filter((file) => statOf(file) !== undefined && !isPlainConfig(textOf(file) ?? '?')),
    ...(statOf(commondir) === undefined || known.includes(realOrSame(resolve(repository, shared ?? ''))) ? [] : [commondir]),
    ...(namesIn(hooks).some((name) => isHook(join(hooks, name))) ? [hooks] : []),
  ]
}

export interface LedTo {
  /** Folders. */
  readonly hooks: readonly string[]
  /** Files. */
  readonly settings: readonly string[]
}

/** What its settings lead to inside of a workspace. */
export function ledTo(repository: string, workspace: string): LedTo {
  const settings = gitSettings(textOf(join(realOrSame(repository), 'config')) ?? '') ?? []
  const values = (names: readonly string[], from: string): readonly string[] =>
    settings
      .filter(({ name, value }) => names.includes(name) && !/^"?(?:~|$)/.test(value))
      .map(({ value }) => resolve(from, value.replace(/^"(.*)"$/, '$1')))
      .filter((path) => isInside(workspace, path) && path !== workspace)
  return { hooks: values(['core.hookspath'], workspace), settings: values(['include.path', 'includeif.path'], repository) }
}

/** Whether Git runs nothing when it looks at the state of a repository. */
export function isPlainRepository(repository: string): boolean {
  const triggered = [join(repository, 'commondir'), join(repository, 'config.worktree'), join(repository, 'hooks', 'post-index-change')]
  return isPlainConfig(textOf(join(repository, 'config')) ?? '?') && triggered.every((path) => statOf(path) === undefined)
}

/** Git runs no examples. */
function isHook(path: string): boolean {
  const stat = statOf(path)
  if (path.endsWith('.sample') || stat === undefined) return false
  return stat.isSymbolicLink() || stat.isDirectory() || (stat.mode & 0o111) !== 0
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, mostHooks)
  } catch {
    return []
  }
}

/** A folder that may not be looked into has nothing in it for us. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
