/*
 * A bound on processes that the kernel keeps by itself, so that a command can not outrun whoever watches it. For root, whom
 * limits per user do not bind: a control group of the command's own, wherever this system lets us make one.
 *
 * 1. It remembers that somebody was refused: processes that come and go are hard to count from outside.
 * 2. Groups of our own that nobody is in any more are taken away, also those of an earlier life.
 * 3. Whoever is moved into a group waits until the whole machine has taken notice, for several milliseconds. A single thread
 *    that goes by itself does not, but only groups of the older kind are open to that.
 */
import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { threadId } from 'node:worker_threads'

export interface ProcessCap {
  readonly entrance: Entrance
  /** Whether there would have been more. */
  isBroken(): boolean
  release(): void
}

/** How a process gets in, with all that will come from it. */
export type Entrance =
  /** By itself: it is given this open file, and writes `0` to it. */
  { readonly kind: 'own step'; readonly descriptor: number } | { readonly kind: 'taken in'; take(pid: number): Promise<void> }

const prefix = 'troupe-command-'
let count = 0
/** Those that somebody was still dying in. */
const left = new Set<string>()

/** Nothing where no such group can be had. */
export function processCap(most: number): ProcessCap | undefined {
  places ??= possiblePlaces()
  for (const { folder, isOlder } of places) {
    const group = join(folder, `${prefix}${process.pid}-${threadId}-${++count}`)
    try {
      tidy(folder)
      mkdirSync(group)
      writeFileSync(join(group, 'pids.max'), String(most))
      const entrance = isOlder ? ownStep(group) : takenIn(group)
      return {
        entrance,
        isBroken: () => /^max [1-9]/m.test(read(join(group, 'pids.events'))),
        release: () => {
          if (entrance.kind === 'own step') closeSync(entrance.descriptor)
          remove(group)
        },
      }
    } catch {
      remove(group)
    }
  }
  return undefined
}

const ownStep = (group: string): Entrance => ({ kind: 'own step', descriptor: openSync(join(group, 'tasks'), constants.O_WRONLY) })
const takenIn = (group: string): Entrance => ({ kind: 'taken in', take: (pid) => writeFile(join(group, 'cgroup.procs'), String(pid)) })

interface Place {
  readonly folder: string
  readonly isOlder: boolean
}

let places: readonly Place[] | undefined

/** Our own group and those above it, where processes are counted: of the older or the newer kind. */
function possiblePlaces(): readonly Place[] {
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
    const ways = upFrom(own.startsWith(root) && root !== '/' ? own.slice(root.length) || '/' : own)
    return ways.map((way) => ({ folder: join(point, way), isOlder: kind === 'cgroup' }))
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
