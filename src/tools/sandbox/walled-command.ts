/*
 * A command behind walls.
 *
 * 1. Process 1 inside ends with its starter, its starter with us: whatever happens, nobody is left.
 * 2. Nothing of it runs before its number of processes is bounded, and it is watched.
 * 3. It is asked to end from outside, one process after the other: what builds the walls would die of the same question.
 */
import type { Clock, SandboxPolicy } from '../../contracts/index.ts'
import type { ProcessCap } from './process-cap.ts'
import { processTree } from './process-tree.ts'
import { type RunningProcess, startProcess } from './running-process.ts'
import type { Ending, Launch, RunningCommand } from './sandbox-types.ts'
import { watchLimits } from './watch-limits.ts'

export interface WalledStart {
  readonly launch: Launch
  readonly stdin: string | undefined
  readonly clock: Clock
  readonly policy: SandboxPolicy
  /** What it has to be taken into before it may go on. */
  readonly cap: ProcessCap | undefined
  /** Looks after what the walls could not keep; called when everything is over. */
  afterwards(): Promise<Pick<Ending, 'refusedHosts' | 'undone'>>
}

export async function startWalled({ launch, stdin, clock, policy, cap, afterwards }: WalledStart): Promise<RunningCommand> {
  const { file, args, environment, inputs } = launch
  const started = await startProcess({ file, args, environment, stdin, inputs, hasInfo: true, hasGate: cap !== undefined })
  let first: number | undefined
  let limit: string | undefined
  let stopWatch: () => void = () => {}
  firstProcess(started, (pid) => {
    first = pid
    admit(started, cap, pid)
    stopWatch = watchLimits({ clock, policy, first: pid, builder: file, cap }, (words) => {
      limit = words
      // The first process is the shorter way, where thousands wait for their turn.
      send(pid, 'SIGKILL')
      started.child?.kill('SIGKILL')
    })
  })
  started.child?.once('exit', () => stopWatch())
  return {
    listen: started.listen,
    ended: started.over.then(async ({ exitCode, signal, fault }): Promise<Ending> => {
      stopWatch()
      cap?.release()
      const startFault = fault ?? (limit === undefined ? startFaultOf(started) : undefined)
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

/** What builds the walls speaks before the command does, and only where it failed. */
const startFaultOf = ({ complaints }: RunningProcess): string | undefined => (complaints().trim() === '' ? undefined : complaints().trim())

function admit({ child, gate }: RunningProcess, cap: ProcessCap | undefined, pid: number): void {
  if (!cap) return
  try {
    cap.admit(pid)
    gate?.end('.')
  } catch {
    // It has ended already, or must not go on without.
    child?.kill('SIGKILL')
  }
}

function firstProcess({ info }: RunningProcess, found: (pid: number) => void): void {
  let text = ''
  info?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const pid = /"child-pid":\s*(\d+)[^\d]/.exec(text)?.[1]
    if (pid === undefined) return
    info.removeAllListeners('data').resume()
    found(Number(pid))
  })
  info?.on('error', () => {})
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Already gone.
  }
}
