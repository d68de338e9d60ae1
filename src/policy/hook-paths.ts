import { type HookSource, hookWords, isSystemPath } from './hook-command.ts'

/** The used parts of `node:fs` and `node:path`: this folder does not import them. */
interface HookDisk {
  resolve(folder: string, path: string): string
  realpathSync(path: string): string
  statSync(path: string): { readonly mode: number; isFile(): boolean }
}

interface HookPathContext {
  /** The folder that the hook runs in. */
  readonly baseDir: string
  readonly disk: HookDisk
}

/** The absolute paths of the files that a hook runs or that decide what it does. They need not exist. */
export function hookPaths(hook: HookSource, context: HookPathContext): readonly string[] {
  const { baseDir, disk } = context
  const paths = hookWords(hook).flatMap(({ text, included }) =>
    wordPaths(text, context).filter((path) => !isSystemPath(text, path, baseDir) && (included === 'always' || isExecutable(path, disk))),
  )
  return [...new Set(paths)]
}

/**
 * After a symbolic link, `..` is the parent of its target for the system and shells, and the parent of its name for programs that
 * resolve the text, like Node. The reader is unknown, so both paths are returned if they are different files.
 */
function wordPaths(word: string, { baseDir, disk }: HookPathContext): readonly string[] {
  const written = disk.resolve(baseDir, word)
  if (!isNotAsWritten.test(word)) return [written]
  const followed = followPath(word, { baseDir, disk })
  return realOrSame(followed, disk) === realOrSame(written, disk) ? [written] : [written, followed]
}

const isNotAsWritten = /(?:^|\/)\.\.(?:\/|$)|^\/+(?:proc|dev)\//

/** Resolves a path part by part, following links. */
function followPath(word: string, { baseDir, disk }: HookPathContext): string {
  let at = word.startsWith('/') ? '/' : baseDir
  for (const part of word.split('/')) {
    if (part === '' || part === '.') continue
    at = disk.resolve(part === '..' ? realOrSame(at, disk) : at, part)
    // This process has another working folder than the hook.
    if (workingFolder.test(at)) at = baseDir
  }
  return at
}

const workingFolder = /^\/proc\/(?:self|thread-self|\d+(?:\/task\/\d+)?)\/cwd$/

function realOrSame(path: string, disk: HookDisk): string {
  try {
    return disk.realpathSync(path)
  } catch {
    return path
  }
}

function isExecutable(path: string, disk: HookDisk): boolean {
  try {
    const found = disk.statSync(path)
    return found.isFile() && (found.mode & 0o111) !== 0
  } catch {
    return false
  }
}
