import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it that are not there, and adds them to `made` as they come to be, outermost first. One
 * by one: Node's own way never ends where the system lets nobody make any, as in `/proc`.
 */
export async function makeFolders(path: string, { mode, made = [] }: { readonly mode?: number; readonly made?: string[] } = {}) {
  const missing: string[] = []
  for (let at = path; !(await isThere(at)); at = dirname(at)) missing.unshift(at)
  for (const each of missing) {
    try {
      await mkdir(each, { mode })
      made.push(each)
    } catch (error) {
      // Somebody else was faster.
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
}

async function isThere(path: string): Promise<boolean> {
  if (path === dirname(path)) return true
  try {
    await stat(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false
    throw error
  }
}

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException | undefined)?.code
