import { readFileSync } from 'node:fs'

/** What is mounted where, in the world of a process. */
export interface Mount {
  /** Which file system it is of, and which folder or file of that. */
  readonly device: string
  readonly root: string
  readonly point: string
}

/** In the order in which they were made. */
export function mountsOf(process: number | 'self'): readonly Mount[] {
  const lines = readFileSync(`/proc/${process}/mountinfo`, 'utf8').split('\n')
  return lines.flatMap((line) => {
    const [, , device, root, point] = line.split(' ')
    return device === undefined || root === undefined || point === undefined
      ? []
      : [{ device, root: unescaped(root), point: unescaped(point) }]
  })
}

/** What would be mounted if a path were bound. A later mount covers an earlier one, whichever of them is the deeper. */
export function sourceOf(path: string, mounts: readonly Mount[]): Omit<Mount, 'point'> | undefined {
  const around = mounts.findLast(({ point }) => point === '/' || path === point || path.startsWith(`${point}/`))
  if (!around) return undefined
  const { device, root, point } = around
  const rest = point === '/' ? path : path.slice(point.length)
  return { device, root: root === '/' ? rest || '/' : `${root}${rest}` }
}

/** Blanks, tabs, line breaks and backslashes are written as octal numbers. */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
