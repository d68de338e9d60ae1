import type { ApprovalDecision, ApprovalId, Outcome, SendOptions, StreamEvent, TreeId } from '../contracts/index.ts'
import { TroupeError } from '../contracts/index.ts'
import { keepShape } from '../util/keep-shape.ts'
import type { Subscription } from './feed.ts'
import type { TreeHouse } from './tree-house.ts'
import type { RunHandle, RunInput } from './types.ts'

/** A run that can be watched and steered. Everything sent goes through the inbox, so it outlives this process. */
export class Handle implements RunHandle {
  readonly treeId: TreeId
  readonly outcome: Promise<Outcome>
  readonly #house: TreeHouse
  #events: Subscription | undefined

  constructor(house: TreeHouse, run: { readonly treeId: TreeId; readonly outcome: Promise<Outcome>; readonly events: Subscription }) {
    this.#house = house
    this.treeId = run.treeId
    this.outcome = run.outcome
    this.#events = run.events
    keepShape('handle', this)
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamEvent> {
    const events = this.#events
    if (!events) throw new TroupeError('usage', 'A handle is read once.', { remedy: 'Read again with runtime.sessions.events(treeId).' })
    this.#events = undefined
    return events
  }

  send(input: RunInput, options?: SendOptions): Promise<void> {
    return this.#house.sessions.send(this.treeId, input, options)
  }

  steer(input: RunInput): Promise<void> {
    return this.#house.sessions.send(this.treeId, input, { mode: 'steer' })
  }

  stop(): Promise<void> {
    return this.#house.sessions.cancel(this.treeId, 'stop')
  }

  interrupt(): Promise<void> {
    return this.#house.sessions.cancel(this.treeId, 'interrupt')
  }

  approve(approvalId: ApprovalId, decision: ApprovalDecision): Promise<void> {
    return this.#house.sessions.approve(this.treeId, approvalId, decision)
  }
}
