import type { TurnProgress } from 'troupe/extension'
import { pause } from '../pause.ts'
import type { Content } from '../platform.ts'
import { TooFast } from './paced-platform.ts'
import { isEnded } from './turn-progress.ts'

/** A turn without calls is shown when it takes this long, so that it can be stopped. */
const patienceMs = 2_000
const retryMs = 2_000
/** In a row. */
const mostAttempts = 5

interface ProgressOptions {
  /** Between two states of one turn. */
  readonly pauseMs: number
  now(): number
  contentOf(thread: string, progress: TurnProgress): Content
  /** In the order of the thread. */
  show(thread: string, id: string, content: Content): Promise<void>
  /** Whether the turn has a message of an earlier process. */
  isPosted(thread: string, id: string): boolean
  report(error: unknown): void
}

interface Turn {
  readonly id: string
  readonly since: number
  /** The latest state, until it has ended. */
  progress: TurnProgress | undefined
  isShown: boolean
}

/** One message for each turn, with the latest state. What comes while one is being shown replaces what waits. */
export class ProgressMessages {
  readonly #options: ProgressOptions
  readonly #turns = new Map<string, Turn>()
  readonly #waiting = new Map<string, TurnProgress>()
  readonly #busy = new Map<string, Promise<void>>()
  readonly #closed = new AbortController()

  constructor(options: ProgressOptions) {
    this.#options = options
  }

  /** Whether the current turn has a message of its own. */
  isShown(thread: string): boolean {
    return this.#turns.get(thread)?.isShown ?? false
  }

  /** A person has written: a turn may begin. */
  begin(thread: string): void {
    this.#turns.delete(thread)
  }

  /** Resolves when the last state was shown, or given up. */
  async show(thread: string, progress: TurnProgress): Promise<void> {
    const known = this.#turns.get(thread)
    const turn = known?.id === progress.id ? known : { id: progress.id, since: this.#options.now(), progress, isShown: false }
    turn.progress = isEnded(progress) ? undefined : progress
    this.#turns.set(thread, turn)
    const isLong = !isEnded(progress) && this.#options.now() - turn.since >= patienceMs
    turn.isShown ||= progress.tasks.length > 0 || isLong || (turn !== known && this.#options.isPosted(thread, idOf(progress)))
    if (turn !== known && !turn.isShown) void this.#showLater(thread, turn)
    if (!turn.isShown) return
    this.#waiting.set(thread, progress)
    const work = this.#busy.get(thread) ?? this.#work(thread)
    this.#busy.set(thread, work)
    if (isEnded(progress)) await work
  }

  /** While an agent only writes, no other state may follow. */
  async #showLater(thread: string, turn: Turn): Promise<void> {
    await pause(patienceMs, this.#closed.signal)
    if (this.#turns.get(thread) === turn && !turn.isShown && turn.progress) await this.show(thread, turn.progress)
  }

  /** Shows nothing more. */
  close(): void {
    this.#closed.abort()
  }

  async #work(thread: string): Promise<void> {
    const { contentOf, pauseMs, show, report } = this.#options
    const { signal } = this.#closed
    let failures = 0
    for (let progress = this.#waiting.get(thread); progress && !signal.aborted; progress = this.#waiting.get(thread)) {
      this.#waiting.delete(thread)
      try {
        await show(thread, idOf(progress), contentOf(thread, progress))
        failures = 0
        if (!isEnded(progress)) await pause(pauseMs, signal)
      } catch (error) {
        failures++
        if (!(error instanceof TooFast)) report(error)
        if (failures < mostAttempts && !this.#waiting.has(thread)) this.#waiting.set(thread, progress)
        await pause(error instanceof TooFast ? error.waitMs : retryMs, signal)
      }
    }
    this.#busy.delete(thread)
  }
}

const idOf = ({ id }: TurnProgress): string => `progress:${id}`
