import type { Clock } from '../contracts/index.ts'
import { Interrupt } from '../util/interrupt.ts'
import { Queue, type QueueLimits } from './queue.ts'
import type { OfferedTool } from './tool-registry.ts'

/** What one hold has of one queue: a slot, for as long as somebody uses it. */
interface Slot {
  readonly queue: Queue<InLine>
  users: number
}

interface InLine {
  readonly ticket: number
  readonly hold: Hold
  /** Where it waits: a queue that has no room for it. */
  queue: Queue<InLine>
  settle(isIn: boolean): void
}

type NamedLimits = { readonly [name: string]: QueueLimits }

const noQueues: readonly Queue<InLine>[] = []

/**
 * The named queues of a runtime, shared by all its trees. A queue caps whatever bears its name: a provider, a tool as
 * written or as offered, the namespace of a tool.
 *
 * 1. Whoever needs several slots takes all of them at once or none, so nobody waits for one with another in hand.
 * 2. First come, first served. One that lacks another queue is passed meanwhile, and keeps its place.
 */
export class Queues {
  readonly #byName: ReadonlyMap<string, Queue<InLine>>
  readonly #byTool = new Map<string, readonly Queue<InLine>[]>()
  /** Queues whose lines are to be looked through: something was given back, or somebody in line may lack less. */
  readonly #stale = new Map<Queue<InLine>, 'freed' | 'shared'>()
  #tickets = 0
  #isAdmitting = false

