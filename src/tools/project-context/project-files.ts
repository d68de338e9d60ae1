import * as files from 'node:fs'
import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type SafeReadBounds, type SafeReadResult, safeRead } from '../../policy/safe-read.ts'

export const hasConfiguration = (folder: string): boolean => isThere(join(folder, '.ai-agent.json'))

/** In a worktree `.git` is a file. An empty `.git` folder is not a repository. */
export const isRepository = (folder: string): boolean => isThere(join(folder, '.git', 'HEAD')) || isThere(join(folder, '.git'), 'file')

const isRoot = (folder: string): boolean => hasConfiguration(folder) || isRepository(folder)

/** The nearest project root at or above the working directory, else the working directory. */
export function findProjectRoot(workingDirectory: string): string {
  return foldersUpTo(workingDirectory).find(isRoot) ?? workingDirectory
}

/** A folder and its parents, nearest first, up to `last` or the root of the file system. */
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
    // A folder that cannot be read is not a project.
    return false
  }
}

/** Checks the opened file, not the path, which may have changed. */
export const readRegularFile = (path: string, bounds: SafeReadBounds): SafeReadResult => safeRead(files, path, bounds)

export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
