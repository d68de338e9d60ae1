/*
 * What a place is like before a command runs in it, as far as somebody outside may run or believe it later. Nothing is made here;
 * only what a command of an earlier life has left is put aside.
 */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { guardedSettings, homeSecrets, secretNames, startFiles } from '../../policy/protected-paths.ts'
import { isInside } from '../../util/is-inside.ts'
import type { FolderWalk, Seen } from './folder-walk.ts'
import { identityIn } from './in-its-folder.ts'
import { identityOf, isMountPoint } from './mount-points.ts'
import { kindOf, type PathKind } from './path-kind.ts'
import { asidesUntilNow, type KnownMode, putAside } from './put-right.ts'
import { foldersOf, repositoriesWithin } from './repositories-within.ts'
import {
  changedSince,
  commonOf,
  fingerprint,
  ledTo,
  looksBare,
  partsOf,
  repositoryAt,
  riddle,
  runsSomething,
  saysHead,
  stampOf,
  whatRuns,
} from './repository.ts'
import { type FirstLook, sharedFolder } from './shared-folder.ts'
import { textOf } from './text-of.ts'

/**
 * Read by our own programs, and by others, which stumble over a folder of that name while a command runs. What is planted
 * there counts only when a person has looked at it and said so.
 */
const neverFolders: readonly string[] = ['.ai-agent.json', '.mcp.json', ...secretNames]
/** Believed by nobody unless settings of Git, which can not be changed, lead there: then they are bound for that. */
const onlyLedTo: readonly string[] = ['.githooks', '.husky']
/** Of a repository. Git itself fails where one of these is a folder; modules are found by those that lead to them. */
const unmadePartsOfGit: readonly string[] = ['config', 'config.worktree', 'commondir', 'gitdir', 'modules']

/** Further ones are looked at afterwards only: each costs a few mounts. */
const mostBoundRepositories = 16
/** Those that lead to them may be outside, where nobody would look afterwards. */
const mostBoundWorkTrees = 200
/** The kernel takes 4,095 bytes, and whoever builds the walls puts something before each path. */
const longestBound = 4_000

export interface LookedAt {
  readonly folder: string
  /** It is, or contains, the person's home folder. Without links. */
  readonly home: string | undefined
  readonly walk: FolderWalk
  /** Further files and folders, anywhere. */
  readonly guarded: readonly string[]
}

export interface GuardFacts {
  /** What was put aside already. */
  readonly told: readonly string[]
  readonly repositories: Repositories
  /** Guarded files and folders that are there. */
  readonly there: readonly string[]
  readonly absent: readonly string[]
  /** Of those, what can be made to be bound. */
  readonly makeable: readonly string[]
  readonly links: readonly { readonly path: string; readonly target: string }[]
  /** What those lead to, inside of the place. */
  readonly linked: readonly string[]
  /** What settings and others lead to, inside of the place: nobody may move the folders above them. */
  readonly led: readonly string[]
  /** Keys of providers. */
  readonly secrets: readonly string[]
  readonly heads: readonly { readonly path: string; readonly text: string }[]
  readonly modes: readonly KnownMode[]
  /** How much was put aside before. */
  readonly asides: number
}

export interface Repositories {
  /** The folder that they were looked for in. Nothing outside of it is ever changed. */
  readonly place: string
  /** All that leads to one, with which entry it was. */
  readonly entries: ReadonlyMap<string, string>
  readonly first: FirstLook
  /** Nothing of them can be changed that is there. */
  readonly bound: readonly string[]
  /** All that were there, with what they were. */
  readonly before: ReadonlyMap<string, string>
  /** Of those, what is one by itself, and not only because another says that its settings are there: a command may have said so. */
  readonly known: readonly string[]
  /** Parts of them that made Git run something already, and what. */
  readonly running: ReadonlyMap<string, string>
  /** Of those, what came to be or was changed while commands ran already: one of them may have done it. */
  readonly fresh: readonly string[]
  /** Files and links called `.git` that led nowhere, with what they were. */
  readonly riddles: ReadonlyMap<string, string>
  /** Everything was searched. */
  readonly areAll: boolean
}

