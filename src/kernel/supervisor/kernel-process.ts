// 1. The process leads a group: signals of the terminal reach the supervisor alone, and everything that the kernel leaves behind can be
//    ended, also after it has died.
// 2. Time without heartbeats is counted in ticks of this process: sleep of the machine and Ctrl-Z are no blocked event loop.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Clock } from '../../contracts/index.ts'
import type { KernelEnd } from './after-crash.ts'
import { type KernelMessage, type KernelSetup, type SupervisorMessage, setupVariable } from './messages.ts'

const hasGroups = process.platform !== 'win32'

export interface KernelCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly env: { readonly [name: string]: string | undefined }
  /** Whether it gets the standard input of the supervisor. */
  readonly readsInput: boolean
}

export interface KernelTimings {
  readonly beatMs: number
  /** Without a heartbeat for this long, the kernel is killed. */
  readonly blockedMs: number
  /** Until the first heartbeat. */
  readonly startMs: number
  /** For a clean stop after the drain. */
  readonly stopMs: number
}

interface KernelProcessOptions extends Pick<KernelSetup, 'folder' | 'isFirst' | 'held' | 'refusesRestartsMs'> {
  readonly command: KernelCommand
  readonly clock: Clock
  readonly timings: KernelTimings
  onMessage(message: KernelMessage): void
}

export class KernelProcess {
  readonly ended: Promise<KernelEnd>
  readonly #child: ChildProcess
  readonly #options: KernelProcessOptions
  #isBlocked = false
  #missed = 0
  #hasBeaten = false
  #drainMs = 0
  #cancelTick: () => void = () => undefined
  #cancelStop: (() => void) | undefined

  constructor(options: KernelProcessOptions) {
    this.#options = options
    const { command, folder, timings, isFirst, held, refusesRestartsMs } = options
    const { beatMs, blockedMs } = timings
    const setup: KernelSetup = { folder, beatMs, blockedMs, isFirst, held, refusesRestartsMs }
    this.#child = spawn(command.file, command.args, {
      env: { ...command.env, [setupVariable]: JSON.stringify(setup) },
      stdio: [command.readsInput ? 'inherit' : 'ignore', 'inherit', 'inherit', 'ipc'],
      detached: hasGroups,
    })
    this.#child.on('message', (message: KernelMessage) => this.#hear(message))
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        this.#cancelTick()
        this.#cancelStop?.()
        this.kill()
        resolve({ code, signal, isBlocked: this.#isBlocked })
      }
      this.#child.on('exit', end)
      // It could not be started, or a message could not be sent because it has ended.
      this.#child.on('error', () => this.#child.pid === undefined && end(null, 'no process'))
    })
    this.#tick()
  }

  /** Asks for a clean stop. After the deadline the process is killed. */
  stop(): void {
    if (this.#cancelStop) return
    const message: SupervisorMessage = { type: 'stop' }
    this.#child.send(message, () => undefined)
    this.#cancelStop = this.#options.clock.after(this.#drainMs + this.#options.timings.stopMs, () => this.kill())
  }

  /** The process and everything in its group. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    const { pid } = this.#child
    try {
      if (pid !== undefined) process.kill(hasGroups ? -pid : pid, signal)
    } catch {
      // Nobody is left.
    }
  }

  #hear(message: KernelMessage): void {
    this.#missed = 0
    this.#hasBeaten = true
    if (message.type === 'drain') this.#drainMs = message.ms
    else this.#options.onMessage(message)
  }

  #tick(): void {
    const { clock, timings } = this.#options
    this.#cancelTick = clock.after(timings.beatMs, () => {
      this.#missed++
      if (this.#missed * timings.beatMs > (this.#hasBeaten ? timings.blockedMs : timings.startMs)) {
        this.#isBlocked = true
        this.kill()
      } else this.#tick()
    })
  }
}
