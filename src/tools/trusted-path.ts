import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isInside } from '../util/is-inside.ts'

/** Where a path leads, unless a part of the way is in a folder that commands can write to. */
export function trustedPath(writable: readonly string[], path: string): readonly string[] {
  const way = resolveSteps(path)
  return way?.steps.every((step) => !writable.some((folder) => isInside(folder, step.path))) ? [way.end] : []
}

interface ResolvedPath {
  readonly steps: readonly { readonly path: string; readonly isLink: boolean }[]
  /** Without links. */
  readonly end: string
}

/** As many as the kernel follows. */
const mostLinks = 40

/**
 * Resolves an absolute path link by link; nothing where it leads nowhere. Each part is looked at once: a command may change
 * the way between two looks.
 */
export function resolveSteps(path: string): ResolvedPath | undefined {
  const steps: ResolvedPath['steps'][number][] = []
  const left = partsOf(path)
  let end = '/'
  let links = 0
  try {
    for (let part = left.shift(); part !== undefined; part = left.shift()) {
      if (part === '..') {
        end = dirname(end)
        continue
      }
      const next = join(end, part)
      const isLink = lstatSync(next).isSymbolicLink()
      steps.push({ path: next, isLink })
      if (!isLink) {
        end = next
        continue
      }
      if (++links > mostLinks) return undefined
      const target = readlinkSync(next)
      if (target.startsWith('/')) end = '/'
      left.unshift(...partsOf(target))
    }
    return { steps, end }
  } catch {
    return undefined
  }
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.')

/** Whether a file can be run. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Without links: on some systems a home is one to another disk, and what is hidden, bound or trusted has to be what it is. */
export function realOrSame(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
