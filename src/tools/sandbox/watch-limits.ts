// Limits that also apply to root, to whom the kernel's limits per user do not: all processes of the sandbox are checked every
// few milliseconds.
//
// 1. Memory is what processes use, shared bytes once, plus the files in the private `/tmp` and `/dev/shm`.
// 2. Checking takes at most a tenth of the time, and stops at the allowed number of processes. A program that lives as long as its
//    owner is checked less often: it would cost a twentieth of a processor all the time.
// 3. An exceeded limit is reported once, and ends the watch.
import { statfsSync, statSync } from 'node:fs'
import type { Clock, SandboxPolicy } from '../../contracts/index.ts'
import type { ProcessCgroup } from './process-cgroup.ts'
import { processTree, sharedOnce } from './process-tree.ts'

interface Watched {
  readonly clock: Clock
  readonly policy: Pick<SandboxPolicy, 'memory' | 'processes'>
  /** The pid of process 1 of the sandbox, as seen outside. */
  readonly init: number
  readonly cgroup: ProcessCgroup | undefined
  readonly isLongLived: boolean
}

const shortestPause = 5
const longLivedPause = 100
const share = 10
/** What an empty file costs. */
const bytesOfFile = 1024

/** Calls `exceeded` once with a text about the limit; the result ends the watch. */
export function watchLimits(watched: Watched, exceeded: (limit: string) => void): () => void {
  const { clock } = watched
  const pause = watched.isLongLived ? longLivedPause : shortestPause
  let cancel: () => void = () => {}
  const check = (): void => {
    const started = clock.monotonic()
    const limit = exceededLimit(watched)
    if (limit !== undefined) exceeded(limit)
    else cancel = clock.after(Math.max(pause, (clock.monotonic() - started) * share), check)
  }
  cancel = clock.after(pause, check)
  return () => cancel()
}

function exceededLimit({ policy: { memory, processes }, init, cgroup }: Watched): string | undefined {
  const tree = processTree(init, processes)
  const count = tree.reduce((sum, { threads }) => sum + threads, 0)
  if (count > processes || cgroup?.isExceeded()) return tooMany(processes)
  const stored = storedIn(init)
  const resident = tree.reduce((sum, each) => sum + each.resident, 0)
  if (resident + stored <= memory) return undefined
  const used = (sharedOnce(tree.map(({ pid }) => pid)) ?? resident) + stored
  return used > memory ? `more than ${Math.floor(memory / 1024 ** 2)} MiB of memory, /tmp included (sandbox.memory)` : undefined
}

/** For a command that ended before the next check. */
export const exceededProcesses = (
  { processes }: Pick<SandboxPolicy, 'processes'>,
  cgroup: ProcessCgroup | undefined,
): string | undefined => (cgroup?.isExceeded() ? tooMany(processes) : undefined)

const tooMany = (processes: number): string => `more than ${processes} processes and threads at once (sandbox.processes)`

function storedIn(init: number): number {
  return ['/tmp', '/dev/shm'].reduce((sum, folder) => sum + bytesIn(folder, `/proc/${init}/root${folder}`), 0)
}

/** Where the policy lets the command write to the folder of the machine, its files are not counted. */
function bytesIn(outside: string, inside: string): number {
  try {
    if (statSync(inside).dev === statSync(outside).dev) return 0
    const { blocks, bfree, bsize, files, ffree } = statfsSync(inside)
    return (blocks - bfree) * bsize + (files - ffree) * bytesOfFile
  } catch {
    return 0
  }
}
