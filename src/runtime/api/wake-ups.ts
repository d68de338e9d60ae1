import type { Clock, TreeId } from '../../contracts/index.ts'

/** The machine may sleep, and timers do not see it. */
const maxWaitMs = 60_000

interface WakeUpsOptions {
  clock(): Clock
  wake(treeId: TreeId): void
}

/** Suspended trees that continue at a time, such as when a person has been silent for too long. */
export class WakeUps {
  readonly #options: WakeUpsOptions
  readonly #cancels = new Map<TreeId, () => void>()

  constructor(options: WakeUpsOptions) {
    this.#options = options
  }

  /** Replaces an earlier time. `at`: milliseconds since 1970. */
  set(treeId: TreeId, at: number | undefined): void {
    this.#cancels.get(treeId)?.()
    this.#cancels.delete(treeId)
    if (at === undefined) return
    const clock = this.#options.clock()
    const left = Math.max(0, at - clock.now())
    const fire = (): void => {
      this.#cancels.delete(treeId)
      if (clock.now() < at) this.set(treeId, at)
      else this.#options.wake(treeId)
    }
    this.#cancels.set(treeId, clock.after(Math.min(left, maxWaitMs), fire))
  }
}
