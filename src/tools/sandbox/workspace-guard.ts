/*
 * What a command must not change inside of the workspace, because programs outside run or believe it later.
 *
 * 1. What is there is bound read-only over itself, so that it can neither be written to nor moved away.
 * 2. What is not there is made for as long as the command runs, as an empty folder, and bound like that. So nothing is
 *    left to be undone, even where we end before the command does.
 * 3. A few things can not be bound: links, files that our own programs read meanwhile, repositories that a command makes
 *    somewhere. They are looked at again when the command and all that it started are gone, and put right.
 * 4. A folder with a guarded part inside is bound over itself: nobody can move it away and make another in its place. Only
 *    folders above further repositories are not: those that take their place are looked at like any other new ones.
 */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { guardedSettings, secretNames, startFiles } from '../../util/guarded-names.ts'
import { FolderWalk } from './folder-walk.ts'
import { isWithin } from './is-within.ts'
import { holdMountPoint, identityOf, isMountPoint, releaseMountPoints } from './mount-points.ts'
import { kindOf, type PathKind } from './path-kind.ts'
import { putAside, putBackFile, putBackLink, putBackMode } from './put-right.ts'
import { fingerprint, ledTo, looksBare, partsOf, repositoryAt, runsSomething, textOf } from './repository.ts'

/**
 * Read by our own programs, and by others, which stumble over a folder of that name while a command runs. What is planted
 * there counts only when a person has looked at it and said so.
 */
const neverFolders: readonly string[] = ['.ai-agent.json', '.mcp.json', ...secretNames]
/** Believed by nobody unless settings of Git, which can not be changed, lead there: then they are bound for that. */
const onlyLedTo: readonly string[] = ['.githooks', '.husky']
/** Of a repository. Git itself fails where one of these is a folder; modules are found by those that lead to them. */
const unmadePartsOfGit: readonly string[] = ['config', 'config.worktree', 'commondir', 'modules']

/** Further ones are looked at afterwards only: each costs a few mounts. */
const mostBoundRepositories = 16

export interface Guard {
  /** Bound over itself, and still written to. */
  readonly fixed: readonly string[]
  readonly readOnly: readonly string[]
  readonly hidden: readonly string[]
  /** To be called when the command is gone: puts right what could not be bound, and tells. */
  undo(): Promise<readonly string[]>
}

export interface GuardedPlace {
  readonly folder: string
  /** It is, or contains, the person's home folder. Without links. */
  readonly home?: string
  readonly walk?: FolderWalk
  /** Further files and folders, anywhere. */
  readonly guarded?: readonly string[]
  /** What is not there has to be made to be guarded. Default true. */
  readonly needsMountPoints?: boolean
}

export function guard({ folder, home, guarded = [], walk = new FolderWalk(folder), needsMountPoints = true }: GuardedPlace): Guard {
  const early = strays(folder)
  const seen = walk.look({ isAfter: false })
  const repositories = guardedRepositories(folder, seen.repositories)
  const further = guarded.flatMap((path) => isIn(folder, path))
  const ledByGit = ledTo(join(folder, '.git'), folder)
  const bindable = [...boundNames(folder, repositories.bound), ...ledByGit.hooks]
  const watched = [...watchedNames(folder, home), ...ledByGit.settings, ...further].filter((path) => !bindable.includes(path))
  const found = facts([...bindable, ...watched])
  const isBindable = (path: string): boolean => !watched.includes(path) && !unmadePartsOfGit.includes(basename(path))
  const absent = pathsOf(found, 'absent')
  const held = new Map(needsMountPoints ? absent.filter(isBindable).flatMap(hold) : [])
  const links = pathsOf(found, 'link').map((path) => ({ path, target: readlinkSync(path) }))
  const there = [...pathsOf(found, 'folder'), ...pathsOf(found, 'file')]
  const { bound } = repositories
  const heads = bound.flatMap(headOf)
  const led = links.flatMap(({ path }) => targetIn(folder, path))
  const inner = [...bound.filter((repository) => repository !== folder), ...inside(join(folder, '.git'))]
  const modes = [folder, ...bound.flatMap((repository) => [repository, ...inside(repository)])].flatMap(modeOf)
  return {
    fixed: outermostFirst([
      ...inner,
      ...[...led, ...further, ...ledByGit.hooks, ...ledByGit.settings].flatMap((path) => above(folder, path)),
    ]),
    readOnly: [
      ...there.filter((path) => !bound.includes(path) && !isSecret(path)),
      ...led,
      ...(needsMountPoints ? held.keys() : absent.filter(isBindable)),
    ],
    hidden: [...new Set(seen.secrets.flatMap(realOf))],
    undo: async () => {
      const told = [...early, ...modes.flatMap(putBackMode)]
      // Whoever was bound can not have been changed; one that is another now has not been bound to the end.
      const made = absent.filter((path) => !held.has(path) || held.get(path) !== identityOf(path))
      await releaseMountPoints(held.keys())
      told.push(...made.filter((path) => !isMountPoint(path)).flatMap(putAside), ...links.flatMap(putBackLink))
      told.push(...heads.filter(({ path }) => !isHead(path)).flatMap(putBackFile))
      return [...told, ...newcomers(walk, repositories).flatMap(putAside)]
    },
  }
}

/** One after the other: a place may lie inside of another. */
export async function undone(guards: readonly Guard[]): Promise<readonly string[]> {
  const told: string[] = []
  for (const each of guards) told.push(...(await each.undo()))
  return told
}

