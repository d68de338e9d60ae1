// 1. At most one kernel process runs at a time: the next one is started when the last one has ended.
// 2. A crash either changes what the next kernel loads, or it delays the next start. So a loop of crashes always ends, and so does one of
//    restarts: extensions can request a few in some minutes.
// 3. The state is read again for every decision: a command may have changed it.
import type { Clock } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { changedExtensions, endText, isKilled, type KernelEnd, quarantineAfterCrash } from './after-crash.ts'
import { type CrashFiles, clearCrashFiles, readCrashFiles } from './crash-files.ts'
import { lockFolder } from './folder-lock.ts'
import { type KernelCommand, KernelProcess, type KernelTimings } from './kernel-process.ts'
import type { KernelMessage } from './messages.ts'
import { StartTrial } from './start-trial.ts'
import { type Quarantined, readSupervisorState, type SupervisorState, writeSupervisorState } from './supervisor-state.ts'

interface SupervisorTimings extends KernelTimings {
  /** Before the next start, by the number of crashes in a row. One more crash ends the supervisor. */
  readonly delays: readonly number[]
  /** After this time, crashes are counted from zero. */
  readonly healthyMs: number
  /** After this time, the loaded extensions are the last good set. */
  readonly goodMs: number
  /** Extensions can request `maxRestarts` restarts in this time. */
  readonly restartsMs: number
}