  constructor(limits: NamedLimits, { clock, tools }: { readonly clock: Clock; readonly tools: readonly OfferedTool[] }) {
    const bearers = tools.map((each) => [each.name, namesOf(each)] as const)
    const calls = new Set(bearers.flatMap(([, names]) => [...names]))
    this.#byName = new Map(Object.entries(limits).map(([name, limit]) => [name, new Queue(limit, clock, calls.has(name))]))
    for (const [tool, names] of bearers) {
      const found = [...names].flatMap((name) => this.#byName.get(name) ?? [])
      if (found.length > 0) this.#byTool.set(tool, found)
    }
  }

  /** For one attempt; nothing where the provider is not capped. */
  forModel(id: string, above?: Hold): Hold | undefined {
    const queue = this.#byName.get(id.split('/', 1)[0] ?? id)
    return queue && new Hold(this, [queue], above)
  }

  /** For one call; nothing where neither it nor any call above it is capped. */
  forCall(tool: string, above?: Hold): Hold | undefined {
    const queues = this.#byTool.get(tool)
    return queues || above ? new Hold(this, queues ?? noQueues, above) : undefined
  }

  join(hold: Hold, queue: Queue<InLine>, settle: InLine['settle']): InLine {
    const waiting: InLine = { ticket: ++this.#tickets, hold, queue, settle }
    queue.join(waiting)
    this.#wakeLater(queue)
    return waiting
  }

  /** Others may lack less (`shared`) or find room (`freed`). */
  look(queue: Queue<InLine>, why: 'freed' | 'shared'): void {
    if (queue.line.length > 0 && this.#stale.get(queue) !== 'shared') this.#stale.set(queue, why)
  }

  /** One loop, not one call within the other: whoever is let in may let in others. */
  admit(): void {
    if (this.#isAdmitting) return
    this.#isAdmitting = true
    for (const [queue, why] of this.#stale) {
      this.#stale.delete(queue)
      this.#lookThrough(queue, why)
      this.#wakeLater(queue)
    }
    this.#isAdmitting = false
  }

  #lookThrough(queue: Queue<InLine>, why: 'freed' | 'shared'): void {
    for (const waiting of queue.line) {
      if (why === 'freed' && !queue.hasFreeSlot) return
      const lacking = waiting.hold.lacking()
      if (lacking === queue) continue
      queue.quit(waiting)
      if (lacking) {
        waiting.queue = lacking
        lacking.join(waiting)
        this.#wakeLater(lacking)
      } else waiting.settle(true)
    }
  }

  #wakeLater(queue: Queue<InLine>): void {
    queue.wakeLater(() => {
      this.look(queue, 'freed')
      this.admit()
    })
  }
}

/**
 * The slots of one call or one attempt.
 *
 * 1. A call that starts a child shares its hold with the child's session: whichever of the two is at work is in.
 * 2. What works below a call uses the slots of that call, too, other than those of queues that it has slots of its own
 *    of. So a slot is taken as long as something works under it, and one path takes one slot of each queue.
 * 3. Who is not in holds nothing, unless something below is.
 */
export class Hold {
  readonly #queues: Queues
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
  #inLine: InLine | undefined
  #entering: Promise<boolean> | undefined

  constructor(queues: Queues, own: readonly Queue<InLine>[], above?: Hold) {
    this.#queues = queues
    this.#own = own.map((queue) => ({ queue, users: 0 }))
    const further = above ? above.#path.filter(({ queue }) => !own.includes(queue)) : []
    this.#path = further.length > 0 ? [...this.#own, ...further] : this.#own
    this.isNested = above !== undefined && further.length < above.#path.length
    this.isForCalls = own.some((queue) => queue.isForCalls)
  }

  get isIn(): boolean {
    return this.#isIn
  }

  /** A queue that has no room for it now. */
  lacking(): Queue<InLine> | undefined {
    for (const slot of this.#path) if (slot.users === 0 && !slot.queue.hasRoom(this.#isStart(slot))) return slot.queue
    return undefined
  }

  /** Goes in where nobody is before it. */
  tryEnter(): boolean {
    if (this.#isIn || this.#isClosed) return true
    if (this.#firstLine() ?? this.lacking()) return false
    this.#takeAll()
    this.#queues.admit()
    return true
  }

  /** Waits in line. `false`: it was interrupted there, or closed. */
  enter(interrupt: Interrupt): Promise<boolean> {
    if (this.tryEnter()) return Promise.resolve(true)
    if (interrupt.reason !== undefined) return Promise.resolve(false)
    this.#entering ??= this.#waitInLine(interrupt)
    return this.#entering
  }

  /** Gives back what nobody below uses. */
  leave(): void {
    if (!this.#isIn) return
    this.#isIn = false
    for (const slot of this.#path) {
      slot.users--
      if (slot.users > 0) continue
      slot.queue.giveBack()
      this.#queues.look(slot.queue, 'freed')
    }
    this.#queues.admit()
  }

  /** For good. */
  close(): void {
    this.#isClosed = true
    this.#inLine?.settle(false)
    this.leave()
  }

  #waitInLine(interrupt: Interrupt): Promise<boolean> {
    const waiting = new Interrupt(interrupt)
    return new Promise((resolve) => {
      const settle = (isIn: boolean): void => {
        const inLine = this.#inLine
        if (!inLine) return
        this.#inLine = undefined
        this.#entering = undefined
        waiting.close()
        if (isIn) this.#takeAll()
        else inLine.queue.quit(inLine)
        resolve(isIn)
      }
      const queue = this.#firstLine() ?? this.lacking()
      if (!queue) return resolve(this.tryEnter())
      this.#inLine = this.#queues.join(this, queue, settle)
      waiting.listen(() => settle(false))
    })
  }

  #takeAll(): void {
    for (const slot of this.#path) {
      if (slot.users === 0) {
        slot.queue.take(this.#isStart(slot))
        this.#queues.look(slot.queue, 'shared')
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
  #firstLine(): Queue<InLine> | undefined {
    return this.#hasStarted ? undefined : this.#own.find(({ queue }) => queue.line.length > 0)?.queue
  }
}

const namesOf = ({ tool, name }: OfferedTool): ReadonlySet<string> =>
  new Set([name, tool.name, ...(tool.namespace === undefined ? [] : [tool.namespace])])
