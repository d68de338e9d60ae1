import * as files from 'node:fs'
import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type SafeReadBounds, type SafeReadResult, safeRead } from '../../policy/safe-read.ts'

export const hasConfiguration = (folder: string): boolean => isThere(join(folder, '.ai-agent.json'))

/** In a worktree `.git` is a file; an empty folder of that name is no repository. */
export const isRepository = (folder: string): boolean => isThere(join(folder, '.git', 'HEAD')) || isThere(join(folder, '.git'), 'file')

const isRoot = (folder: string): boolean => hasConfiguration(folder) || isRepository(folder)

/** The nearest folder at or above the working directory that is the root of a project; the working directory where there is none. */
export function findProjectRoot(workingDirectory: string): string {
  return foldersUpTo(workingDirectory).find(isRoot) ?? workingDirectory
}

/** A folder and those above it, the nearest first, up to `last` or else to the root of the disk. */
export function foldersUpTo(folder: string, last?: string): readonly string[] {
  const folders = [folder]
  for (let here = folder; here !== last && dirname(here) !== here; ) {
    here = dirname(here)
    folders.push(here)
  }
  return folders
}

function isThere(path: string, kind: 'file' | 'anything' = 'anything'): boolean {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    return found !== undefined && (kind === 'anything' || found.isFile())
  } catch {
    // A folder that may not be looked into is nobody's project.
    return false
  }
}

/** Looks at what was opened, not at what stood there before. */
export const readRegularFile = (path: string, bounds: SafeReadBounds): SafeReadResult => safeRead(files, path, bounds)

/** A path without links; nothing where it leads nowhere. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
