/*
 * A command without walls, for those who switched them off or were allowed out.
 *
 * 1. It leads a group of its own and carries a mark in its environment that its children inherit, wherever they go.
 * 2. When it ends, so does all that carries the mark: nothing stays in the background.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../contracts/index.ts'
import { marked } from './process-tree.ts'
import { type RunningProcess, startProcess } from './running-process.ts'
import type { Command, Ending, RunningCommand } from './sandbox-types.ts'

const markName = 'TROUPE_COMMAND'
/** A process may fork while it is looked for. */
const mostSweeps = 20
/** For reading what was printed before. */
const lastWordsMs = 1000

export async function startPlain(
  { argv: [file, ...args], cwd, environment, stdin }: Omit<Command, 'policy'>,
  clock: Clock,
): Promise<RunningCommand> {
  const mark = randomUUID()
  const variable = `${markName}=${mark}`
  const merged = ['-c', 'exec 2>&1; exec "$@"', 'sh', file, ...args]
  const started = await startProcess({
    file: '/bin/sh',
    args: merged,
    environment: { ...environment, [markName]: mark },
    cwd,
    stdin,
    isLeader: true,
  })
  const everyone = (signal: NodeJS.Signals): void => {
    signalGroup(started, signal)
    for (const pid of marked(variable)) send(pid, signal)
  }
  started.child?.once('exit', () => {
    sweep(started, variable)
    // Somebody who has thrown the mark away is not waited for.
    cancel = clock.after(lastWordsMs, started.hangUp)
  })
  let cancel = (): void => {}
  return {
    listen: started.listen,
    ended: started.over.then(({ fault, ...ending }): Ending => {
      cancel()
      return { ...ending, refusedHosts: [], undone: [], ...(fault !== undefined && { startFault: fault }) }
    }),
    terminate: () => everyone('SIGTERM'),
    kill: () => everyone('SIGKILL'),
  }
}

function sweep(started: RunningProcess, variable: string): void {
  signalGroup(started, 'SIGKILL')
  for (let count = 0; count < mostSweeps; count++) {
    const left = marked(variable)
    if (left.length === 0) return
    for (const pid of left) send(pid, 'SIGKILL')
  }
}

/** The group keeps the number of its leader for as long as it has a member, so this never hits a stranger. */
function signalGroup({ child }: RunningProcess, signal: NodeJS.Signals): void {
  if (child?.pid !== undefined) send(-child.pid, signal)
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Already gone.
  }
}
