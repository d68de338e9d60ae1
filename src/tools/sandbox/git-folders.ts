/* Where Git keeps the settings and hooks of a repository. Nothing here throws, whatever a command has written. */
import { readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { protectedPartsOfGit } from '../../policy/protected-paths.ts'
import { isLocked, kindOf, textOf } from './file-identity.ts'
import { pathSettings } from './git-config.ts'

/** Work trees and submodules that are looked at in one repository. */
const mostInner = 500
/** Settings files that include one another. */
const mostSettingsFiles = 20

/** The folder that a `.git` leads to: itself, or what a file or a link names. Without links. */
export function gitFolderAt(entry: string): string | undefined {
  const real = realPath(entry)
  if (real === undefined || kindOf(real) === 'folder') return real
  const named = /^gitdir: ([\s\S]*?)[\r\n]*$/.exec(textOf(real) ?? '')?.[1]
  const target = named === undefined ? undefined : realPath(resolve(dirname(entry), named))
  return target !== undefined && kindOf(target) === 'folder' ? target : undefined
}

/** A repository with the folders of its work trees and submodules, each of which has settings of its own. */
export function gitFoldersIn(repository: string): readonly string[] {
  const found = [repository]
  const queue = [join(repository, 'worktrees'), join(repository, 'modules')]
  for (let folder = queue.shift(); folder !== undefined && found.length <= mostInner; folder = queue.shift()) {
    for (const inner of foldersIn(folder)) {
      const isGitFolder = basename(folder) === 'worktrees' || kindOf(join(inner, 'HEAD')) === 'file' || isLocked(inner)
      if (isGitFolder) found.push(inner)
      // The name of a submodule may have slashes in it.
      queue.push(...(isGitFolder ? [join(inner, 'modules')] : [inner]))
    }
  }
  return found.slice(0, mostInner)
}

/** What in a Git folder decides which programs Git runs. */
export const partsOf = (gitFolder: string): readonly string[] => protectedPartsOfGit.map((name) => join(gitFolder, name))

/** Hook folders and settings files that the settings of a Git folder name, anywhere. Hooks run in the work tree. */
export function namedBySettings(gitFolder: string, workTree: string): readonly string[] {
  const common = textOf(join(gitFolder, 'commondir'))?.trim() ?? '.'
  const queue = [join(gitFolder, 'config.worktree'), resolve(gitFolder, common, 'config')]
  const named = new Set<string>()
  const read = new Set<string>()
  for (let file = queue.shift(); file !== undefined && read.size < mostSettingsFiles; file = queue.shift()) {
    if (read.has(file)) continue
    read.add(file)
    for (const { name, value } of pathSettings(textOf(file) ?? '')) {
      if (value === '' || value.startsWith('~')) continue
      if (name === 'core.hookspath') named.add(resolve(workTree, value))
      if (name !== 'include.path' && name !== 'includeif.path') continue
      const included = resolve(dirname(file), value)
      named.add(included)
      queue.push(included)
    }
  }
  return [...named]
}

function foldersIn(folder: string): readonly string[] {
  try {
    if (kindOf(folder) !== 'folder') return []
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : []))
  } catch {
    return []
  }
}

/** Nothing for a name that is not UTF-8: Node would take it for another one. */
function realPath(path: string): string | undefined {
  try {
    const real = realpathSync.native(path)
    return real.includes('\ufffd') ? undefined : real
  } catch {
    return undefined
  }
}
