/*
 * A command behind walls.
 *
 * 1. Process 1 inside ends with its starter, its starter with us: whatever happens, nobody is left.
 * 2. Nothing of it runs before that holds, its number of processes is bounded, and it is watched: process 1 waits for a word
 *    of ours, and without one it goes.
 * 3. It is asked to end from outside, one process after the other: what builds the walls would die of the same question.
 */
import type { Clock, SandboxPolicy } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { firstPid } from './first-pid.ts'
import type { ProcessCap } from './process-cap.ts'
import { processTree } from './process-tree.ts'
import { Replaced } from './replaced.ts'
import { type RunningProcess, startProcess } from './running-process.ts'
import type { Ending, Launch, RunningCommand } from './sandbox-types.ts'
import { misplaced, type WallPlan } from './wall-check.ts'
import { brokenCap, watchLimits } from './watch-limits.ts'

export interface WalledStart {
  readonly launch: Launch
  readonly stdin: string | undefined
  readonly clock: Clock
  readonly policy: SandboxPolicy
  /** What it has to be taken into before it may go on. */
  readonly cap: ProcessCap | undefined
  /** How the walls have to stand before it may go on. */
  readonly plan: WallPlan
  /** Looks after what the walls could not keep; called when everything is over. */
  afterwards(): Promise<Pick<Ending, 'refusedHosts' | 'undone'>>
}

/** Those that a program finds open, after the usual three and its inputs. */
export interface WallDescriptors {
  readonly gate: number
  readonly info: number
  /** Where it has to step into a group by itself. */
  readonly group: number | undefined
  /** The first of the folders that it is lent. */
  readonly lent: number
}

export function wallDescriptors(inputs: readonly Buffer[], cap: ProcessCap | undefined): WallDescriptors {
  const gate = 3 + inputs.length
  const group = cap?.entrance.kind === 'own step' ? gate + 2 : undefined
  return { gate, info: gate + 1, group, lent: group === undefined ? gate + 2 : gate + 3 }
}

export async function startWalled({ launch, stdin, clock, policy, cap, plan, afterwards }: WalledStart): Promise<RunningCommand> {
  const info = await firstPid()
  const lent = [info.descriptor, ...(cap?.entrance.kind === 'own step' ? [cap.entrance.descriptor] : []), ...launch.lent]
  const started = await startProcess({ ...launch, stdin, isGated: true, lent })
  let first: number | undefined
  let limit: string | undefined
  let refusal: string | undefined
  let stopWatch: () => void = () => {}
  const watch = (pid: number): (() => void) =>
    watchLimits({ clock, policy, first: pid, cap }, (words) => {
      limit = words
      started.child?.kill('SIGKILL')
      // The shorter way, where thousands wait for their turn.
      send(pid, 'SIGKILL')
    })
  const told = info.read(started.child, wallDescriptors(launch.inputs, cap).info)
  const letGo = async (): Promise<void> => {
    const spoken = firstWord(started)
    first = await told
    if (cap?.entrance.kind === 'taken in') await cap.entrance.take(first).catch(notTakenIn)
    await spoken
    const wrong = misplaced(first, plan)
    if (wrong !== undefined) throw new Replaced(wrong)
    stopWatch = watch(first)
    started.gate?.end('\n')
  }
  letGo().catch((error: unknown) => {
    refusal = messageOf(error)
    started.child?.kill('SIGKILL')
  })
  started.child?.once('exit', () => {
    stopWatch()
    started.gate?.destroy()
  })
  return {
    listen: started.listen,
    ended: started.over.then(async ({ exitCode, signal, fault }): Promise<Ending> => {
      stopWatch()
      limit ??= brokenCap(policy, cap)
      cap?.release()
      const startFault = fault ?? (limit === undefined ? (startFaultOf(started) ?? refusal) : undefined)
      return {
        exitCode,
        signal,
        ...(await afterwards()),
        ...(limit !== undefined && { limit }),
        ...(startFault !== undefined && { startFault }),
      }
    }),
    terminate: () => {
      if (first === undefined || started.child?.exitCode !== null || started.child.signalCode !== null) return
      for (const { pid } of processTree(first)) if (pid !== first) send(pid, 'SIGTERM')
    },
    kill: () => {
      started.child?.kill('SIGKILL')
    },
  }
}

function notTakenIn(error: unknown): never {
  throw new Error(`it could not be taken into the control group that bounds its processes: ${messageOf(error)}`)
}

/** What builds the walls speaks before the command does, and only where it failed. */
const startFaultOf = ({ complaints }: RunningProcess): string | undefined => (complaints().trim() === '' ? undefined : complaints().trim())

/** Once process 1 speaks, both it and its starter are bound to our life. Who never speaks is never let go. */
const firstWord = ({ gate }: RunningProcess): Promise<void> => new Promise((resolve) => gate?.once('data', () => resolve()))

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Already gone.
  }
}
