import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A part of the way. */
export interface Step {
  readonly path: string
  readonly isLink: boolean
}

export interface Way {
  readonly steps: readonly Step[]
  /** Where it leads, without links. */
  readonly end: string
}

/** As many as the kernel follows. */
const mostLinks = 40

/**
 * The way that an absolute path takes, link by link; nothing where it leads nowhere. Each part is looked at once: who asks for links
 * first and for the end afterwards looks twice, and a command may change the way in between.
 */
export function stepsTo(path: string): Way | undefined {
  const steps: Step[] = []
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