const defaultTimings: SupervisorTimings = {
  beatMs: 500,
  blockedMs: 5_000,
  startMs: 60_000,
  stopMs: 10_000,
  delays: [200, 1_000, 5_000, 30_000],
  healthyMs: 60_000,
  goodMs: 30_000,
  restartsMs: 300_000,
}
const maxRestarts = 5
/** Of a failure that Troupe did not expect. All others have a cause that another start does not change, such as the configuration. */
const failureCode = 1

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
  /** `changed`: extensions that are new or changed since the kernel last ran well. */
  | { readonly kind: 'gave_up'; readonly crashes: number; readonly last: string; readonly changed: readonly string[] }

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
  /** When extensions requested restarts. */
  #requests: readonly number[] = []
  /** The extension whose code ran when the last kernel was killed. */
  #killedIn: string | undefined
  #trial: StartTrial | undefined
  /** The kernel breaks without the changed extensions, too. */
  #areChangedInnocent = false
  #reloads: ((isReady: boolean) => void)[] = []
  #cancelGood: () => void = () => undefined

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#timings = { ...defaultTimings, ...options.timings }
  }

  /** Runs until the kernel asks for a shutdown, the signal aborts, or it has to give up. */
  async run(signal: AbortSignal): Promise<SupervisorEnd> {
    const unlock = await lockFolder(this.#options.folder, () => this.#reload())
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
      this.#endReloads(false)
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
      ...{ held: this.#trial?.held ?? [], refusesRestartsMs: this.#refusesRestartsMs() },
      onMessage: (message) => this.#hear(message),
    })
    this.#isFirst = false
    const end = await this.#kernel.ended
    this.#kernel = undefined
    this.#cancelGood()
    return end
  }

  #hear(message: KernelMessage): void {
    const now = this.#options.clock.monotonic()
    if (message.type === 'restart' && !message.isForced && this.#stop === undefined) this.#requests = [...this.#requests, now]
    if (message.type === 'restart' || message.type === 'shutdown') this.#askToStop(message.type, message.reason)
    if (message.type !== 'ready') return
    this.#readyAt = now
    this.#wasReady = true
    this.#areChangedInnocent = false
    this.#cancelGood = this.#options.clock.after(this.#timings.goodMs, () => this.#recordGood())
    const next = this.#trial?.addNext()
    if (next === undefined) this.#endTrial()
    else this.#askToStop('restart', `adding ${next} again.`)
  }

  #endTrial(): void {
    this.#trial = undefined
    this.#endReloads(true)
  }

  /** Resolves when a new kernel is ready. `false`: there is none. */
  #reload(): Promise<boolean> {
    if (this.#stop === 'shutdown') return Promise.resolve(false)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    // The next kernel answers, not one that is just starting.
    void this.#kernel?.ended.then(() => this.#reloads.push(resolve))
    if (!this.#kernel) this.#reloads.push(resolve)
    this.#askToStop('restart', 'the extensions are loaded again.')
    return promise
  }

  #endReloads(isReady: boolean): void {
    for (const end of this.#reloads.splice(0)) end(isReady)
  }

  #refusesRestartsMs(): number {
    const { restartsMs } = this.#timings
    const now = this.#options.clock.monotonic()
    this.#requests = this.#requests.filter((at) => now - at < restartsMs)
    const oldest = this.#requests.at(-maxRestarts)
    return oldest === undefined ? 0 : restartsMs - (now - oldest)
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
    if (upMs >= this.#timings.healthyMs) [this.#crashes, this.#killedIn] = [0, undefined]
    // An extension that ends the process while it is stopped.
    if (this.#stop && crash.fault?.extension !== undefined) this.#quarantineSuspect(end, crash)
    else if (this.#stop && this.#readyAt !== undefined && end.signal === null) this.#recordGood()
    if (this.#stop === 'shutdown') return { kind: 'stopped' }
    if (this.#stop === 'restart') return 0
    return this.#afterCrash(end, crash)
  }

  #afterCrash(end: KernelEnd, crash: CrashFiles): number | SupervisorEnd {
    // It has reported what is wrong.
    const refused = !this.#wasReady && !crash.fault && end.code ? ({ kind: 'refused', code: end.code } as const) : undefined
    if (refused && refused.code !== failureCode) return refused
    const last = crash.fault?.reason ?? (end.isBlocked ? 'its event loop was blocked' : endText(end))
    const changed = changedExtensions(readSupervisorState(this.#options.folder), crash).map(({ id }) => id)
    const suspect = this.#quarantineSuspect(end, crash)
    if (suspect !== undefined) {
      this.#options.report(`The kernel has crashed: ${last}. Restarting without ${suspect}.`)
      return 0
    }
    if (this.#readyAt === undefined && this.#tryStart(end, { crash, last })) return 0
    if (refused && (changed.length === 0 || this.#areChangedInnocent)) return refused
    this.#killedIn = isKilled(end) ? crash.active?.extension : undefined
    const delay = this.#timings.delays[this.#crashes++]
    if (delay === undefined) return { kind: 'gave_up', crashes: this.#crashes, last, changed }
    this.#options.report(`The kernel has crashed: ${last}. Restarting in ${delay / 1000} s.`)
    return delay
  }

  /** Whether the next start shows more, or has changed: see `StartTrial`. It begins after the second crash before the kernel was ready. */
  #tryStart(end: KernelEnd, { crash, last }: { readonly crash: CrashFiles; readonly last: string }): boolean {
    const { folder, clock, report } = this.#options
    if (this.#trial) {
      if (this.#trial.repeats(end)) {
        report(`The kernel was killed before it was ready: ${last}. Repeating this start.`)
        return true
      }
      const culprit = this.#trial.culprit(end, clock.now())
      if (culprit && this.#quarantine(culprit)) {
        report(`The kernel has crashed: ${last}. It starts without ${culprit.id}. Restarting without ${culprit.id}.`)
        if (this.#trial.addNext() === undefined) this.#trial = undefined
        return true
      }
      this.#trial = undefined
      this.#areChangedInnocent = true
      return false
    }
    const changed = changedExtensions(readSupervisorState(folder), crash)
    if (this.#crashes === 0 || this.#areChangedInnocent || changed.length === 0) return false
    this.#trial = new StartTrial(changed)
    report(`The kernel has crashed before it was ready: ${last}. Restarting without ${this.#trial.held.join(', ')}, to find the cause.`)
    return true
  }

  /** Its id, if the next kernel will not load it, and this one did. */
  #quarantineSuspect(end: KernelEnd, crash: CrashFiles): string | undefined {
    const { folder, clock } = this.#options
    const suspect = quarantineAfterCrash(readSupervisorState(folder), { ...crash, end, now: clock.now(), killedIn: this.#killedIn })
    return suspect && this.#quarantine(suspect) ? suspect.id : undefined
  }

  /** Whether that is new, and was written. */
  #quarantine(found: Quarantined): boolean {
    const state = readSupervisorState(this.#options.folder)
    if (state.quarantined.some(({ id, hash }) => id === found.id && hash === found.hash)) return false
    const quarantined = [...state.quarantined.filter(({ id }) => id !== found.id), found]
    return this.#write({ ...state, quarantined })
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
