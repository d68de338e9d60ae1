// A command in a sandbox that bubblewrap builds.
//
// 1. Process 1 of the sandbox ends with bubblewrap, and bubblewrap with this process: nothing is left running.
// 2. The command starts only after process 1 has reported, the mounts are as planned, its processes are limited, and the
//    limits are watched. Process 1 waits for one line; without it, it exits.
// 3. SIGTERM goes to each process inside, one by one: bubblewrap itself would die of it.
import type { Duplex } from 'node:stream'
import type { Clock, SandboxPolicy } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { ReplacedError } from './file-identity.ts'
import { type MountPlan, misplacedMount } from './mount-check.ts'
import type { NetworkProxy } from './network-proxy.ts'
import type { ProcessCgroup } from './process-cgroup.ts'
import { childrenOf, processTree, sendSignal } from './process-tree.ts'
import { type ProcessStart, type RunningProcess, startProcess } from './running-process.ts'
import type { Ending, RunningCommand } from './sandbox-types.ts'
import { exceededProcesses, watchLimits } from './watch-limits.ts'

export type Launch = Required<Pick<ProcessStart, 'file' | 'args' | 'environment' | 'inputs'>>

interface SandboxedStart {
  readonly launch: Launch
  readonly stdin: string | undefined
  readonly isPiped?: boolean
  readonly clock: Clock
  readonly policy: SandboxPolicy
  readonly cgroup: ProcessCgroup | undefined
  readonly plan: MountPlan
  readonly proxy: NetworkProxy | undefined
  readonly readOnly: readonly string[]
}

/** The descriptors that bubblewrap finds open after the usual three and its inputs. */
export interface Descriptors {
  /** Process 1 reports here, and waits. */
  readonly gate: number
  /** Where process 1 enters its control group by itself. */
  readonly cgroup: number | undefined
  readonly bridge: number
}

export function descriptorsFor(inputs: readonly Buffer[], cgroup: ProcessCgroup | undefined): Descriptors {
  const gate = 3 + inputs.length
  const entersItself = cgroup?.entrance.kind === 'by itself'
  return { gate, cgroup: entersItself ? gate + 1 : undefined, bridge: entersItself ? gate + 2 : gate + 1 }
}

/** @throws where the command was not started; a ReplacedError where a second attempt may succeed. */
export async function startSandboxed(start: SandboxedStart): Promise<RunningCommand> {
  const { launch, stdin, isPiped = false, clock, policy, cgroup, proxy, readOnly } = start
  const further = [...(cgroup?.entrance.kind === 'by itself' ? [cgroup.entrance.descriptor] : []), ...(proxy ? ['pipe' as const] : [])]
  const started = await startProcess({ ...launch, stdin, isPiped, hasGate: true, further })
  const { child } = started
  if (child && proxy) proxy.acceptBridge(child.stdio[descriptorsFor(launch.inputs, cgroup).bridge] as Duplex)
  const init = await Promise.race([checkedInit(started, start), failedStart(started)]).catch((error: unknown) => {
    child?.kill('SIGKILL')
    started.stopListening()
    throw error
  })
  let limit: string | undefined
  const stopWatching = watchLimits({ clock, policy, init, cgroup, isLongLived: isPiped }, (exceeded) => {
    limit = exceeded
    child?.kill('SIGKILL')
    // Faster where thousands of processes wait for the processor.
    sendSignal(init, 'SIGKILL')
  })
  started.gate?.end('\n')
  child?.once('exit', () => {
    stopWatching()
    started.gate?.destroy()
  })
  return {
    listen: started.listen,
    ...(started.pipes && { pipes: started.pipes }),
    ended: (isPiped ? started.exited : started.over).then(({ exitCode, signal }): Ending => {
      limit ??= exceededProcesses(policy, cgroup)
      cgroup?.release()
      proxy?.close()
      return { exitCode, signal, refusedHosts: proxy?.refused ?? [], readOnly, ...(limit !== undefined && { limit }) }
    }),
    terminate: () => {
      if (child?.exitCode !== null || child.signalCode !== null) return
      for (const { pid } of processTree(init)) if (pid !== init) sendSignal(pid, 'SIGTERM')
    },
    kill: () => {
      child?.kill('SIGKILL')
    },
  }
}

/** The pid of process 1, once the sandbox is as it should be. Never resolves where process 1 does not report. */
async function checkedInit({ child, gate }: RunningProcess, { cgroup, plan }: SandboxedStart): Promise<number> {
  await new Promise((resolve) => gate?.once('data', resolve))
  const pid = child?.pid ?? 0
  // Both end with this process by now.
  const init = childrenOf(pid)[0] ?? pid
  if (cgroup?.entrance.kind === 'moved') await cgroup.entrance.move(init).catch(notMoved)
  const misplaced = misplacedMount(init, plan)
  if (misplaced !== undefined) throw new ReplacedError(misplaced)
  return init
}

function notMoved(error: unknown): never {
  throw new Error(`it could not be moved into the control group that limits its processes: ${messageOf(error)}`)
}

/** How bubblewrap reports a path that it could not mount: it was removed or replaced meanwhile. */
const pathError = /^bwrap: Can't (?:create|find|mount|bind|get|mkdir|stat)\b/

async function failedStart({ exited, errors }: RunningProcess): Promise<never> {
  const { fault, exitCode, signal } = await exited
  const text = fault ?? (await errors)
  if (pathError.test(text)) throw new ReplacedError(text)
  throw new Error(text === '' ? `bubblewrap ended with ${signal ?? exitCode}` : text)
}
