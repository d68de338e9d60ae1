/*
 * A repository of Git, as far as it decides what Git runs: its settings, its hooks, and where else to look for both.
 *
 * Nothing here throws, whatever a command has made: what can not be looked at is nothing, or is said to be so.
 */
import { type BigIntStats, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { guardedPartsOfGit } from '../../policy/protected-paths.ts'
import { isInside } from '../../util/is-inside.ts'
import { realOrSame } from '../real-or-same.ts'
import { gitSettings, isPlainConfig, type MayWorkAt, runningSettings } from './git-config.ts'
import { identityOf, isMountPoint } from './mount-points.ts'
import { namesIn } from './names-in.ts'
import { kindOf } from './path-kind.ts'
import { textOf } from './text-of.ts'

/** More than that is nobody's. */
const mostHooks = 200

/** The folder behind a `.git`, which may be a file or a link that leads there; nothing where it leads nowhere. */
export function repositoryAt(entry: string): string | undefined {
  try {
    const real = endOf(entry)
    if (real === undefined || lstatSync(real).isDirectory()) return real
    const target = pathIn(/^gitdir: ([\s\S]*)$/.exec(textOf(real) ?? '')?.[1])
    // From where the entry is, though it may be a link to a file elsewhere.
    const end = target === undefined ? undefined : endOf(from(dirname(entry), target))
    return end !== undefined && lstatSync(end).isDirectory() ? end : undefined
  } catch {
    return undefined
  }
}

/** A folder that Git takes for a repository though it is not called `.git`. What it is made of may be elsewhere. */
export function looksBare(folder: string): boolean {
  const has = (name: string): boolean => statOf(join(folder, name)) !== undefined
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')))
}

/** One for Git, too, for sure: whatever lies inside of it, Git looks for no other in there. */
export const isWholeRepository = (folder: string): boolean =>
  isHead(join(folder, 'HEAD')) && ['objects', 'refs'].every((name) => kindOf(join(folder, name)) === 'folder')

export function isHead(path: string): boolean {
  const text = textOf(path)
  return text === undefined ? linkAt(path)?.startsWith('refs/') === true : saysHead(text)
}

export const saysHead = (text: string): boolean => /^(?:ref:\s*refs\/\S+|[0-9a-f]{40,64})\s*$/.test(text)

/** A `.git` that is there and leads nowhere for us; Git may read it otherwise. Which one it is, and as of when. */
export function riddle(entry: string): string | undefined {
  const stat = statOf(entry)
  const end = stat?.isSymbolicLink() ? endStatOf(entry) : stat
  if (!stat || !end || (end === stat && !stat.isFile()) || repositoryAt(entry) !== undefined) return undefined
  return `${timeOf(stat)} ${timeOf(end)}`
}

/** Where it says that its settings and hooks are. Git believes them there whatever else that folder lacks. */
export function commonOf(repository: string): readonly string[] {
  const end = leadsTo(join(repository, 'commondir'))?.end
  return end !== undefined && kindOf(end) === 'folder' ? [end] : []
}

export const partsOf = (repository: string): readonly string[] => guardedPartsOfGit.map((name) => join(repository, name))

/** Changes whenever something of it does that decides what Git runs. The kernel keeps these times; nobody can set them. */
export function fingerprint(repository: string): string {
  const hooks = join(repository, 'hooks')
  const parts = [...partsOf(repository), ...namesIn(hooks, mostHooks).map((name) => join(hooks, name))]
  return [identityOf(repository), ...parts.map((path) => (isMountPoint(path) ? '-' : stampOf(path)))].join(' ')
}

/** Changes with what is there itself, and not with what a link leads to. */
export function stampOf(path: string): string {
  const stat = statOf(path)
  return stat === undefined ? '-' : timeOf(stat)
}

export interface Around {
  /** Repositories that were there before, and those that are looked into as well. */
  readonly known: readonly string[]
  /** Where commands write to. */
  readonly place: string
}

/** What of it makes Git run something, or leads it elsewhere; all of it where it can not be looked at. */
export function runsSomething(repository: string, { known, place }: Around): readonly string[] {
  if (repository !== place && partsOf(repository).some(isUnseen)) return [repository]
  const [hooks, commondir, workTree] = ['hooks', 'commondir', 'gitdir'].map((name) => join(repository, name)) as [string, string, string]
  const settings = ['config', 'config.worktree'].map((name) => join(repository, name))
  const isKnown = (path: string): boolean => known.includes(leadsTo(path)?.end ?? '')
  const isInPlace = (path: string): boolean => {
    const to = leadsTo(path)
    // A work tree that is gone is nobody's.
    return to !== undefined && isInside(place, to.end ?? to.said)
  }
  return [
    ...settings.filter((file) => statOf(file) !== undefined && !isPlainConfig(textOf(file) ?? '?', worksAt(repository))),
    ...(statOf(commondir) === undefined || isKnown(commondir) ? [] : [commondir]),
    // It says only where the files are: no harm where everything else is that of a known repository.
    ...(statOf(workTree) === undefined || isKnown(commondir) || isInPlace(workTree) ? [] : [workTree]),
    ...(haveHooks(hooks) ? [hooks] : []),
  ]
}

/** Only where Git is led back from: with its files anywhere else it would overwrite what is not its own. */
const worksAt =
  (repository: string): MayWorkAt =>
  (value) =>
    !/["\\#;]/.test(value) && repositoryAt(`${from(repository, value)}/.git`) === repository

/**
 * What a part makes Git run, to be compared; never the same where it can not be told. Git writes its settings anew for every change;
 * only some of them run something.
 */
export function whatRuns(part: string): string {
  if (basename(part) === 'hooks') return hooksIn(part)
  const text = textOf(part)
  if (text === undefined) return `${identityOf(part)} ${stampOf(part)}`
  return basename(part).startsWith('config') ? JSON.stringify(runningSettings(text) ?? text) : text
}

function hooksIn(folder: string): string {
  const names = namesIn(folder, mostHooks)
  const hooks = names.map((name) => join(folder, name)).filter(isHook)
  const isTold = names.length <= mostHooks && kindOf(folder) === 'folder'
  return JSON.stringify(isTold ? hooks.toSorted().map((hook) => [hook, stampOf(hook)]) : `${++untold}`)
}

let untold = 0

/** Of what makes Git run something, what was made or changed since then. */
export function changedSince(paths: readonly string[], since: number): readonly string[] {
  const files = (path: string): readonly string[] =>
    basename(path) === 'hooks' ? namesIn(path, mostHooks).map((name) => join(path, name)) : []
  return paths.filter((path) => [path, ...files(path)].some((each) => Number(statOf(each)?.ctimeMs ?? since) >= since))
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

/** What a link leads to can be filled later. */
function haveHooks(hooks: string): boolean {
  const names = namesIn(hooks, mostHooks)
  return kindOf(hooks) === 'link' || names.length > mostHooks || names.some((name) => isHook(join(hooks, name)))
}

/** Git runs no examples. */
function isHook(path: string): boolean {
  const stat = statOf(path)
  if (path.endsWith('.sample') || stat === undefined) return false
  return stat.isSymbolicLink() || stat.isDirectory() || (stat.mode & 0o111n) !== 0n
}

/** Where a file that has a path in it leads: by what it says, and in the end. */
function leadsTo(file: string): { readonly said: string; readonly end: string | undefined } | undefined {
  const target = pathIn(textOf(file))
  if (target === undefined) return undefined
  const said = from(dirname(file), target)
  try {
    return { said, end: endOf(said) }
  } catch {
    return { said, end: undefined }
  }
}

/** As Git reads it: all but line breaks at the end is the path. */
const pathIn = (text: string | undefined): string | undefined => text?.replace(/[\r\n]+$/, '')

/** Not made shorter: `link/..` is where the link leads. */
const from = (folder: string, path: string): string => (path.startsWith('/') ? path : `${folder}/${path}`)

/** Without links, as the kernel goes; nothing where that has a name that is no text, and would be taken for another. */
function endOf(path: string): string | undefined {
  const real = realpathSync.native(path, { encoding: 'buffer' })
  const text = real.toString()
  return Buffer.from(text).equals(real) ? text : undefined
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

const timeOf = ({ ino, ctimeNs }: BigIntStats): string => `${ino}:${ctimeNs}`

/** A folder that may not be looked into has nothing in it for us. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function endStatOf(link: string): BigIntStats | undefined {
  try {
    return statSync(link, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** A path may be too long for us and not for Git, and a folder be locked until later. */
function isUnseen(path: string): boolean {
  try {
    lstatSync(path, { throwIfNoEntry: false })
    return false
  } catch {
    return true
  }
}
