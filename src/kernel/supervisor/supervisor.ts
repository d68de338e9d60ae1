// 1. At most one kernel process runs at a time: the next one is started when the last one has ended.
// 2. A crash either changes what the next kernel loads, or it delays the next start. So a loop of crashes always ends.
// 3. The state is read again for every decision: a command may have changed it.
import type { Clock } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { endText, type KernelEnd, quarantineAfterCrash } from './after-crash.ts'
import { clearCrashFiles, readCrashFiles } from './crash-files.ts'
import { lockFolder } from './folder-lock.ts'
import { type KernelCommand, KernelProcess, type KernelTimings } from './kernel-process.ts'
import type { KernelMessage } from './messages.ts'
import { type Quarantined, readSupervisorState, type SupervisorState, writeSupervisorState } from './supervisor-state.ts'

interface SupervisorTimings extends KernelTimings {
  /** Before the next start, by the number of crashes in a row. One more crash ends the supervisor. */
  readonly delays: readonly number[]
  /** After this time, crashes are counted from zero. */
  readonly healthyMs: number
  /** After this time, the loaded extensions are the last good set. */
  readonly goodMs: number
}

const defaultTimings: SupervisorTimings = {
  beatMs: 500,
  blockedMs: 5_000,
  startMs: 60_000,
  stopMs: 10_000,
  delays: [200, 1_000, 5_000, 30_000],
  healthyMs: 60_000,
  goodMs: 30_000,
}

interface SupervisorOptions {
  readonly command: KernelCommand
  /** See `supervisorFolder`. */
  readonly folder: string
  readonly clock: Clock
  readonly timings?: Partial<SupervisorTimings>
  report(text: string): void
}

export type SupervisorEnd =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'refused'; readonly code: number }
  | { readonly kind: 'gave_up'; readonly crashes: number; readonly last: string }

