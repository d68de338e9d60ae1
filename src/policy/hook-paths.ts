import { type HookSource, hookWords, isSystemPath } from './hook-command.ts'

/** What is needed of `node:fs` and `node:path`, given by whoever may use them. */
export interface HookDisk {
  resolve(folder: string, path: string): string
  realpathSync(path: string): string
  statSync(path: string): { readonly mode: number; isFile(): boolean }
}

interface HookPathContext {
  /** The folder that the hook runs in. */
  readonly baseDir: string
  readonly disk: HookDisk
}

/** The absolute paths of what a hook runs, and of what decides what that does. Whether there is a file is for whoever looks. */
export function hookPaths(hook: HookSource, context: HookPathContext): readonly string[] {
  const { baseDir, disk } = context
  const paths = hookWords(hook).flatMap(({ text, included }) =>
    wordPaths(text, context).filter((path) => !isSystemPath(text, path, baseDir) && (included === 'always' || isExecutable(path, disk))),
  )
  return [...new Set(paths)]
}

/**
 * Behind a link `..` leads to what is above its goal for the system and for shells, and to what is above its name for those that look
 * at the text alone, like Node. Who reads the word is not known, so both count where they are different files.
 */
function wordPaths(word: string, { baseDir, disk }: HookPathContext): readonly string[] {
  const written = disk.resolve(baseDir, word)
  if (!isNotAsWritten.test(word)) return [written]
  const followed = followPath(word, { baseDir, disk })
  return realOrSame(followed, disk) === realOrSame(written, disk) ? [written] : [written, followed]
}

const isNotAsWritten = /(?:^|\/)\.\.(?:\/|$)|^\/+(?:proc|dev)\//

/** Where a path leads, part by part. */
function followPath(word: string, { baseDir, disk }: HookPathContext): string {
  let at = word.startsWith('/') ? '/' : baseDir
  for (const part of word.split('/')) {
    if (part === '' || part === '.') continue
    at = disk.resolve(part === '..' ? realOrSame(at, disk) : at, part)
    // Of whoever looks it is another folder than of the hook.
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
