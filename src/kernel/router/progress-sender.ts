import type { Clock, MaybePromise, TurnProgress } from '../../contracts/index.ts'
import { withinTime } from '../shared/background-work.ts'
import { deadlineMs } from './deliver-to-channel.ts'

const betweenMs = 1_000
/** Turns whose last state waits for a slow channel. */
const mostEnded = 20

interface SenderOptions {
  readonly clock: Clock
  /** Aborted when the channel is removed. */
  readonly signal: AbortSignal
  /** The state of the turn that runs, or ran last. */
  current(): TurnProgress | undefined
  show(progress: TurnProgress): MaybePromise<void>
}

/**
 * 1. One state is shown at a time, and at most one a second. The last state of a turn follows immediately.
 * 2. A state that changes before it is shown is skipped. One that the channel does not take is not repeated.
 */
export class ProgressSender {
  readonly #options: SenderOptions
  #ended: { readonly progress: TurnProgress; readonly taken?: () => Promise<void> }[] = []
  #hasChanged = false
  #isShowing = false
  #isClosed = false
  #shownAt = Number.NEGATIVE_INFINITY
  #shown: { readonly progress: TurnProgress; readonly json: string } | undefined
  #cancel: (() => void) | undefined

  constructor(options: SenderOptions) {
    this.#options = options
  }

  changed(): void {
    this.#hasChanged = true
    this.#next()
  }

  /** @param taken Called when the channel has taken it. */
  ended(progress: TurnProgress, taken?: () => Promise<void>): void {
    this.#hasChanged = false
    this.#ended = [...this.#ended, { progress, ...(taken && { taken }) }].slice(-mostEnded)
    this.#next()
  }

  /** The turn that was shown last gets no other end. */
  stop(): void {
    const { progress } = this.#shown ?? {}
    if (!progress || this.#ended.some((each) => each.progress.id === progress.id)) return
    if (progress.state === 'working' || progress.state === 'waiting') this.ended(stopped(progress))
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  #next(): void {
    const { clock, signal } = this.#options
    if (this.#isShowing || this.#isClosed || signal.aborted) return
    const isEnd = this.#ended.length > 0
    if (!isEnd && !this.#hasChanged) return
    const waitMs = isEnd ? 0 : this.#shownAt + betweenMs - clock.monotonic()
    if (waitMs > 0) {
      this.#cancel ??= clock.after(waitMs, () => {
        this.#cancel = undefined
        this.#next()
      })
      return
    }
    this.#cancel?.()
    this.#cancel = undefined
    void this.#show()
  }

  async #show(): Promise<void> {
    const { clock, signal, current, show } = this.#options
    const ended = this.#ended.shift()
    if (!ended) this.#hasChanged = false
    const progress = ended?.progress ?? current()
    const json = JSON.stringify(progress)
    if (progress && json !== this.#shown?.json) {
      this.#isShowing = true
      this.#shownAt = clock.monotonic()
      this.#shown = { progress, json }
      await withinTime(() => show(progress), { clock, signal, ms: deadlineMs })
        .then(() => ended?.taken?.())
        .catch(() => {})
      this.#isShowing = false
    }
    this.#next()
  }
}

const stopped = ({ tasks, ...turn }: TurnProgress): TurnProgress => ({
  ...turn,
  state: 'stopped',
  tasks: tasks.map((task) => (['pending', 'running', 'waiting'].includes(task.state) ? { ...task, state: 'stopped' as const } : task)),
})