export function guardFacts({ folder, home, guarded, walk }: LookedAt): GuardFacts {
  const told = strays(folder)
  const asides = asidesUntilNow()
  const seen = walk.look({ isAfter: false })
  const repositories = guardedRepositories(folder, seen)
  const { bound } = repositories
  const further = guarded.flatMap((path) => isIn(folder, path))
  const byGit = ledTo(join(folder, '.git'), folder)
  const bindable = [...boundNames(folder, repositories), ...byGit.hooks]
  const watched = [...watchedNames(folder, home), ...byGit.settings, ...further].filter((path) => !bindable.includes(path))
  const found = kindsOf([...bindable, ...watched])
  const absent = pathsOf(found, 'absent')
  const there = [...pathsOf(found, 'folder'), ...pathsOf(found, 'file')]
  const links = pathsOf(found, 'link').map((path) => ({ path, target: readlinkSync(path) }))
  return {
    told,
    repositories,
    there,
    absent,
    makeable: absent.filter((path) => !watched.includes(path) && !unmadePartsOfGit.includes(basename(path))),
    links,
    linked: links.flatMap(({ path }) => targetIn(folder, path)),
    led: [...further, ...byGit.hooks, ...byGit.settings, ...bound.filter(isWorkTree)],
    secrets: [...new Set(seen.secrets.flatMap(realOf))],
    heads: bound.flatMap(headOf),
    modes: [folder, ...bound.flatMap((repository) => [repository, ...workingPartsOf(repository)])].flatMap(modeOf),
    asides,
  }
}

/** What is made where it is missing, and bound. */
function boundNames(folder: string, { bound, first }: Repositories): readonly string[] {
  const git = join(folder, '.git')
  const [bare, usual] = [bound.filter(hasUsualNames), bound.filter((repository) => !hasUsualNames(repository))]
  return [
    ...guardedSettings.filter((name) => ![...neverFolders, ...onlyLedTo].includes(name)).map((name) => join(folder, name)),
    git,
    ...usual.flatMap(partsOf).filter((path) => !isLeftOpen(path, first)),
    ...bare.flatMap(partsOf).filter((path) => kindOf(path) !== 'absent'),
  ]
}

/** Modules that a command has made are looked into afterwards. A work tree has the hooks of its repository, and none of its own. */
function isLeftOpen(part: string, first: FirstLook): boolean {
  if (basename(part) === 'modules') return kindOf(part) === 'folder' && !wasThere(part, first)
  return basename(part) === 'hooks' && isWorkTree(dirname(part)) && kindOf(part) === 'absent'
}

/** What is only looked at afterwards, where it is missing. */
function watchedNames(folder: string, home: string | undefined): readonly string[] {
  return [
    ...[...neverFolders, ...onlyLedTo].map((name) => join(folder, name)),
    ...(home === undefined ? [] : startFiles.map((name) => join(home, name))),
    // Those that are there are hidden.
    ...(home === undefined ? [] : homeSecrets.map((name) => join(home, name)).filter((path) => kindOf(path) === 'absent')),
  ]
}

function guardedRepositories(folder: string, { repositories: entries, isWhole }: Seen): Repositories {
  const shared = sharedFolder(folder)
  const first = shared.atFirst(() => firstLook(folder, entries))
  const { found, common } = repositoriesBehind([...entries, ...first.workTrees], folder)
  const all = [...new Set([...found.values(), ...common])].filter((repository) => !isMountPoint(repository))
  const bound = boundOf(folder, all, first)
  const before = all.map(
    (repository) => [repository, bound.includes(repository) ? identityOf(repository) : fingerprint(repository)] as const,
  )
  const known = [...new Set(found.values())]
  const running = all.flatMap((repository) => runsSomething(repository, { known, place: folder }))
  return {
    place: folder,
    entries: new Map([...entries, ...found.keys(), ...ledAwayIn(all)].map((entry) => [entry, stampOf(entry)])),
    first,
    bound,
    before: new Map(before.map(([repository, was]) => [repository, was ?? ''])),
    known,
    running: new Map(running.map((path) => [path, whatRuns(path)])),
    fresh: changedSince(running, shared.busySince()),
    riddles: riddlesIn(entries),
    areAll: isWhole,
  }
}

function firstLook(folder: string, entries: readonly string[]): FirstLook {
  const repositories = [...new Set(repositoriesBehind(entries, folder).found.values())].filter((repository) => isInside(folder, repository))
  const given = repositories.flatMap((repository) => [repository, join(repository, 'modules')])
  return {
    identities: new Set(given.flatMap((path) => identityOf(path) ?? [])),
    workTrees: repositories.filter((repository) => isWorkTree(repository) && repositories.includes(dirname(dirname(repository)))),
  }
}

