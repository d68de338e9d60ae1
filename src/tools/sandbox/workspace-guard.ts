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
import { basename, dirname, join } from 'node:path'
import { secretNames } from '../../policy/protected-paths.ts'
import { isInside } from '../../util/is-inside.ts'
import { realOrSame } from '../real-or-same.ts'
import { FolderWalk } from './folder-walk.ts'
import { type GuardFacts, guardFacts, isIn, ledAwayIn, repositoriesBehind, riddlesIn, workingPartsOf } from './guard-facts.ts'
import { identityInPlace } from './in-its-folder.ts'
import { identityOf, isMountPoint } from './mount-points.ts'
import { kindOf } from './path-kind.ts'
import { carefully, putAside, putBackFile, putBackLink, putBackMode, putSettingsAside, wasPutAsideSince } from './put-right.ts'
import { Replaced } from './replaced.ts'
import { fingerprint, isHead, runsSomething, stampOf, whatRuns } from './repository.ts'
import { type SharedFolder, sharedFolder } from './shared-folder.ts'

export interface Guard {
  /** What is bound over itself, all of it inside of the folder and without links, and which each is. */
  readonly planned: ReadonlyMap<string, string>
  /** Of those, what can still be written to, the outermost first. */
  readonly fixed: readonly string[]
  /** All others; and what may not be made, where nothing can be made to be bound. */
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
  /** What is hidden for other reasons, anywhere: nobody may move the folders above, and with them what covers it. */
  readonly hidden?: readonly string[]
  /** Where what is not there has to be made to be guarded: entered, and left when the guard is undone. */
  readonly shared?: SharedFolder
}

/** What was made, and what each is. */
type Held = ReadonlyMap<string, string>

export function guard({ folder, home, guarded = [], hidden = [], walk = new FolderWalk(folder), shared }: GuardedPlace): Guard {
  const facts = guardFacts({ folder, home, guarded, walk })
  const held: Held = new Map(shared ? facts.makeable.flatMap((path) => hold(shared, path)) : [])
  const wanted = bindings(folder, facts, { made: [...held.keys()], hidden })
  const readOnly = planOf(folder, wanted.readOnly)
  const fixed = planOf(
    folder,
    wanted.fixed.filter((path) => !readOnly.has(path)),
  )
  const planned = new Map([...fixed, ...readOnly])
  const lost = facts.repositories.bound.find((repository) => repository !== folder && !planned.has(repository))
  if (lost !== undefined) throw new Replaced(lost)
  return {
    planned,
    fixed: outermostFirst([...fixed.keys()]),
    readOnly: [...readOnly.keys(), ...facts.makeable.filter((path) => !shared && !readOnly.has(path))],
    hidden: facts.secrets,
    undo: () => putRight(facts, { planned, held, walk, shared }),
  }
}

/**
 * What a link leads out of the folder to can not be written to anyway, and is left alone. This is the one look that counts: whatever is
 * bound is bound as it was seen here, or the walls do not stand as planned.
 */
function planOf(folder: string, paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    paths
      .map(realOrSame)
      .filter((path) => isInside(folder, path))
      .map((path) => [path, identityInPlace(path) ?? raise(new Replaced(path))]),
  )
}

function raise(error: Error): never {
  throw error
}

/** Together with all other programs that run commands there. */
export async function guardShared(place: Omit<GuardedPlace, 'shared'>): Promise<Guard> {
  const shared = sharedFolder(place.folder)
  await shared.enter()
  try {
    return guard({ ...place, shared })
  } catch (error) {
    await shared.leave()
    throw error
  }
}

interface Further {
  /** What is bound though it was not there. */
  readonly made: readonly string[]
  readonly hidden: readonly string[]
}

function bindings(folder: string, facts: GuardFacts, { made, hidden }: Further): Pick<Guard, 'fixed' | 'readOnly'> {
  const { bound } = facts.repositories
  const inner = [...bound.filter((repository) => repository !== folder), ...workingPartsOf(join(folder, '.git'))]
  const between = [...facts.linked, ...facts.led, ...facts.secrets, ...hidden].flatMap((path) => above(folder, path))
  return {
    fixed: [...inner, ...between],
    readOnly: [...facts.there.filter((path) => !bound.includes(path) && !isSecret(path)), ...facts.linked, ...made],
  }
}

interface Undoing {
  readonly planned: ReadonlyMap<string, string>
  readonly held: Held
  readonly walk: FolderWalk
  readonly shared: SharedFolder | undefined
}

async function putRight(facts: GuardFacts, { planned, held, walk, shared }: Undoing): Promise<readonly string[]> {
  // Whoever was bound can not have been changed; one that is another now has not been bound to the end.
  const made = facts.absent.filter((path) => !areModules(path) && (!held.has(path) || held.get(path) !== identityOf(path)))
  const unbound = [...planned].filter(([path, identity]) => !held.has(path) && identityOf(path) !== identity).map(([path]) => path)
  const isOurs = (path: string): boolean => facts.makeable.includes(path) && isMountPoint(path)
  const { place } = facts.repositories
  try {
    return [
      ...facts.told,
      ...facts.modes.flatMap(putBackMode),
      ...made.flatMap((path) => carefully(path, () => (isOurs(path) ? [] : putAside(path)))),
      ...facts.links.flatMap(putBackLink),
      ...facts.heads.flatMap((head) => carefully(head.path, () => (isHead(head.path) ? [] : putBackFile(head)))),
      ...carefully(place, () => unboundParts(facts, unbound)),
      ...carefully(place, () => newcomers(facts, walk, unbound)),
    ]
  } finally {
    // Last of all: who comes when nobody is at work any more takes what is there for given.
    await shared?.leave()
  }
}

