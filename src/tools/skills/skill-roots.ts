import { dirname, join } from 'node:path'
import type { SkillScope } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { foldersUpTo, realPathOf } from '../project-context/project-files.ts'

/** A folder in which skills are searched. */
export interface SkillRoot {
  readonly path: string
  /** Its real path. */
  readonly real: string
  readonly scope: SkillScope
  /** No link is followed out of this folder. Absent for folders of the user. */
  readonly within?: string
  /** Real paths of folders that commands can write to. */
  readonly open: readonly string[]
  /** Whether commands cannot write to it although it is inside one of those. */
  readonly isGuarded: boolean
}

export interface SkillPlaces {
  /** Absent: skills of projects are not searched. */
  readonly workingDirectory?: string
  /** The working directory, or a folder above it. Default: the working directory. */
  readonly projectRoot?: string
  /** `userSkillDirectories(home)`. */
  readonly userDirectories?: readonly string[]
  /** Skills of system packages. */
  readonly systemDirectories?: readonly string[]
  /** `adminSkillDirectories`. */
  readonly adminDirectories?: readonly string[]
  /** Folders outside the project that commands can write to. */
  readonly writable?: readonly string[]
}

/** Our own folder comes first. */
const folders = [join('.agents', 'skills'), join('.claude', 'skills')] as const

export const userSkillDirectories = (home: string): readonly string[] => folders.map((folder) => join(home, folder))

export const adminSkillDirectories: readonly string[] = ['/etc/ai-agent/skills']

/** Nearest first. A root that commands can write to belongs to the project: agents may have changed it. */
export function skillRoots(places: SkillPlaces): readonly SkillRoot[] {
  const { userDirectories = [], systemDirectories = [], adminDirectories = [] } = places
  const own = [...rootsOf('user', userDirectories), ...rootsOf('system', systemDirectories), ...rootsOf('admin', adminDirectories)]
  // In the home directory there is no project: its skills are the user's own, and no command can write to them.
  const claimed = new Set(own.map(({ real }) => real))
  const ofProject = repoRoots(places)
  const guarded = new Set(ofProject.map(({ real }) => real))
  const open = [lastFolder(places) ?? [], ...(places.writable ?? [])].flat().map((path) => realPathOf(path) ?? path)
  return [
    ...ofProject.filter(({ real }) => !claimed.has(real)).map((root) => ({ ...root, open, isGuarded: false })),
    ...own.map((root) => ({ ...root, open, isGuarded: guarded.has(root.real), ...(!guarded.has(root.real) && asOpen(root, open)) })),
  ]
}

/** The folder around a path that commands can write to, if they can write to the path. */
export function writableFolderAround({ real, open, isGuarded }: SkillRoot, path: string): string | undefined {
  const isKept = (place: string): boolean => isGuarded && isInside(place, real) && isInside(real, path)
  return open.find((place) => isInside(place, path) && !isKept(place))
}

type FoundRoot = Pick<SkillRoot, 'path' | 'real' | 'scope'>

/** Checks the path and the real path: a command may have created a link. */
function asOpen({ path, real }: FoundRoot, open: readonly string[]): Pick<SkillRoot, 'scope' | 'within'> | undefined {
  const above = realPathOf(dirname(path)) ?? dirname(path)
  const within = open.find((place) => isInside(place, real) || isInside(place, above))
  return within === undefined ? undefined : { scope: 'repo', within }
}

const lastFolder = ({ workingDirectory, projectRoot }: SkillPlaces): string | undefined =>
  workingDirectory !== undefined && projectRoot !== undefined && isInside(projectRoot, workingDirectory) ? projectRoot : workingDirectory

function repoRoots(places: SkillPlaces): readonly (FoundRoot & { readonly within: string })[] {
  const { workingDirectory } = places
  const last = lastFolder(places)
  const within = last === undefined ? undefined : realPathOf(last)
  if (workingDirectory === undefined || last === undefined || within === undefined) return []
  const paths = foldersUpTo(workingDirectory, last).flatMap((folder) => folders.map((below) => join(folder, below)))
  return rootsOf('repo', paths).map((root) => ({ ...root, within }))
}

const rootsOf = (scope: SkillScope, paths: readonly string[]): readonly FoundRoot[] =>
  paths.flatMap((path) => {
    const real = realPathOf(path)
    return real === undefined ? [] : [{ path, real, scope }]
  })
