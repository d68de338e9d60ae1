/*
 * A bound on processes that the kernel keeps by itself, so that a command can not outrun whoever watches it. For root, whom
 * limits per user do not bind: a control group of the command's own, wherever this system lets us make one.
 *
 * 1. It remembers that somebody was refused: processes that come and go are hard to count from outside.
 * 2. Groups of our own that nobody is in any more are taken away, also those of an earlier life.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface ProcessCap {
  /** Takes a process in, with all that will come from it. */
  admit(pid: number): void
  /** Whether there would have been more. */
  isBroken(): boolean
  release(): void
}

const prefix = 'troupe-command-'
let count = 0
/** Those that somebody was still dying in. */
const left = new Set<string>()

/** Nothing where no such group can be had. */
export function processCap(most: number): ProcessCap | undefined {
  places ??= possiblePlaces()
  for (const folder of places) {
    const group = join(folder, `${prefix}${process.pid}-${++count}`)
    try {
      tidy(folder)
      mkdirSync(group)
      writeFileSync(join(group, 'pids.max'), String(most))
      return {
        admit: (pid) => writeFileSync(join(group, 'cgroup.procs'), String(pid)),
        isBroken: () => /^max [1-9]/m.test(read(join(group, 'pids.events'))),
        release: () => remove(group),
      }
    } catch {
      remove(group)
    }
  }
  return undefined
}

let places: readonly string[] | undefined

/** Our own group and those above it, where processes are counted: of the older or the newer kind. */
function possiblePlaces(): readonly string[] {
  const mounts = read('/proc/self/mountinfo')
    .split('\n')
    .map((line) => line.split(' '))
  const groups = read('/proc/self/cgroup')
    .split('\n')
    .map((line) => line.split(':'))
  return mounts.flatMap((mount) => {
    const kind = mount[mount.indexOf('-') + 1]
    const options = mount.at(-1)?.split(',') ?? []
    const isCounting = kind === 'cgroup2' || (kind === 'cgroup' && options.includes('pids'))
    const [root, point] = [mount[3], mount[4]]
    if (!isCounting || root === undefined || point === undefined) return []
    const own = groups.find(([, names]) => (kind === 'cgroup2' ? names === '' : names?.split(',').includes('pids')))?.[2] ?? '/'
    return upFrom(own.startsWith(root) && root !== '/' ? own.slice(root.length) || '/' : own).map((path) => join(point, path))
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

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
