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
  type TurnRecord,
  type UsageCharge,
} from '../../contracts/index.ts'
import type { EventWriter } from '../../core/index.ts'
import { keepHiddenClass } from '../../util/keep-hidden-class.ts'

/** What the owner of a tree is charged. */
interface BatchCharges {
  chargeFor(events: readonly InteractionEvent[]): UsageCharge | undefined
  /** The batch with this charge is durable. */
  stored(charge: UsageCharge): void
}

interface LedgerOptions {
  readonly journal: Pick<Journal, 'append'>
  readonly treeId: TreeId
  readonly epoch: number
  /** The last `seq` in the journal. */
  readonly seq: number
  now(): number
  at(moment: number): number
  /** The index entry from the next batch on, if it has changed. */
  summary(): TreeSummary | undefined
  /** Further fields of the index entry of a new tree. */
  readonly identity?: TreeIdentity
  readonly requests: OpenRequests
  /** Absent if the owner of the tree has no budget. */
  charges?(): BatchCharges | undefined
  publish(event: StreamEvent): void
}

/**
 * The only writer of a tree: numbers events, hands them to the journal, and publishes them once they are durable.
 *
 * 1. Events are numbered without a gap, in the order of the calls.
 * 2. Nothing durable is published before it is durable, and publishing keeps the order of recording; live events
 *    keep their place among the durable ones.
 * 3. `flush` passes everything recorded so far to the journal as one batch, in order.
 * 4. After a refusal or a failure nothing more is written: every later `flush` throws the same error.
 */
export class Ledger implements EventWriter {
  readonly #options: LedgerOptions
  #seq: number
  #handedOver: number
  /** Recorded, not yet passed to the journal, with the live events in between. */
  #pending: StreamEvent[] = []
  #hasLive = false
  /** Records of the turns that end with events that are pending. */
  #turns: TurnRecord[] = []
  /** Passed to the journal, not yet durable. */
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
    if (event.seq !== this.#seq + 1) throw new TroupeError('internal', `Event ${event.seq} does not follow event ${this.#seq}.`)
    this.#seq = event.seq
    this.#pending.push(event)
    this.#options.requests.note(event)
  }

  /** The last event ended a turn. */
  turnEnded(record: TurnRecord): void {
    this.#turns.push(record)
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

  /** Resolves when everything recorded so far is durable. Free if it is already. */
  flush(): MaybePromise<void> {
    if (this.#broken !== undefined) throw this.#broken
    if (this.#pending.length > 0) this.#handOver()
    return this.#writing
  }

  /** Resolves when everything passed to the journal so far is durable. */
  handedOver(): MaybePromise<void> {
    if (this.#broken !== undefined) throw this.#broken
    return this.#writing
  }

  /**
   * The last flush of a released tree. A call whose intent was not passed to the journal has not started: its intent and all that
   * follows is dropped, as in a crash, so that its result does not count as unknown later. Results are never dropped.
   */
  flushBegun(): MaybePromise<void> {
    const results = this.#pending.findLastIndex(isCallResult) + 1
    const unbegun = this.#pending.findIndex((event, index) => index >= results && isCallIntent(event))
    if (unbegun >= 0) this.#seq -= this.#pending.splice(unbegun).filter(isDurable).length
    this.#turns = this.#turns.filter(({ seq }) => seq <= this.#seq)
    return this.flush()
  }

  #handOver(): void {
    const shown = this.#pending
    const batch = this.#batch(shown)
    const { charge } = batch
    const answer = this.#append(batch)
    this.#pending = []
    if (this.#turns.length > 0) this.#turns = []
    this.#hasLive = false
    this.#handedOver = this.#seq
    if (!this.#writing && !(answer instanceof Promise)) {
      this.#settle(answer, shown, charge)
      return
    }
    // A copy, to which live events are added: the journal may keep the batch.
    const waiting = shown.slice()
    this.#inFlight.push(waiting)
    this.#writing = this.#write(answer, waiting, charge)
    // Callers of `flush` see the failure; without one it must not end the process.
    this.#writing.catch(() => {})
  }

  #append(batch: AppendBatch): ReturnType<Journal['append']> {
    try {
      const answer = this.#options.journal.append(batch)
      if (batch.events.length < 8) keepHiddenClass('batch', batch)
      // Awaited after the previous batch; if that fails, nobody awaits this one.
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
    const begun = { treeId, expectedSeq: this.#handedOver, epoch, events }
    const plain = this.#turns.length > 0 ? { ...begun, turns: this.#turns } : begun
    const charge = this.#options.charges?.()?.chargeFor(events)
    const batch: AppendBatch = charge ? { ...plain, charge } : plain
    const summary = this.#options.summary()
    if (!summary) return batch
    const { identity } = this.#options
    return identity && batch.expectedSeq === 0 ? { ...batch, summary, identity } : { ...batch, summary }
  }

  async #write(answer: ReturnType<Journal['append']>, shown: readonly StreamEvent[], charge: UsageCharge | undefined): Promise<void> {
    const before = this.#writing
    try {
      await before
      this.#settle(await answer, shown, charge)
    } catch (error) {
      this.#broken ??= error
      throw this.#broken
    }
    this.#inFlight.shift()
    if (this.#inFlight.length === 0) this.#writing = undefined
  }

  #settle(answer: Awaited<ReturnType<Journal['append']>>, shown: readonly StreamEvent[], charge: UsageCharge | undefined): void {
    if (!answer.ok) {
      this.#broken ??= refused(this.#options.treeId, answer.refusal)
      throw this.#broken
    }
    if (charge) this.#options.charges?.()?.stored(charge)
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
  if (refusal === 'missing') return new TroupeError('session_unknown', `The store has no session ${treeId}.`)
  if (refusal === 'key')
    return new TroupeError('usage', `Another session has the key of session ${treeId}.`, { remedy: 'Continue that one.' })
  return new TroupeError('session_moved', `Another process has taken over session ${treeId}. This process writes nothing more to it.`, {
    remedy: 'Open the session again to follow it.',
  })
}
