// Checks the mounts of a sandbox before its command starts. While bubblewrap builds it, a command that is already running may
// replace a folder by a link: then something else is mounted, or it is mounted elsewhere. The kernel's table says what is
// mounted where, whatever the paths lead to now.
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf } from './file-identity.ts'

export interface MountPlan {
  /** What has to be mounted over itself, with its identity. Without links. */
  readonly mounted: ReadonlyMap<string, string>
  readonly covered: readonly string[]
}

/** The first path that is not mounted as planned in the namespace of a process. */
export function misplacedMount(pid: number, { mounted, covered }: MountPlan): string | undefined {
  const [ours, theirs] = [mountsOf('self'), mountsOf(pid)]
  const isAsPlanned = ([path, identity]: readonly [string, string]): boolean => {
    const source = sourceOf(path, ours)
    const isSource = (other: MountSource | undefined): boolean => other?.device === source?.device && other?.root === source?.root
    if (!theirs.some((mount) => mount.point === path && isSource(mount))) return false
    // A hidden path, or one in a hidden folder, has another mount above it.
    return !isSource(sourceOf(path, theirs)) || identityBehind(join(`/proc/${pid}/root`, path)) === identity
  }
  const isCovered = (path: string): boolean => theirs.some(({ point }) => point === path)
  return [...mounted].find((each) => !isAsPlanned(each))?.[0] ?? covered.find((path) => !isCovered(path))
}

function identityBehind(path: string): string | undefined {
  try {
    return identityOf(lstatSync(path, { bigint: true }))
  } catch {
    return undefined
  }
}

/** A file system, and a folder or file in it. */
interface MountSource {
  readonly device: string
  readonly root: string
}

export interface Mount extends MountSource {
  readonly point: string
}

/** In the order in which they were mounted. */
export function mountsOf(process: number | 'self'): readonly Mount[] {
  const lines = readFileSync(`/proc/${process}/mountinfo`, 'utf8').split('\n')
  return lines.flatMap((line) => {
    const [, , device, root, point] = line.split(' ')
    return device === undefined || root === undefined || point === undefined
      ? []
      : [{ device, root: unescaped(root), point: unescaped(point) }]
  })
}

/** What a mount of a path over itself would show. A later mount covers an earlier one, whichever is deeper. */
export function sourceOf(path: string, mounts: readonly Mount[]): MountSource | undefined {
  const around = mounts.findLast(({ point }) => point === '/' || path === point || path.startsWith(`${point}/`))
  if (!around) return undefined
  const { device, root, point } = around
  const rest = point === '/' ? path : path.slice(point.length)
  return { device, root: root === '/' ? rest || '/' : `${root}${rest}` }
}

/** The kernel writes blanks, tabs, line breaks and backslashes as octal numbers. */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