/** What is made where it is missing, and bound. */
function boundNames(folder: string, bound: readonly string[]): readonly string[] {
  const git = join(folder, '.git')
  const [bare, usual] = [bound.filter(hasUsualNames), bound.filter((repository) => !hasUsualNames(repository))]
  return [
    ...guardedSettings.filter((name) => ![...neverFolders, ...onlyLedTo].includes(name)).map((name) => join(folder, name)),
    git,
    ...usual.flatMap(partsOf),
    ...bare.flatMap(partsOf).filter((path) => kindOf(path) !== 'absent'),
  ]
}

/** What is only looked at afterwards, where it is missing. */
function watchedNames(folder: string, home: string | undefined): readonly string[] {
  return [
    ...[...neverFolders, ...onlyLedTo].map((name) => join(folder, name)),
    ...(home === undefined ? [] : startFiles.map((name) => join(home, name))),
  ]
}

function hold(path: string): readonly (readonly [string, string])[] {
  const identity = holdMountPoint(path)
  return identity === undefined ? [] : [[path, identity]]
}

interface Repositories {
  /** Nothing of them can be changed that is there. */
  readonly bound: readonly string[]
  /** All that were there, with what they were. */
  readonly before: ReadonlyMap<string, string>
}

function guardedRepositories(folder: string, entries: readonly string[]): Repositories {
  const all = [...new Set(entries.flatMap((entry) => repositoryAt(entry) ?? []))].filter((repository) => !isMountPoint(repository))
  const modules = join(folder, '.git', 'modules')
  const bound = all.filter((repository) => isWithin(folder, repository) && !isWithin(modules, repository)).slice(0, mostBoundRepositories)
  const before = all.map(
    (repository) => [repository, bound.includes(repository) ? identityOf(repository) : fingerprint(repository)] as const,
  )
  return { bound, before: new Map(before.map(([repository, was]) => [repository, was ?? ''])) }
}

/** What makes Git run something, in repositories that were made or changed meanwhile. */
function newcomers(walk: FolderWalk, { bound, before }: Repositories): readonly string[] {
  const now = [...new Set(walk.look({ isAfter: true }).repositories.flatMap((entry) => repositoryAt(entry) ?? []))]
  const changed = now.filter(
    (repository) => before.get(repository) !== (bound.includes(repository) ? identityOf(repository) : fingerprint(repository)),
  )
  const known = [...before.keys()].filter((repository) => !changed.includes(repository))
  return changed.flatMap((repository) => runsSomething(repository, known))
}

/**
 * Nobody means a folder to be a repository and to have one, or a whole repository to have its settings elsewhere: a command
 * did that, and we ended before we could put it right.
 */
function strays(folder: string): readonly string[] {
  const git = join(folder, '.git')
  if (kindOf(git) !== 'folder') return []
  return [join(git, 'commondir'), ...(looksBare(folder) ? runsSomething(folder, []) : [])].flatMap(putAside)
}

/** Nothing is made there: its parts have the names of a project's own folders. */
const hasUsualNames = (repository: string): boolean => !repository.endsWith('.git') && looksBare(repository)

const facts = (paths: readonly string[]): readonly { readonly path: string; readonly kind: PathKind }[] =>
  [...new Set(paths)].map((path) => ({ path, kind: isMountPoint(path) ? 'absent' : kindOf(path) }))

const pathsOf = (found: ReturnType<typeof facts>, wanted: PathKind): readonly string[] =>
  found.filter(({ kind }) => kind === wanted).map(({ path }) => path)

const isSecret = (path: string): boolean => secretNames.some((name) => path.endsWith(`/${name}`))

/** Without these Git does not take it for a repository, and believes others. */
const inside = (repository: string): readonly string[] =>
  ['objects', 'refs'].map((name) => join(repository, name)).filter((path) => kindOf(path) === 'folder')

function modeOf(path: string): readonly { readonly path: string; readonly mode: number }[] {
  try {
    return [{ path, mode: lstatSync(path).mode & 0o7777 }]
  } catch {
    return []
  }
}

/** It can not be bound, for Git puts another in its place whenever it changes. */
function headOf(repository: string): readonly { readonly path: string; readonly text: string }[] {
  const path = join(repository, 'HEAD')
  const text = textOf(path)
  return text !== undefined && isHead(path) ? [{ path, text }] : []
}

function isHead(path: string): boolean {
  if (kindOf(path) === 'link') return readlinkSync(path).startsWith('refs/')
  return /^(?:ref:\s*refs\/\S+|[0-9a-f]{40,64})\s*$/.test(textOf(path) ?? '')
}

/** What a link leads to is what programs read. */
const targetIn = (folder: string, link: string): readonly string[] => realOf(link).flatMap((real) => isIn(folder, real))

const isIn = (folder: string, path: string): readonly string[] => (isWithin(folder, path) && path !== folder ? [path] : [])

/** The folders between: moved away, they would take along what is bound in them, and leave its name free. */
function above(folder: string, path: string): readonly string[] {
  const parent = dirname(path)
  return isIn(folder, parent)
    .flatMap((each) => [...above(folder, each), each])
    .filter((each) => kindOf(each) === 'folder')
}

/** A mount covers those that were made below it before. */
const outermostFirst = (paths: readonly string[]): readonly string[] => [...new Set(paths)].toSorted((a, b) => a.length - b.length)

function realOf(path: string): readonly string[] {
  try {
    return [realpathSync(path)]
  } catch {
    return []
  }
}
