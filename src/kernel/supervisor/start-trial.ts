// Finds an extension that breaks the kernel before it is ready, and leaves no evidence.
//
// 1. The kernel starts without the changed extensions. If it is not ready then either, none of them is the cause.
// 2. They are added back in the order in which they were loaded, one in each start. The one that breaks the start is the cause.
//
// Anybody can kill a process: a start that was killed is repeated once.
import { endText, isKilled, type KernelEnd, type LoadedExtension } from './after-crash.ts'
import type { Quarantined } from './supervisor-state.ts'

export class StartTrial {
  #held: readonly LoadedExtension[]
  #added: LoadedExtension | undefined
  #isRepeated = false

  constructor(changed: readonly LoadedExtension[]) {
    this.#held = changed
  }

  /** Ids of those that the next kernel must not load. */
  get held(): readonly string[] {
    return this.#held.map(({ id }) => id)
  }

  /** The kernel was ready. Returns the id of the next extension, or `undefined` at the end. */
  addNext(): string | undefined {
    const [next, ...held] = this.#held
    this.#added = next
    this.#held = held
    this.#isRepeated = false
    return next?.id
  }

  /** Whether the next start is the same again, because this kernel was killed. */
  repeats(end: KernelEnd): boolean {
    if (this.#isRepeated || !isKilled(end)) return false
    this.#isRepeated = true
    return true
  }

  /** The kernel has ended before it was ready, without evidence. */
  culprit(end: KernelEnd, now: number): Quarantined | undefined {
    const added = this.#added
    if (!added) return undefined
    const reason = `the kernel ended with ${endText(end)} before it was ready, and starts without this extension`
    return { id: added.id, hash: added.hash, reason, stage: 'start', at: now }
  }
}
