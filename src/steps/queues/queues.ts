import type { Clock, Tool } from '../../contracts/index.ts'
import { offeredName } from '../../policy/tool-name-patterns.ts'
import { Queue, type QueueLimits } from './queue.ts'
import { type QueuedSlots, QueueSlots, type WaitingLines } from './queue-slot.ts'

type NamedLimits = { readonly [name: string]: QueueLimits }

const noQueues: readonly Queue<QueuedSlots>[] = []

/**
 * The named queues of a runtime, shared by all its trees. A queue limits what has its name: a provider, a tool, or the
 * namespace of a tool.
 *
 * 1. Slots of several queues are taken all together or not at all: no deadlocks.
 * 2. First come, first served. An entry that waits for another queue is passed, and keeps its place.
 */
export class Queues implements WaitingLines {
  readonly #byName: ReadonlyMap<string, Queue<QueuedSlots>>
  readonly #byTool = new WeakMap<Tool, readonly Queue<QueuedSlots>[]>()
  /** Queues whose waiting lines must be checked again. */
  readonly #stale = new Map<Queue<QueuedSlots>, 'freed' | 'shared'>()
  #tickets = 0
  #isWaking = false

  /** `usedByCalls`: names of tools, namespaces and sources that are known now. */
  constructor(limits: NamedLimits, { clock, usedByCalls }: { readonly clock: Clock; readonly usedByCalls: ReadonlySet<string> }) {
    this.#byName = new Map(
      Object.entries(limits).map(([name, limit]) => [
        name,
        new Queue(limit, { name, clock, usedBy: usedByCalls.has(name) ? 'calls' : 'models' }),
      ]),
    )
  }

  /** For one attempt; `undefined` if the provider has no queue. */
  forModel(id: string, above?: QueueSlots): QueueSlots | undefined {
    const queue = this.#byName.get(id.split('/', 1)[0] ?? id)
    return queue && new QueueSlots(this, [queue], above)
  }

  /** For one call; `undefined` if neither it nor any call above it has a queue. */
  forCall(tool: Tool, above?: QueueSlots): QueueSlots | undefined {
    const queues = this.#byTool.get(tool) ?? this.#find(tool)
    return queues.length > 0 || above ? new QueueSlots(this, queues, above) : undefined
  }

  #find(tool: Tool): readonly Queue<QueuedSlots>[] {
    const found = queueNames(tool).flatMap((name) => this.#byName.get(name) ?? [])
    this.#byTool.set(tool, found.length > 0 ? found : noQueues)
    return found
  }

  join(slots: QueueSlots, queue: Queue<QueuedSlots>, { settle, tell }: Pick<QueuedSlots, 'settle' | 'tell'>): QueuedSlots {
    const waiting: QueuedSlots = { ticket: ++this.#tickets, slots, queue, settle, tell }
    tell?.(queue.name)
    queue.join(waiting)
    this.#wakeLater(queue)
    return waiting
  }

  markChanged(queue: Queue<QueuedSlots>, why: 'freed' | 'shared'): void {
    if (queue.line.length > 0 && this.#stale.get(queue) !== 'shared') this.#stale.set(queue, why)
  }

  /** A loop, not recursion: an entry that is woken may wake others. */
  wakeReady(): void {
    if (this.#isWaking) return
    this.#isWaking = true
    for (const [queue, why] of this.#stale) {
      this.#stale.delete(queue)
      this.#lookThrough(queue, why)
      this.#wakeLater(queue)
    }
    this.#isWaking = false
  }

  #lookThrough(queue: Queue<QueuedSlots>, why: 'freed' | 'shared'): void {
    for (const waiting of queue.line) {
      if (why === 'freed' && !queue.hasFreeSlot) return
      const full = waiting.slots.findFullQueue()
      if (full === queue) continue
      queue.remove(waiting)
      if (full) {
        waiting.queue = full
        waiting.tell?.(full.name)
        full.join(waiting)
        this.#wakeLater(full)
      } else waiting.settle(true)
    }
  }

  #wakeLater(queue: Queue<QueuedSlots>): void {
    queue.scheduleWake(() => {
      this.markChanged(queue, 'freed')
      this.wakeReady()
    })
  }
}

/** The names of queues that limit a tool. */
export const queueNames = (tool: Tool): readonly string[] => [
  ...new Set([offeredName(tool.name), tool.name, ...[tool.namespace, tool.queue].filter((name) => name !== undefined)]),
]
