import { dirname, join } from 'node:path'
import type { SkillScope } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { foldersUpTo, realPathOf } from '../project-context/project-files.ts'

/** A folder below which skills are looked for. */
export interface SkillRoot {
  readonly path: string
  /** Where it really is. */
  readonly real: string
  readonly scope: SkillScope
  /** No link is followed out of this folder; absent where a person has put the links there. */
  readonly within?: string
  /** Real paths of folders that commands may write to. */
  readonly open: readonly string[]
  /** Whether commands cannot write to it, although it lies in one of those. */
  readonly isGuarded: boolean
}

export interface SkillPlaces {
  readonly workingDirectory: string
  /** The working directory, or a folder above it. */
  readonly projectRoot: string
  /** `userSkillDirectories(home)`. */
  readonly userDirectories?: readonly string[]
  /** Where packages of the system put skills for everybody. */
  readonly systemDirectories?: readonly string[]
  /** `adminSkillDirectories`. */
  readonly adminDirectories?: readonly string[]
  /** Folders beside the project that commands may write to. */
  readonly writable?: readonly string[]
}

/** Ours before those of others: of two in one folder the first wins. */
const folders = [join('.agents', 'skills'), join('.claude', 'skills')] as const

/** Where a person keeps skills for all projects. */
export const userSkillDirectories = (home: string): readonly string[] => folders.map((folder) => join(home, folder))

/** Where whoever looks after the machine keeps skills for everybody. */
export const adminSkillDirectories: readonly string[] = ['/etc/ai-agent/skills']

/**
 * The roots that exist, the nearest first. Whoever names a folder of the project: what lies there, commands of agents may have put
 * there, so it is a part of the project.
 */
export function skillRoots(places: SkillPlaces): readonly SkillRoot[] {
  const { userDirectories = [], systemDirectories = [], adminDirectories = [] } = places
  const own = [...rootsOf('user', userDirectories), ...rootsOf('system', systemDirectories), ...rootsOf('admin', adminDirectories)]
  // Who works in the home directory has no project there: those skills are the person's own, and no command writes to their folder.
  const claimed = new Set(own.map(({ real }) => real))
  const ofProject = repoRoots(places)
  const guarded = new Set(ofProject.map(({ real }) => real))
  const open = [lastFolder(places), ...(places.writable ?? [])].map((path) => realPathOf(path) ?? path)
  return [
    ...ofProject.filter(({ real }) => !claimed.has(real)).map((root) => ({ ...root, open, isGuarded: false })),
    ...own.map((root) => ({ ...root, open, isGuarded: guarded.has(root.real), ...(!guarded.has(root.real) && asOpen(root, open)) })),
  ]
}

/** The folder around a path that commands may write to, if they may write to the path. */
export function writableFolderAround({ real, open, isGuarded }: SkillRoot, path: string): string | undefined {
  const isKept = (place: string): boolean => isGuarded && isInside(place, real) && isInside(real, path)
  return open.find((place) => isInside(place, path) && !isKept(place))
}

type FoundRoot = Pick<SkillRoot, 'path' | 'real' | 'scope'>

/** By what it is called or by where it is: a command may have put a link there. */
function asOpen({ path, real }: FoundRoot, open: readonly string[]): Pick<SkillRoot, 'scope' | 'within'> | undefined {
  const above = realPathOf(dirname(path)) ?? dirname(path)
  const within = open.find((place) => isInside(place, real) || isInside(place, above))
  return within === undefined ? undefined : { scope: 'repo', within }
}

const lastFolder = ({ workingDirectory, projectRoot }: Pick<SkillPlaces, 'workingDirectory' | 'projectRoot'>): string =>
  isInside(projectRoot, workingDirectory) ? projectRoot : workingDirectory

function repoRoots({ workingDirectory, projectRoot }: SkillPlaces): readonly (FoundRoot & { readonly within: string })[] {
  const last = lastFolder({ workingDirectory, projectRoot })
  const within = realPathOf(last)
  if (within === undefined) return []
  const paths = foldersUpTo(workingDirectory, last).flatMap((folder) => folders.map((below) => join(folder, below)))
  return rootsOf('repo', paths).map((root) => ({ ...root, within }))
}

const rootsOf = (scope: SkillScope, paths: readonly string[]): readonly FoundRoot[] =>
  paths.flatMap((path) => {
    const real = realPathOf(path)
    return real === undefined ? [] : [{ path, real, scope }]
  })
