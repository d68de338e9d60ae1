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
import { dirname, join } from 'node:path'
import { secretNames } from '../../util/guarded-names.ts'
import { FolderWalk } from './folder-walk.ts'
import { type GuardFacts, guardFacts, isHead, isIn, type Repositories, workingPartsOf } from './guard-facts.ts'
import { identityOf, isMountPoint } from './mount-points.ts'
import { kindOf } from './path-kind.ts'
import { putAside, putBackFile, putBackLink, putBackMode } from './put-right.ts'
import { fingerprint, repositoryAt, runsSomething } from './repository.ts'
import { type SharedFolder, sharedFolder } from './shared-folder.ts'

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
  /** Where what is not there has to be made to be guarded: entered, and left when the guard is undone. */
  readonly shared?: SharedFolder
}

/** What was made, and what each is. */
type Held = ReadonlyMap<string, string>

export function guard({ folder, home, guarded = [], walk = new FolderWalk(folder), shared }: GuardedPlace): Guard {
  const facts = guardFacts({ folder, home, guarded, walk })
  const held: Held = new Map(shared ? facts.makeable.flatMap((path) => hold(shared, path)) : [])
  return {
    ...bindings(folder, facts, shared ? [...held.keys()] : facts.makeable),
    undo: () => putRight(facts, { held, walk, shared }),
  }
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

/** `made`: what is bound though it was not there. */
function bindings(folder: string, facts: GuardFacts, made: readonly string[]): Pick<Guard, 'fixed' | 'readOnly' | 'hidden'> {
  const { bound } = facts.repositories
  const inner = [...bound.filter((repository) => repository !== folder), ...workingPartsOf(join(folder, '.git'))]
  const between = [...facts.linked, ...facts.led].flatMap((path) => above(folder, path))
  return {
    fixed: outermostFirst([...inner, ...between]),
    readOnly: [...facts.there.filter((path) => !bound.includes(path) && !isSecret(path)), ...facts.linked, ...made],
    hidden: facts.secrets,
  }
}

interface Undoing {
  readonly held: Held
  readonly walk: FolderWalk
  readonly shared: SharedFolder | undefined
}

async function putRight(facts: GuardFacts, { held, walk, shared }: Undoing): Promise<readonly string[]> {
  const told = [...facts.told, ...facts.modes.flatMap(putBackMode)]
  // Whoever was bound can not have been changed; one that is another now has not been bound to the end.
  const made = facts.absent.filter((path) => !held.has(path) || held.get(path) !== identityOf(path))
  await shared?.leave()
  told.push(...made.filter((path) => !isMountPoint(path)).flatMap(putAside), ...facts.links.flatMap(putBackLink))
  told.push(...facts.heads.filter(({ path }) => !isHead(path)).flatMap(putBackFile))
  return [...told, ...newcomers(walk, facts.repositories).flatMap(putAside)]
}

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

/** What makes Git run something, in repositories that were made or changed meanwhile. */
function newcomers(walk: FolderWalk, { bound, before }: Repositories): readonly string[] {
  const now = [...new Set(walk.look({ isAfter: true }).repositories.flatMap((entry) => repositoryAt(entry) ?? []))]
  const changed = now.filter(
    (repository) => before.get(repository) !== (bound.includes(repository) ? identityOf(repository) : fingerprint(repository)),
  )
  const known = [...before.keys()].filter((repository) => !changed.includes(repository))
  return changed.flatMap((repository) => runsSomething(repository, known))
}

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
