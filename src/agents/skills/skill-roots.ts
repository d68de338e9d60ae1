import { join } from 'node:path'
import type { SkillScope } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { foldersUpTo, realPathOf } from '../project-context/index.ts'

/** A folder below which skills are looked for. */
export interface SkillRoot {
  readonly path: string
  /** Where it really is. */
  readonly real: string
  readonly scope: SkillScope
  /** No link is followed out of this folder; absent where a person has put the links there. */
  readonly within?: string
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
}

/** Ours before those of others: of two in one folder the first wins. */
const folders = [join('.agents', 'skills'), join('.claude', 'skills')] as const

/** Where a person keeps skills for all projects. */
export const userSkillDirectories = (home: string): readonly string[] => folders.map((folder) => join(home, folder))

/** Where whoever looks after the machine keeps skills for everybody. */
export const adminSkillDirectories: readonly string[] = ['/etc/ai-agent/skills']

/** The roots that exist, the nearest first. */
export function skillRoots(places: SkillPlaces): readonly SkillRoot[] {
  const { userDirectories = [], systemDirectories = [], adminDirectories = [] } = places
  const own = [...rootsOf('user', userDirectories), ...rootsOf('system', systemDirectories), ...rootsOf('admin', adminDirectories)]
  // Who works in the home directory has no project there: those skills are the person's own.
  const claimed = new Set(own.map(({ real }) => real))
  return [...repoRoots(places).filter(({ real }) => !claimed.has(real)), ...own]
}

function repoRoots({ workingDirectory, projectRoot }: SkillPlaces): readonly SkillRoot[] {
  const last = isInside(projectRoot, workingDirectory) ? projectRoot : workingDirectory
  const within = realPathOf(last)
  if (within === undefined) return []
  const paths = foldersUpTo(workingDirectory, last).flatMap((folder) => folders.map((below) => join(folder, below)))
  return rootsOf('repo', paths).map((root) => ({ ...root, within }))
}

const rootsOf = (scope: SkillScope, paths: readonly string[]): readonly SkillRoot[] =>
  paths.flatMap((path) => {
    const real = realPathOf(path)
    return real === undefined ? [] : [{ path, real, scope }]
  })