/** They are looked into one by one, as any other repositories. */
const areModules = (path: string): boolean => basename(path) === 'modules' && kindOf(path) === 'folder'

/**
 * Programs outside replace a file by moving another over it, and that takes away what bound it, in every world. So do we where
 * the guard of another command puts aside what that one has made: what is there then was made anew. What else was replaced is
 * a person's own, or a write that somebody has allowed.
 */
function unboundParts({ repositories, there, asides }: GuardFacts, unbound: readonly string[]): readonly string[] {
  const { place, bound, known, running } = repositories
  const isMadeAnew = (path: string): boolean => unbound.includes(path) && wasPutAsideSince(path, asides)
  const planted = bound
    .filter((repository) => unbound.some((path) => dirname(path) === repository))
    .flatMap((repository) => runsSomething(repository, { known, place }))
    .filter((path) => unbound.includes(path) || !there.includes(path))
    .filter((path) => isMadeAnew(path) || running.get(path) !== whatRuns(path))
  const isPart = (path: string): boolean => bound.some((repository) => path === repository || dirname(path) === repository)
  const anew = unbound.filter((path) => isMadeAnew(path) && !isPart(path))
  const left = unbound.filter((path) => ![...planted, ...anew].includes(path) && kindOf(path) !== 'absent')
  return [...[...planted, ...anew].flatMap(putAside), ...left.map(wasReplaced)]
}

const wasReplaced = (path: string): string =>
  `"${path}" was replaced by some program while the command ran, which could change it from then on: look at it before you rely on it.`

const mayBeNew = (path: string): string =>
  `"${path}" makes Git run something, and was changed while commands ran: look at it before you use that repository.`

/** One after the other: a place may lie inside of another. */
export async function undone(guards: readonly Guard[]): Promise<readonly string[]> {
  const told: string[] = []
  for (const each of guards) told.push(...(await each.undo()))
  return told
}

function hold(shared: SharedFolder, path: string): readonly (readonly [string, string])[] {
  const identity = shared.hold(path)
  return identity === undefined ? [] : [[path, identity]]
}

/** What makes Git run something, in repositories that were made or changed meanwhile, and what leads to others that nobody knew. */
function newcomers({ repositories, there, linked, asides }: GuardFacts, walk: FolderWalk, unbound: readonly string[]): readonly string[] {
  const { place, entries, first, bound, before, running: wasRunning, fresh, riddles, areAll } = repositories
  const seen = walk.look({ isAfter: true })
  const unread = [...riddlesIn(seen.repositories)].filter(([entry, which]) => riddles.get(entry) !== which).map(([entry]) => entry)
  const { found, common, isWhole } = repositoriesBehind([...seen.repositories, ...first.workTrees], place)
  const shut = [...there, ...linked].filter((path) => ![...bound, ...unbound].includes(path))
  const isOpen = (path: string): boolean => isInside(place, path) && !shut.some((each) => isInside(each, path))
  // A command can not have written where those lead: what is there is no business of its own, nor of ours.
  const leadOut = [...found]
    .filter(([entry, repository]) => !isOpen(repository) && !before.has(repository) && entries.get(entry) !== stampOf(entry))
    .map(([entry]) => entry)
  // Also those that were made to look like none.
  const now = [...new Set([...found.values(), ...common, ...before.keys()])].filter((path) => isOpen(path) && kindOf(path) === 'folder')
  const ledAway = ledAwayIn(now).filter((path) => entries.get(path) !== stampOf(path))
  const changed = now.filter(
    (repository) => before.get(repository) !== (bound.includes(repository) ? identityOf(repository) : fingerprint(repository)),
  )
  const known = [...repositories.known, ...[...found.values()].filter(isOpen)]
  const running = changed.flatMap((repository) => runsSomething(repository, { known, place }))
  const isAsBefore = (path: string): boolean => wasRunning.get(path) === whatRuns(path) && !wasPutAsideSince(path, asides)
  return [
    ...[...unread, ...leadOut, ...ledAway].flatMap(putAside),
    ...running
      .filter((path) => !isAsBefore(path))
      .flatMap((path) => (basename(path) === 'config' ? putSettingsAside(path) : putAside(path))),
    ...running.filter((path) => fresh.includes(path) && isAsBefore(path)).map(mayBeNew),
    ...(areAll && !seen.isWhole ? [tooManyFolders] : []),
    ...(isWhole ? [] : [tooManyWithin]),
  ]
}

const tooManyFolders = 'The workspace has more folders than are searched: what the command made deep inside of it was not looked at.'

const tooManyWithin =
  'The repositories of the workspace have more work trees or modules than are looked at (".git/worktrees", ".git/modules"): look for what is new there, and remove what nobody needs.'

const isSecret = (path: string): boolean => secretNames.some((name) => path.endsWith(`/${name}`))

/** The folders between: moved away, they would take along what is bound in them, and leave its name free. */
function above(folder: string, path: string): readonly string[] {
  const parent = dirname(path)
  return isIn(folder, parent)
    .flatMap((each) => [...above(folder, each), each])
    .filter((each) => kindOf(each) === 'folder')
}

/** A mount covers those that were made below it before. */
const outermostFirst = (paths: readonly string[]): readonly string[] => [...new Set(paths)].toSorted((a, b) => a.length - b.length)