type Stop = 'restart' | 'shutdown'

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #timings: SupervisorTimings
  #kernel: KernelProcess | undefined
  /** What the running kernel was asked to do. */
  #stop: Stop | undefined
  #readyAt: number | undefined
  #wasReady = false
  #isFirst = true
  #crashes = 0
  #quickRestarts = 0
  #cancelGood: () => void = () => undefined

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#timings = { ...defaultTimings, ...options.timings }
  }

  /** Runs until the kernel asks for a shutdown, the signal aborts, or it has to give up. */
  async run(signal: AbortSignal): Promise<SupervisorEnd> {
    const unlock = await lockFolder(this.#options.folder)
    const leave = (): void => this.#askToStop('shutdown')
    signal.addEventListener('abort', leave)
    try {
      for (let delay = 0; ; ) {
        await this.#wait(delay, signal)
        if (signal.aborted) return { kind: 'stopped' }
        const next = this.#afterEnd(await this.#runKernel())
        if (typeof next !== 'number') return next
        delay = next
      }
    } finally {
      signal.removeEventListener('abort', leave)
      unlock()
    }
  }

  /** Ends the kernel immediately. */
  kill(): void {
    this.#kernel?.kill()
  }

  /** For job control, which the kernel does not get from the terminal. */
  forward(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGWINCH'): void {
    this.#kernel?.kill(signal)
  }

  async #runKernel(): Promise<KernelEnd> {
    const { command, folder, clock } = this.#options
    this.#stop = undefined
    this.#readyAt = undefined
    clearCrashFiles(folder)
    this.#kernel = new KernelProcess({
      ...{ command, folder, clock, timings: this.#timings, isFirst: this.#isFirst },
      onMessage: (message) => this.#hear(message),
    })
    this.#isFirst = false
    const end = await this.#kernel.ended
    this.#kernel = undefined
    this.#cancelGood()
    return end
  }

  #hear(message: KernelMessage): void {
    if (message.type === 'restart' || message.type === 'shutdown') this.#askToStop(message.type, message.reason)
    if (message.type !== 'ready') return
    this.#readyAt = this.#options.clock.monotonic()
    this.#wasReady = true
    this.#cancelGood = this.#options.clock.after(this.#timings.goodMs, () => this.#recordGood())
  }

  /** A shutdown wins over a restart. */
  #askToStop(stop: Stop, reason?: string): void {
    if (stop === 'restart' && this.#stop === undefined) this.#options.report(`Restarting: ${reason}`)
    this.#stop = this.#stop === 'shutdown' ? 'shutdown' : stop
    this.#kernel?.stop()
  }

  /** Milliseconds until the next start, or the end. */
  #afterEnd(end: KernelEnd): number | SupervisorEnd {
    const crash = readCrashFiles(this.#options.folder)
    const upMs = this.#readyAt === undefined ? 0 : this.#options.clock.monotonic() - this.#readyAt
    if (upMs >= this.#timings.healthyMs) this.#crashes = 0
    // An extension that ends the process while it is stopped.
    if (this.#stop && crash.fault?.extension !== undefined) this.#quarantine(end)
    else if (this.#stop && this.#readyAt !== undefined && end.signal === null) this.#recordGood()
    if (this.#stop === 'shutdown') return { kind: 'stopped' }
    if (this.#stop === 'restart') return this.#restartDelay(upMs)
    // It has reported what is wrong, such as the configuration. Another start would change nothing.
    if (!this.#wasReady && !crash.fault && end.code) return { kind: 'refused', code: end.code }
    return this.#afterCrash(end, crash.fault?.reason)
  }

  #afterCrash(end: KernelEnd, reason?: string): number | SupervisorEnd {
    const last = reason ?? (end.isBlocked ? 'its event loop was blocked' : endText(end))
    const quarantined = this.#quarantine(end)
    if (quarantined.length > 0) {
      this.#options.report(`The kernel has crashed: ${last}. Restarting without ${quarantined.join(', ')}.`)
      return 0
    }
    const delay = this.#timings.delays[this.#crashes++]
    if (delay === undefined) return { kind: 'gave_up', crashes: this.#crashes, last }
    this.#options.report(`The kernel has crashed: ${last}. Restarting in ${delay / 1000} s.`)
    return delay
  }

  /** Immediately, unless every kernel asks for it as soon as it runs. */
  #restartDelay(upMs: number): number {
    this.#quickRestarts = upMs < this.#timings.goodMs ? this.#quickRestarts + 1 : 0
    return this.#quickRestarts < 4 ? 0 : (this.#timings.delays[this.#quickRestarts - 4] ?? this.#timings.delays.at(-1) ?? 0)
  }

  /** Ids of the extensions that the next kernel will not load, and this one did. */
  #quarantine(end: KernelEnd): readonly string[] {
    const { folder, clock } = this.#options
    const state = readSupervisorState(folder)
    const isKnown = ({ id, hash }: Quarantined): boolean => state.quarantined.some((entry) => entry.id === id && entry.hash === hash)
    const found = quarantineAfterCrash(state, { ...readCrashFiles(folder), end, now: clock.now() }).filter((entry) => !isKnown(entry))
    const ids = found.map(({ id }) => id)
    const quarantined = [...state.quarantined.filter(({ id }) => !ids.includes(id)), ...found]
    return found.length > 0 && this.#write({ ...state, quarantined }) ? ids : []
  }

  #recordGood(): void {
    const { loaded = [] } = readCrashFiles(this.#options.folder)
    const lastGood = Object.fromEntries(loaded.map(({ id, hash }) => [id, hash]))
    this.#write({ ...readSupervisorState(this.#options.folder), lastGood })
  }

  /** Whether it was written. */
  #write(state: SupervisorState): boolean {
    try {
      writeSupervisorState(this.#options.folder, state)
      return true
    } catch (error) {
      this.#options.report(`The state of the supervisor cannot be written: ${messageOf(error)}`)
      return false
    }
  }

  #wait(ms: number, signal: AbortSignal): Promise<void> {
    if (ms === 0 || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const done = (): void => {
        cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const cancel = this.#options.clock.after(ms, done)
      signal.addEventListener('abort', done)
    })
  }
}