/** What commands have made is not bound but looked at afterwards: they can remove it again. That of the place itself is never theirs. */
function boundOf(folder: string, all: readonly string[], first: FirstLook): readonly string[] {
  const own = [folder, repositoryAt(join(folder, '.git'))]
  const modules = join(folder, '.git', 'modules')
  const given = all
    .filter((repository) => isInside(folder, repository) && !isInside(modules, repository) && Buffer.byteLength(repository) <= longestBound)
    .filter((repository) => own.includes(repository) || wasThere(repository, first))
  const workTrees = given.filter((repository) => first.workTrees.includes(repository)).slice(0, mostBoundWorkTrees)
  return [...new Set([...given.slice(0, mostBoundRepositories), ...workTrees])]
}

const wasThere = (path: string, { identities }: FirstLook): boolean => identities.has(identityOf(path) ?? '')

export interface Behind {
  /** Which repository each entry leads to, those that lie inside of others last. */
  readonly found: ReadonlyMap<string, string>
  /** Where those say that their settings are, though it may look like no repository. */
  readonly common: readonly string[]
  /** There are no more inside of others than are looked at. */
  readonly isWhole: boolean
}

export function repositoriesBehind(entries: readonly string[], place: string): Behind {
  const behind = (paths: readonly string[]): readonly (readonly [string, string])[] =>
    paths.flatMap((entry) => {
      const repository = repositoryAt(entry)
      return repository === undefined ? [] : [[entry, repository] as const]
    })
  const found = behind(entries)
  const inside = new Set(found.map(([, repository]) => repository).filter((repository) => isInside(place, repository)))
  const within = repositoriesWithin([...inside])
  const all = new Map([...found, ...behind(within.entries)])
  const common = [...all.values()].flatMap(commonOf).filter((path) => isInside(place, path))
  return { found: all, common: [...new Set(common)], isWhole: within.isWhole }
}

/** Links in the place of folders that hold the work trees and modules of a repository. */
export const ledAwayIn = (repositories: readonly string[]): readonly string[] =>
  repositories.flatMap(foldersOf).flatMap(({ path }) => (kindOf(path) === 'link' ? [path] : []))

export const riddlesIn = (entries: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    entries.flatMap((entry) => {
      const which = riddle(entry)
      return which === undefined ? [] : [[entry, which] as const]
    }),
  )

/**
 * Nobody means a folder to be a repository and to have one, or a whole repository to have its settings elsewhere: a command
 * did that, and we ended before we could put it right.
 */
function strays(folder: string): readonly string[] {
  const git = join(folder, '.git')
  if (kindOf(git) !== 'folder') return []
  return [join(git, 'commondir'), ...(looksBare(folder) ? runsSomething(folder, { known: [], place: folder }) : [])].flatMap(putAside)
}

const isWorkTree = (repository: string): boolean => basename(dirname(repository)) === 'worktrees'

/** Nothing is made there: its parts have the names of a project's own folders. */
const hasUsualNames = (repository: string): boolean => !repository.endsWith('.git') && looksBare(repository)

const kindsOf = (paths: readonly string[]): readonly { readonly path: string; readonly kind: PathKind }[] =>
  [...new Set(paths)].map((path) => ({ path, kind: isMountPoint(path) ? 'absent' : kindOf(path) }))

const pathsOf = (found: ReturnType<typeof kindsOf>, wanted: PathKind): readonly string[] =>
  found.filter(({ kind }) => kind === wanted).map(({ path }) => path)

/** Without these Git does not take it for a repository, and believes others. */
export const workingPartsOf = (repository: string): readonly string[] =>
  ['objects', 'refs'].map((name) => join(repository, name)).filter((path) => kindOf(path) === 'folder')

function modeOf(path: string): readonly KnownMode[] {
  try {
    const stat = lstatSync(path, { bigint: true })
    return [{ path, mode: Number(stat.mode & 0o7777n), identity: identityIn(stat) }]
  } catch {
    return []
  }
}

/** It can not be bound, for Git puts another in its place whenever it changes. */
function headOf(repository: string): readonly { readonly path: string; readonly text: string }[] {
  const path = join(repository, 'HEAD')
  const text = textOf(path)
  return text !== undefined && saysHead(text) ? [{ path, text }] : []
}

/** What a link leads to is what programs read. */
const targetIn = (folder: string, link: string): readonly string[] => realOf(link).flatMap((real) => isIn(folder, real))

export const isIn = (folder: string, path: string): readonly string[] => (isInside(folder, path) && path !== folder ? [path] : [])

function realOf(path: string): readonly string[] {
  try {
    return [realpathSync(path)]
  } catch {
    return []
  }
}
