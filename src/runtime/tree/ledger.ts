import {
  type AppendBatch,
  type InteractionEvent,
  type Journal,
  type LiveEvent,
  type MaybePromise,
  type OpenRequests,
  type StreamEvent,
  type TreeId,
  type TreeIdentity,
  type TreeSummary,
  TroupeError,
} from '../../contracts/index.ts'
import type { EventWriter } from '../../core/index.ts'
import { keepHiddenClass } from '../../util/keep-hidden-class.ts'

export interface LedgerOptions {
  readonly journal: Pick<Journal, 'append'>
  readonly treeId: TreeId
  readonly epoch: number
  /** The last `seq` in the journal. */
  readonly seq: number
  now(): number
  at(moment: number): number
  /** What the index is to say from the next batch on, if that has changed. */
  summary(): TreeSummary | undefined
  /** What the index is to say of a new tree. */
  readonly identity?: TreeIdentity
  readonly requests: OpenRequests
  publish(event: StreamEvent): void
}

/**
 * The only writer of a tree: numbers events, hands them to the journal, and publishes them once they are durable.
 *
 * 1. Events are numbered without a gap, in the order of the calls.
 * 2. Nothing durable is published before it is durable, and publishing keeps the order of recording; live events
 *    keep their place among the durable ones.
 * 3. `flush` hands over everything recorded so far as one batch; batches reach the journal in order.
 * 4. After a refusal or a failure nothing more is written: every later `flush` throws the same error.
 */
export class Ledger implements EventWriter {
  readonly #options: LedgerOptions
  #seq: number
  #handedOver: number
  /** Recorded, not yet handed over; live events among them stay where they happened. */
  #pending: StreamEvent[] = []
  #hasLive = false
  /** Handed over, not yet durable. */
  readonly #inFlight: StreamEvent[][] = []
  #writing: Promise<void> | undefined
  #broken: unknown

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#seq = options.seq
    this.#handedOver = options.seq
  }

  get nextSeq(): number {
    return this.#seq + 1
  }

  get now(): number {
    return this.#options.now()
  }

  at(moment: number): number {
    return this.#options.at(moment)
  }

  push(event: InteractionEvent): void {
    if (event.seq !== this.#seq + 1) throw new TroupeError('internal', `Event ${event.seq} was to be recorded as number ${this.#seq + 1}.`)
    this.#seq = event.seq
    this.#pending.push(event)
    this.#options.requests.note(event)
  }

  live(event: LiveEvent): void {
    if (this.#pending.length > 0) {
      this.#pending.push(event)
      this.#hasLive = true
      return
    }
    const last = this.#inFlight.at(-1)
    if (last) last.push(event)
    else this.#options.publish(event)
  }

  /** Hands over what was recorded; resolves when it and all before it is durable. Costs nothing when nothing is open. */
  flush(): MaybePromise<void> {
    if (this.#broken !== undefined) throw this.#broken
    if (this.#pending.length > 0) this.#handOver()
    return this.#writing
  }

  /**
   * The last flush of a tree that is released. A call whose intent was not handed over has not begun: its intent is left out with
   * all that follows, as after a crash, so that it is not taken for unknown later. Results are never left out.
   */
  flushBegun(): MaybePromise<void> {
    const results = this.#pending.findLastIndex(isCallResult) + 1
    const unbegun = this.#pending.findIndex((event, index) => index >= results && isCallIntent(event))
    if (unbegun >= 0) this.#seq -= this.#pending.splice(unbegun).filter(isDurable).length
    return this.flush()
  }

  #handOver(): void {
    const shown = this.#pending
    const answer = this.#append(shown)
    this.#pending = []
    this.#hasLive = false
    this.#handedOver = this.#seq
    if (!this.#writing && !(answer instanceof Promise)) {
      this.#settle(answer, shown)
      return
    }
    // The journal may keep what it was given; what live events are added to meanwhile is a copy.
    const waiting = shown.slice()
    this.#inFlight.push(waiting)
    this.#writing = this.#write(answer, waiting)
    // Whoever awaits `flush` sees the failure; an unawaited hand-over must not end the process.
    this.#writing.catch(() => {})
  }

  #append(shown: readonly StreamEvent[]): ReturnType<Journal['append']> {
    try {
      const batch = this.#batch(shown)
      const answer = this.#options.journal.append(batch)
      if (shown.length < 8) keepHiddenClass('batch', batch)
      // It is awaited behind the one before; where that fails, nobody gets to this one.
      if (answer instanceof Promise) answer.catch(() => {})
      return answer
    } catch (error) {
      this.#broken ??= error
      throw error
    }
  }

  #batch(shown: readonly StreamEvent[]): AppendBatch {
    const { treeId, epoch } = this.#options
    const events = this.#hasLive ? shown.filter(isDurable) : (shown as readonly InteractionEvent[])
    const batch = { treeId, expectedSeq: this.#handedOver, epoch, events }
    const summary = this.#options.summary()
    if (!summary) return batch
    const { identity } = this.#options
    return identity && batch.expectedSeq === 0 ? { ...batch, summary, identity } : { ...batch, summary }
  }

  async #write(answer: ReturnType<Journal['append']>, shown: readonly StreamEvent[]): Promise<void> {
    const before = this.#writing
    try {
      await before
      this.#settle(await answer, shown)
    } catch (error) {
      this.#broken ??= error
      throw this.#broken
    }
    this.#inFlight.shift()
    if (this.#inFlight.length === 0) this.#writing = undefined
  }

  #settle(answer: Awaited<ReturnType<Journal['append']>>, shown: readonly StreamEvent[]): void {
    if (!answer.ok) {
      this.#broken ??= refused(this.#options.treeId, answer.refusal)
      throw this.#broken
    }
    for (const event of shown) this.#options.publish(event)
  }
}

const isCallResult = (event: StreamEvent): boolean => event.type === 'interaction.item.completed' && event.item.kind === 'call'

function isCallIntent(event: StreamEvent): boolean {
  if (event.type === 'interaction.item.updated') return event.update.kind === 'attempt'
  return event.type === 'interaction.item.started' && event.item.kind === 'call'
}

const isDurable = (event: StreamEvent): event is InteractionEvent => 'seq' in event

function refused(treeId: TreeId, refusal: 'epoch' | 'seq' | 'missing' | 'key'): TroupeError {
  if (refusal === 'missing') return new TroupeError('tree_unknown', `The store does not know session ${treeId}.`)
  if (refusal === 'key')
    return new TroupeError('usage', `Another session has the key of session ${treeId}.`, { remedy: 'Continue that one.' })
  return new TroupeError('tree_moved', `Another process has taken over session ${treeId}; this one wrote nothing more.`, {
    remedy: 'Open the session again to follow it.',
  })
}
