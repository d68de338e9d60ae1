import {
  type ApprovalDecision,
  type ApprovalId,
  type Outcome,
  type Receipt,
  type SendOptions,
  type StreamEvent,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { keepHiddenClass } from '../../util/keep-hidden-class.ts'
import { type DriveResult, outcomeOf } from '../journal/outcome.ts'
import type { RunHandle, RunInput, RunOptions } from '../options/agent-runtime.ts'
import type { Subscription } from '../tree/event-feed.ts'
import type { Runtime } from './create-agent-runtime.ts'

interface HandledRun {
  readonly treeId: TreeId
  readonly result: Promise<DriveResult>
  readonly events: Subscription
  /** What was given to the run. */
  readonly options?: Pick<RunOptions, 'output' | 'signal'>
}

/** Everything that is sent goes through the inbox, so it outlives this process. */
export class Handle implements RunHandle {
  readonly sessionId: TreeId
  readonly #host: Runtime
  readonly #result: Promise<DriveResult>
  readonly #options: HandledRun['options']
  #outcome: Promise<Outcome> | undefined
  #events: Subscription | undefined

  constructor(host: Runtime, run: HandledRun) {
    this.#host = host
    this.#options = run.options
    this.sessionId = run.treeId
    this.#result = run.result
    this.#events = run.events
    keepHiddenClass('handle', this, run)
  }

  /** Computed on demand: many callers only read events. */
  get outcome(): Promise<Outcome> {
    const { output, signal } = this.#options ?? {}
    const run = output && { output, signal, treeId: this.sessionId }
    this.#outcome ??= this.#result.then(outcomeOf).then((outcome) => (run ? this.#host.typed(outcome, run) : outcome))
    return this.#outcome
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamEvent> {
    const events = this.#events
    if (!events)
      throw new TroupeError('usage', 'A handle can be iterated only once.', {
        remedy: 'Read again with runtime.sessions.events(sessionId).',
      })
    this.#events = undefined
    return events
  }

  send(input: RunInput, options?: SendOptions): Promise<Receipt> {
    return this.#host.sessions.send(this.sessionId, input, options)
  }

  steer(input: RunInput): Promise<Receipt> {
    return this.#host.sessions.send(this.sessionId, input, { mode: 'steer' })
  }

  stop(): Promise<Receipt> {
    return this.#host.sessions.cancel(this.sessionId, 'stop')
  }

  interrupt(): Promise<Receipt> {
    return this.#host.sessions.cancel(this.sessionId, 'interrupt')
  }

  approve(approvalId: ApprovalId | string, decision: ApprovalDecision): Promise<Receipt> {
    return this.#host.sessions.approve(this.sessionId, { approvalId, decision })
  }

  async release(): Promise<void> {
    await this.#host.release(this.sessionId)
  }
}
