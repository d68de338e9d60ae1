import { type HookSource, isOfSystem, wordsOfHook } from './hook-words.ts'

/** What is needed of `node:fs` and `node:path`, given by whoever may use them. */
export interface HookDisk {
  resolve(folder: string, path: string): string
  statSync(path: string): { readonly mode: number; isFile(): boolean }
}

interface Looking {
  /** The folder that the hook runs in. */
  readonly baseDir: string
  readonly disk: HookDisk
}

/** The absolute paths of what a hook runs, and of what decides what that does. Whether there is a file is for whoever looks. */
export function pathsOfHook(hook: HookSource, { baseDir, disk }: Looking): readonly string[] {
  const paths = wordsOfHook(hook).flatMap(({ text, counts }) => {
    const path = disk.resolve(baseDir, text)
    return isOfSystem(text, path, baseDir) || (counts === 'if executable' && !isExecutable(path, disk)) ? [] : [path]
  })
  return [...new Set(paths)]
}

function isExecutable(path: string, disk: HookDisk): boolean {
  try {
    const found = disk.statSync(path)
    return found.isFile() && (found.mode & 0o111) !== 0
  } catch {
    return false
  }
}
