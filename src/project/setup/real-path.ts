import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'

/** A file that is a pipe has no real path. */
export function realPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return resolve(file)
  }
}
