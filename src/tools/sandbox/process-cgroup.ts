// A control group that limits the number of processes in the kernel, so that a command cannot fork faster than it is watched.
// For root, to whom limits per user do not apply; where the system allows creating a group.
//
// 1. The group counts refused forks: processes that end quickly are hard to count from outside.
// 2. Empty groups are removed, also those that an earlier process left.
// 3. Moving a process into a group takes several milliseconds. A thread that enters by itself does not wait, but only groups of
//    version 1 allow that.
import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { readProc } from './process-tree.ts'

export interface ProcessCgroup {
  readonly entrance: Entrance
  isExceeded(): boolean
  release(): void
}

/** How a process gets in, with all of its descendants. */
export type Entrance =
  /** It writes `0` to this open file. */
  { readonly kind: 'by itself'; readonly descriptor: number } | { readonly kind: 'moved'; move(pid: number): Promise<void> }

const prefix = 'troupe-command-'
let count = 0
/** Groups that still had a process when they were released. */
const left = new Set<string>()

/** Nothing where no group can be created. */
export function processCgroup(most: number): ProcessCgroup | undefined {
  parents ??= possibleParents()
  for (const { folder, isVersion1 } of parents) {
    const group = join(folder, `${prefix}${process.pid}-${threadId}-${++count}`)
    try {
      tidy(folder)
      mkdirSync(group)
      writeFileSync(join(group, 'pids.max'), String(most))
      const entrance = isVersion1 ? byItself(group) : moved(group)
      return {
        entrance,
        isExceeded: () => /^max [1-9]/m.test(readProc(join(group, 'pids.events')) ?? ''),
        release: () => {
          if (entrance.kind === 'by itself') closeSync(entrance.descriptor)
          remove(group)
        },
      }
    } catch {
      remove(group)
    }
  }
  return undefined
}

const byItself = (group: string): Entrance => ({ kind: 'by itself', descriptor: openSync(join(group, 'tasks'), constants.O_WRONLY) })
const moved = (group: string): Entrance => ({ kind: 'moved', move: (pid) => writeFile(join(group, 'cgroup.procs'), String(pid)) })

interface ParentGroup {
  readonly folder: string
  readonly isVersion1: boolean
}

let parents: readonly ParentGroup[] | undefined

/** The group of this process and those above it, where processes are counted: version 1 or 2. */
function possibleParents(): readonly ParentGroup[] {
  const mounts = (readProc('/proc/self/mountinfo') ?? '').split('\n').map((line) => line.split(' '))
  const groups = (readProc('/proc/self/cgroup') ?? '').split('\n').map((line) => line.split(':'))
  return mounts.flatMap((mount) => {
    const kind = mount[mount.indexOf('-') + 1]
    const options = mount.at(-1)?.split(',') ?? []
    const isCounting = kind === 'cgroup2' || (kind === 'cgroup' && options.includes('pids'))
    const [root, point] = [mount[3], mount[4]]
    if (!isCounting || root === undefined || point === undefined) return []
    const own = groups.find(([, names]) => (kind === 'cgroup2' ? names === '' : names?.split(',').includes('pids')))?.[2] ?? '/'
    const paths = upFrom(own.startsWith(root) && root !== '/' ? own.slice(root.length) || '/' : own)
    return paths.map((path) => ({ folder: join(point, path), isVersion1: kind === 'cgroup' }))
  })
}

function upFrom(path: string): readonly string[] {
  return path === '/' ? ['/'] : [path, ...upFrom(dirname(path))]
}

function tidy(folder: string): void {
  for (const group of left) remove(group)
  for (const name of readdirSync(folder)) {
    const owner = name.startsWith(prefix) ? name.slice(prefix.length).split('-')[0] : undefined
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) remove(join(folder, name))
  }
}

function remove(group: string): void {
  try {
    rmdirSync(group)
    left.delete(group)
  } catch {
    if (existsSync(group)) left.add(group)
    else left.delete(group)
  }
}
