import { realpathSync } from 'node:fs'

/** Without links: on some systems a home is one to another disk, and what is hidden, bound or trusted has to be what it is. */
export function realOrSame(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
