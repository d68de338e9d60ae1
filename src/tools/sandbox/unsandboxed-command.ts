// A command without a sandbox: where it is switched off, or a person has allowed the command to run outside.
//
// 1. It leads a process group and has a mark in its environment, which its children inherit.
// 2. When it ends, every process with the mark is ended: nothing stays in the background.
import type { Clock } from '../../contracts/index.ts'
import { killMarked, newMark, processesWith, sendSignal } from './process-tree.ts'
import { type RunningProcess, startProcess } from './running-process.ts'
import type { Command, Ending, RunningCommand } from './sandbox-types.ts'

/** To read what was printed before the end. */
const lastOutputMs = 1000

export async function startUnsandboxed(
  { argv: [file, ...args], cwd, environment, stdin, isPiped = false }: Omit<Command, 'policy'>,
  clock: Clock,
): Promise<RunningCommand> {
  const mark = newMark('TROUPE_COMMAND')
  const started = await startProcess({
    file: '/bin/sh',
    args: ['-c', isPiped ? 'exec "$@"' : 'exec 2>&1; exec "$@"', 'sh', file, ...args],
    environment: { ...environment, ...mark.environment },
    cwd,
    stdin,
    isPiped,
    leadsGroup: true,
  })
  const signalAll = (signal: NodeJS.Signals): void => {
    signalGroup(started, signal)
    for (const pid of processesWith(mark.text)) sendSignal(pid, signal)
  }
  let cancel = (): void => {}
  started.child?.once('exit', () => {
    signalGroup(started, 'SIGKILL')
    killMarked(mark)
    // A process that has removed the mark may hold the output open.
    cancel = clock.after(lastOutputMs, started.stopListening)
  })
  return {
    listen: started.listen,
    ...(started.pipes && { pipes: started.pipes }),
    ended: (isPiped ? started.exited : started.over).then(({ fault, ...ending }): Ending => {
      cancel()
      return { ...ending, refusedHosts: [], readOnly: [], ...(fault !== undefined && { startFault: fault }) }
    }),
    terminate: () => signalAll('SIGTERM'),
    kill: () => signalAll('SIGKILL'),
  }
}

/** The group keeps the number of its leader while it has a member, so no other group is hit. */
function signalGroup({ child }: RunningProcess, signal: NodeJS.Signals): void {
  if (child?.pid !== undefined) sendSignal(-child.pid, signal)
}
