// Which files of the project the `permissions` of an extension give it.
//
// 1. Nothing hidden (`.env`, `.git`, `.troupe`), and nothing outside of the project, whatever links say.
// 2. It writes only below the project, never to the project itself or to packages: programs run what is there.
// 3. What is hidden inside of a folder is listed when the process starts, and covered.
import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isInside } from '../../util/is-inside.ts'
import { extensionError } from '../shared/extension-failure.ts'
import type { ExtensionManifest } from '../shared/kernel-types.ts'

interface ReachableFolders {
  /** Files and folders. All without links. */
  readonly read: readonly string[]
  readonly write: readonly string[]
  /** Inside of these. */
  readonly hidden: readonly string[]
}

const maxFolders = 5_000
const isHidden = (name: string): boolean => name.startsWith('.')

/** @throws TroupeError if a permission cannot be given. */
export function reachableFolders({ id, permissions }: ExtensionManifest, workspace: string): ReachableFolders {
  const project = realpathSync(workspace)
  const resolve = (kind: 'read' | 'write') => (path: string) => reachable(path, { project, place: `${id}: permissions.${kind}`, kind })
  const [read, write] = [permissions.read.flatMap(resolve('read')), permissions.write.flatMap(resolve('write'))]
  return { read, write, hidden: [...read, ...write].flatMap(hiddenIn) }
}

function reachable(
  path: string,
  { project, place, kind }: { readonly project: string; readonly place: string; readonly kind: 'read' | 'write' },
): readonly string[] {
  const refuse = (why: string, remedy: string): never => {
    throw extensionError(place, `\`${path}\` ${why}`, remedy)
  }
  const remedy = 'Name a folder of the project that exists.'
  let real = ''
  try {
    real = realpathSync(join(project, path))
  } catch {
    return refuse('does not exist', remedy)
  }
  const names = relative(project, real).split(sep)
  if (!isInside(project, real)) return refuse('is outside of the project', remedy)
  if (names.some(isHidden)) return refuse('is hidden, and extensions that are not trusted cannot reach hidden files', remedy)
  if (!statSync(real).isDirectory()) return refuse('is not a folder', remedy)
  if (real !== project)
    return kind === 'write' && names.includes('node_modules') ? refuse('holds packages, which programs run', remedy) : [real]
  if (kind === 'write') return refuse('is the whole project, which it could write programs to', 'Name a folder below it.')
  // One by one: hidden files that appear later stay hidden.
  return visibleIn(project).map((name) => join(project, name))
}

/** Links are left out: what they lead to may be anywhere. */
const visibleIn = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (isHidden(entry.name) || entry.isSymbolicLink() ? [] : [entry.name]))

function hiddenIn(path: string): readonly string[] {
  const hidden: string[] = []
  const folders = statSync(path).isDirectory() ? [path] : []
  for (let next = 0; next < folders.length; next++) {
    if (next >= maxFolders)
      throw extensionError(
        path,
        `it has more than ${maxFolders} folders to search for hidden files`,
        'Name a smaller folder in `permissions`.',
      )
    const folder = folders[next] as string
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (isHidden(entry.name)) hidden.push(join(folder, entry.name))
      else if (entry.isDirectory() && entry.name !== 'node_modules') folders.push(join(folder, entry.name))
    }
  }
  return hidden
}
