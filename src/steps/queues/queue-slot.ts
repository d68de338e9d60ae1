import { Interrupt } from '../../util/interrupt.ts'
import type { Queue } from './queue.ts'

/** A slot of one queue, taken while it has users. */
interface Slot {
  readonly queue: Queue<QueuedSlots>
  users: number
}

export interface QueuedSlots {
  readonly ticket: number
  readonly slots: QueueSlots
  /** The full queue that it waits for. */
  queue: Queue<QueuedSlots>
  settle(isIn: boolean): void
  readonly tell: ReportQueue | undefined
}

/** Called with the name of the queue that is waited for, and again for the next one. */
type ReportQueue = (queue: string) => void

/** `false`: interrupted or closed while it waited. */
export interface WaitTarget {
  enter(interrupt: Interrupt, tell?: ReportQueue): Promise<boolean>
}

export interface WaitingLines {
  join(slots: QueueSlots, queue: Queue<QueuedSlots>, waiting: Pick<QueuedSlots, 'settle' | 'tell'>): QueuedSlots
  /** Waiting entries may need one slot less (`shared`) or find a free one (`freed`). */
  markChanged(queue: Queue<QueuedSlots>, why: 'freed' | 'shared'): void
  /** Wakes the entries that can take all their slots. */
  wakeReady(): void
}

/**
 * The slots of one call or one attempt, in all queues that limit it.
 *
 * 1. A call that starts a child shares its slots with the child's session: whichever of the two works has entered.
 * 2. Work below a call also uses the slots of that call, except in queues where it has slots of its own. So a slot is
 *    taken while something works under it, and one path takes one slot of each queue.
 * 3. Slots that have not entered hold nothing, unless something below them has.
 */
export class QueueSlots {
  readonly #places: WaitingLines
  readonly #own: readonly Slot[]
  /** Own slots first, then those of ancestors in other queues. */
  readonly #path: readonly Slot[]
  /** It shares a queue with an ancestor. */
  readonly isNested: boolean
  /** A holder of a slot that it needs may itself wait for slots. */
  readonly isForCalls: boolean
  #hasStarted = false
  #isIn = false
  #isClosed = false
  #inLine: QueuedSlots | undefined
  #entering: Promise<boolean> | undefined

  constructor(places: WaitingLines, own: readonly Queue<QueuedSlots>[], above?: QueueSlots) {
    this.#places = places
    this.#own = own.map((queue) => ({ queue, users: 0 }))
    const further = above ? above.#path.filter(({ queue }) => !own.includes(queue)) : []
    this.#path = further.length > 0 ? [...this.#own, ...further] : this.#own
    this.isNested = above !== undefined && further.length < above.#path.length
    this.isForCalls = own.some(({ usedBy }) => usedBy === 'calls')
  }

  get isIn(): boolean {
    return this.#isIn
  }

  findFullQueue(): Queue<QueuedSlots> | undefined {
    for (const slot of this.#path) if (slot.users === 0 && !slot.queue.hasRoom(this.#isStart(slot))) return slot.queue
    return undefined
  }

  /** Enters if nothing waits before it. */
  tryEnter(): boolean {
    if (this.#isIn || this.#isClosed) return true
    if (this.#firstLine() ?? this.findFullQueue()) return false
    this.#takeAll()
    this.#places.wakeReady()
    return true
  }

  /** `false`: interrupted or closed while it waited. */
  enter(interrupt: Interrupt, tell?: ReportQueue): Promise<boolean> {
    if (this.tryEnter()) return Promise.resolve(true)
    if (interrupt.reason !== undefined) return Promise.resolve(false)
    this.#entering ??= this.#waitInLine(interrupt, tell)
    return this.#entering
  }

  /** Gives back slots that nothing below uses. */
  leave(): void {
    if (!this.#isIn) return
    this.#isIn = false
    for (const slot of this.#path) {
      slot.users--
      if (slot.users > 0) continue
      slot.queue.release()
      this.#places.markChanged(slot.queue, 'freed')
    }
    this.#places.wakeReady()
  }

  /** For good. */
  close(): void {
    this.#isClosed = true
    this.#inLine?.settle(false)
    this.leave()
  }

  #waitInLine(interrupt: Interrupt, tell: ReportQueue | undefined): Promise<boolean> {
    const waiting = new Interrupt(interrupt)
    return new Promise((resolve) => {
      const settle = (isIn: boolean): void => {
        const inLine = this.#inLine
        if (!inLine) return
        this.#inLine = undefined
        this.#entering = undefined
        waiting.close()
        if (isIn) this.#takeAll()
        else inLine.queue.remove(inLine)
        resolve(isIn)
      }
      const queue = this.#firstLine() ?? this.findFullQueue()
      if (!queue) return resolve(this.tryEnter())
      this.#inLine = this.#places.join(this, queue, { settle, tell })
      waiting.listen(() => settle(false))
    })
  }

  #takeAll(): void {
    for (const slot of this.#path) {
      if (slot.users === 0) {
        slot.queue.take(this.#isStart(slot))
        this.#places.markChanged(slot.queue, 'shared')
      }
      slot.users++
    }
    this.#hasStarted = true
    this.#isIn = true
  }

  #isStart(slot: Slot): boolean {
    return !this.#hasStarted && this.#own.includes(slot)
  }

  /** A queue in which others wait: no new start overtakes them. */
  #firstLine(): Queue<QueuedSlots> | undefined {
    return this.#hasStarted ? undefined : this.#own.find(({ queue }) => queue.line.length > 0)?.queue
  }
}
