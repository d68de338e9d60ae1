import { realpathSync } from 'node:fs'

/** A path without links; nothing where it leads nowhere. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
