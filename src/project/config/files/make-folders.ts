import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from '../../../util/error-code.ts'

/** Adds each new folder to `made`, outermost first. Node's `recursive` option loops forever in folders such as `/proc`. */
export async function makeFolders(path: string, { mode, made = [] }: { readonly mode?: number; readonly made?: string[] } = {}) {
  const missing: string[] = []
  for (let at = path; !(await exists(at)); at = dirname(at)) missing.unshift(at)
  for (const each of missing) {
    try {
      await mkdir(each, { mode })
      made.push(each)
    } catch (error) {
      // Another process was faster.
      if (errorCode(error) !== 'EEXIST') throw error
    }
  }
}

async function exists(path: string): Promise<boolean> {
  if (path === dirname(path)) return true
  try {
    await stat(path)
    return true
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return false
    throw error
  }
}
