// The kernel's side of the supervisor. It answers one question for the process that comes after it: whose fault was it?
// 1. An exception that nobody caught, and calls that end the process: by the stack, else by the async context of `enter`.
// 2. A blocked event loop: by the stack that the watchdog thread reads.
// 3. Out of memory, and every other sudden end: by the code that was entered last and has not returned.
import { AsyncLocalStorage } from 'node:async_hooks'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { TroupeError } from '../../contracts/index.ts'
import { isThenable } from '../../util/is-thenable.ts'
import { messageOf } from '../../util/message-of.ts'
import type { SupervisorPort } from '../shared/kernel-types.ts'
import { activeFile, type Suspect, writeCrashFile } from './crash-files.ts'
import { type ExtensionFolder, findSuspect, realFolder } from './find-suspect.ts'
import type { KernelMessage, KernelSetup, SupervisorMessage } from './messages.ts'
import type { WatchdogSetup } from './watchdog-worker.ts'

export interface SupervisedKernel extends SupervisorPort {
  /** Calls the listener when the kernel is asked to end, or its supervisor has died. */
  onStop(listener: () => void): void
  /** How long a clean stop may take. */
  drains(ms: number): void
}

/** Frames of a stack that may contain the extension. */
const maxFrames = 50

/** `report`: prints an exception that nobody caught. */
export function connectSupervisor(setup: KernelSetup, report: (error: unknown) => void): SupervisedKernel {
  const { folder, refusesRestartsMs } = setup
  const mayRestartAt = performance.now() + refusesRestartsMs
  const context = new AsyncLocalStorage<Suspect>()
  const mark = activeFile(folder)
  const active: Suspect[] = []
  let folders: readonly ExtensionFolder[] = []
  const worker = startHeartbeat(setup)

  const suspectOf = (stack: string): Suspect | undefined => {
    const found = findSuspect(stack.split('\n').slice(1), folders)
    const inside = context.getStore()
    if (found === undefined || found === inside?.extension) return inside
    return { extension: found, stage: active.findLast(({ extension }) => extension === found)?.stage ?? 'background' }
  }
  const recordEnd = (call: string): void => {
    const suspect = suspectOf(stackHere())
    if (suspect) writeCrashFile(folder, 'fault', { ...suspect, reason: `it called ${call}` })
  }
  const exit = watchEnds(recordEnd)
  process.on('uncaughtException', (error: unknown, origin) => {
    const suspect = suspectOf(error instanceof Error ? String(error.stack) : '')
    const what =
      origin === 'unhandledRejection' ? 'a promise was rejected and nobody handled it' : 'it threw an exception that nobody caught'
    writeCrashFile(folder, 'fault', { ...suspect, reason: `${what}: ${messageOf(error)}` })
    report(error)
    exit(1)
  })

  return {
    async requestRestart(reason, { isForced = false } = {}) {
      const leftMs = mayRestartAt - performance.now()
      if (leftMs > 0 && !isForced) throw tooManyRestarts(leftMs)
      await send({ type: 'restart', reason, isForced })
    },
    requestShutdown: (reason) => send({ type: 'shutdown', reason }),
    loading(extensions) {
      folders = extensions.map(realFolder)
      worker.postMessage(folders)
      const loaded = extensions.map(({ id, hash, source }) => ({ id, hash, isBundled: source === 'bundled' }))
      writeCrashFile(folder, 'loaded', loaded)
    },
    ready: () => void send({ type: 'ready' }),
    enter(extension, stage, work) {
      const entry: Suspect = { extension, stage }
      active.push(entry)
      mark(entry)
      const leave = (): void => {
        active.splice(active.lastIndexOf(entry), 1)
        mark(active.at(-1))
      }
      let isPending = false
      try {
        const result = context.run(entry, work)
        // A service runs for ever: it would be the suspect of every sudden end.
        if (stage !== 'runBackground' && isThenable(result)) {
          isPending = true
          result.then(leave, leave)
        }
        return result
      } finally {
        if (!isPending) leave()
      }
    },
    drains: (ms) => void send({ type: 'drain', ms }),
    onStop(listener) {
      process.on('message', ({ type }: SupervisorMessage) => type === 'stop' && listener())
      process.on('disconnect', () => {
        // The supervisor has died, and its last task is left: to end what the kernel has started. The watchdog thread does the same if a
        // clean stop takes too long.
        process.on('exit', () => process.kill(-process.pid, 'SIGKILL'))
        listener()
      })
    },
  }
}

const tooManyRestarts = (leftMs: number): TroupeError =>
  new TroupeError('extension_failed', 'Extensions have restarted the assistant too often, and this request was refused.', {
    remedy: `Ask again in ${Math.ceil(leftMs / 60_000)} min, or run: troupe extensions reload`,
  })

/** For a kernel that nobody supervises. */
export const withoutSupervisor: SupervisorPort = {
  requestRestart: () => Promise.reject(noSupervisor('restart')),
  requestShutdown: () => Promise.reject(noSupervisor('stop')),
  loading: () => undefined,
  ready: () => undefined,
  enter: (_extension, _stage, work) => work(),
}

const noSupervisor = (what: string): TroupeError =>
  new TroupeError('usage', `Nothing can ${what} this process: it has no supervisor.`, {
    remedy: `Start it with \`troupe up\`, or ${what} \`troupe serve\` by hand.`,
  })

/** A message that cannot be sent has no receiver: the supervisor has died, and so will this process. */
async function send(message: KernelMessage): Promise<void> {
  if (!process.connected) return
  await new Promise<void>((resolve) => void process.send?.(message, undefined, undefined, () => resolve()))
}

/** Counts ticks of the main thread, for the supervisor and for the watchdog thread. */
function startHeartbeat({ folder, beatMs, blockedMs }: KernelSetup): Worker {
  const ticks = new Int32Array(new SharedArrayBuffer(4))
  const workerData: WatchdogSetup = { folder, ticks, beatMs, captureMs: blockedMs * 0.4, parent: process.ppid, leader: process.pid }
  // Next to this file, as source or compiled.
  const file = new URL(`./watchdog-worker${extname(fileURLToPath(import.meta.url))}`, import.meta.url)
  const worker = new Worker(file, { workerData, argv: [], execArgv: [] })
  worker.on('error', () => undefined)
  worker.unref()
  const beat = (): void => {
    Atomics.add(ticks, 0, 1)
    void send({ type: 'beat' })
  }
  beat()
  setInterval(beat, beatMs).unref()
  return worker
}

/** Calls `before` when the process is about to be ended from inside. Returns the original `process.exit`. */
function watchEnds(before: (call: string) => void): typeof process.exit {
  const { exit, abort, kill } = process
  process.exit = (code) => {
    before(`process.exit(${code ?? ''})`)
    return exit.call(process, code)
  }
  process.abort = () => {
    before('process.abort()')
    return abort.call(process)
  }
  process.kill = (pid, signal) => {
    if (Math.abs(pid) === process.pid && signal !== 0) before(`process.kill() with ${signal ?? 'SIGTERM'} for its own process`)
    return kill.call(process, pid, signal)
  }
  return exit.bind(process)
}

function stackHere(): string {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = maxFrames
  const { stack = '' } = new Error('here')
  Error.stackTraceLimit = limit
  return stack
}
