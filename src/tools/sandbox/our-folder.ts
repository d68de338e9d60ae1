import { lstatSync, mkdirSync } from 'node:fs'

/** Makes a folder of ours where anybody may make one of that name, and see what is put there. False where somebody did. */
export function isOurFolder(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(path)
    return uid === process.getuid?.() && (mode & 0o7777) === 0o700
  } catch {
    return false
  }
}
