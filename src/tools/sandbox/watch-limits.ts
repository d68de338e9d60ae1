/*
 * Limits that also hold for root, whom the kernel's own per-user limits do not bind: a look at the whole namespace every
 * few milliseconds.
 *
 * 1. Memory is what processes use, shared bytes once, and what lies in the private `/tmp` and `/dev/shm`.
 * 2. Looking takes at most a tenth of our time, and never longer than for as many processes as there may be.
 * 3. Once a limit is broken it is told once, and nobody looks any more.
 */
import { statfsSync, statSync } from 'node:fs'
import type { Clock, SandboxPolicy } from '../../contracts/index.ts'
import type { ProcessCap } from './process-cap.ts'
import { processTree, sharedOnce } from './process-tree.ts'

export interface Watched {
  readonly clock: Clock
  readonly policy: Pick<SandboxPolicy, 'memory' | 'processes'>
  /** The first process inside, as it is called outside; the walls around it are complete. */
  readonly first: number
  readonly cap: ProcessCap | undefined
}

const shortestPause = 5
const share = 10
/** What a file costs that has nothing in it. */
const bytesOfFile = 1024

/** Calls `broken` once with the limit in words; the answer ends the watch. */
export function watchLimits(watched: Watched, broken: (limit: string) => void): () => void {
  const { clock } = watched
  let cancel: () => void = () => {}
  const look = (): void => {
    const started = clock.monotonic()
    const limit = brokenLimit(watched)
    if (limit !== undefined) broken(limit)
    else cancel = clock.after(Math.max(shortestPause, (clock.monotonic() - started) * share), look)
  }
  cancel = clock.after(shortestPause, look)
  return () => cancel()
}

function brokenLimit({ policy: { memory, processes }, first, cap }: Watched): string | undefined {
  const tree = processTree(first, processes)
  const count = tree.reduce((sum, { threads }) => sum + threads, 0)
  if (count > processes || cap?.isBroken()) return tooMany(processes)
  const stored = storedIn(first)
  const resident = tree.reduce((sum, each) => sum + each.resident, 0)
  if (resident + stored <= memory) return undefined
  const used = (sharedOnce(tree.map(({ pid }) => pid)) ?? resident) + stored
  return used > memory ? `more than ${Math.floor(memory / 1024 ** 2)} MiB of memory, /tmp included (sandbox.memory)` : undefined
}

/** Of a command that was over before anybody looked again. */
export const brokenCap = ({ processes }: Pick<SandboxPolicy, 'processes'>, cap: ProcessCap | undefined): string | undefined =>
  cap?.isBroken() ? tooMany(processes) : undefined

const tooMany = (processes: number): string => `more than ${processes} processes and threads at once (sandbox.processes)`

function storedIn(first: number): number {
  return ['/tmp', '/dev/shm'].reduce((sum, folder) => sum + bytesIn(folder, `/proc/${first}/root${folder}`), 0)
}

/** Where the folder inside is the one of the machine, because it may be written there, what lies in it is not the command's. */
function bytesIn(outside: string, inside: string): number {
  try {
    if (statSync(inside).dev === statSync(outside).dev) return 0
    const { blocks, bfree, bsize, files, ffree } = statfsSync(inside)
    return (blocks - bfree) * bsize + (files - ffree) * bytesOfFile
  } catch {
    return 0
  }
}
