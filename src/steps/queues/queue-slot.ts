import { Interrupt } from '../../util/interrupt.ts'
import type { Queue } from './queue.ts'

/** What one hold has of one queue: a slot, for as long as somebody uses it. */
interface Slot {
  readonly queue: Queue<QueuedSlots>
  users: number
}

/** A hold that waits. */
export interface QueuedSlots {
  readonly ticket: number
  readonly slots: QueueSlots
  /** Where it waits: a queue that has no room for it. */
  queue: Queue<QueuedSlots>
  settle(isIn: boolean): void
  readonly tell: ReportQueue | undefined
}

/** Hears the name of the queue that is waited for, and of each other one after it. */
export type ReportQueue = (queue: string) => void

/** What can be waited for in line. `false`: it was interrupted there, or closed. */
export interface WaitTarget {
  enter(interrupt: Interrupt, tell?: ReportQueue): Promise<boolean>
}

/** The lines that holds wait in. */
export interface WaitingLines {
  join(slots: QueueSlots, queue: Queue<QueuedSlots>, waiting: Pick<QueuedSlots, 'settle' | 'tell'>): QueuedSlots
  /** Others may lack less (`shared`) or find room (`freed`). */
  markChanged(queue: Queue<QueuedSlots>, why: 'freed' | 'shared'): void
  /** Lets in whoever lacks nothing any more. */
  admit(): void
}

/**
 * The slots of one call or one attempt.
 *
 * 1. A call that starts a child shares its hold with the child's session: whichever of the two is at work is in.
 * 2. What works below a call uses the slots of that call, too, other than those of queues that it has slots of its own
 *    of. So a slot is taken as long as something works under it, and one path takes one slot of each queue.
 * 3. Who is not in holds nothing, unless something below is.
 */
export class QueueSlots {
  readonly #places: WaitingLines
  readonly #own: readonly Slot[]
  /** Own slots first, then those above that are not covered by nearer ones. */
  readonly #path: readonly Slot[]
  /** It has a slot of a queue that a call above has one of. */
  readonly isNested: boolean
  /** Somebody who has a slot that it needs may be waiting for others. */
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

  /** A queue that has no room for it now. */
  findFullQueue(): Queue<QueuedSlots> | undefined {
    for (const slot of this.#path) if (slot.users === 0 && !slot.queue.hasRoom(this.#isStart(slot))) return slot.queue
    return undefined
  }

  /** Goes in where nobody is before it. */
  tryEnter(): boolean {
    if (this.#isIn || this.#isClosed) return true
    if (this.#firstLine() ?? this.findFullQueue()) return false
    this.#takeAll()
    this.#places.admit()
    return true
  }

  /** Waits in line. `false`: it was interrupted there, or closed. */
  enter(interrupt: Interrupt, tell?: ReportQueue): Promise<boolean> {
    if (this.tryEnter()) return Promise.resolve(true)
    if (interrupt.reason !== undefined) return Promise.resolve(false)
    this.#entering ??= this.#waitInLine(interrupt, tell)
    return this.#entering
  }

  /** Gives back what nobody below uses. */
  leave(): void {
    if (!this.#isIn) return
    this.#isIn = false
    for (const slot of this.#path) {
      slot.users--
      if (slot.users > 0) continue
      slot.queue.release()
      this.#places.markChanged(slot.queue, 'freed')
    }
    this.#places.admit()
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

  /** Where others wait to begin: nobody begins before them, though the minute may be over that they wait for. */
  #firstLine(): Queue<QueuedSlots> | undefined {
    return this.#hasStarted ? undefined : this.#own.find(({ queue }) => queue.line.length > 0)?.queue
  }
}
