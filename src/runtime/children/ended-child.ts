import type {
  AccountingEntry,
  ChildResult,
  Message,
  Report,
  SessionId,
  ToolFailure,
  TurnOperation,
  TurnReason,
} from '../../contracts/index.ts'
import type { EndedTurn, SessionState } from '../../core/index.ts'
import { accountingOf, operationOf } from '../api/operations.ts'

type Ended = Extract<ChildResult, { kind: 'ended' }>

interface Child {
  readonly state: SessionState
  readonly turn: EndedTurn
  /** Those below it are among them. */
  readonly children: ReadonlyMap<SessionId, SessionState>
  readonly failure: ToolFailure | undefined
}

/** How a child ended. What may be large is put together for who asks: few do. */
export class EndedChild implements Ended {
  readonly kind = 'ended'
  readonly status: Ended['status']
  readonly reason?: TurnReason
  readonly failure?: ToolFailure
  readonly report?: Report
  readonly #child: Child

  constructor(child: Child) {
    const { ending, report } = child.turn
    this.status = ending.status
    if ('reason' in ending) this.reason = ending.reason
    if (child.failure) this.failure = child.failure
    if (report) this.report = report
    this.#child = child
  }

  get accounting(): readonly AccountingEntry[] {
    return accountingOf(this.#child.state, this.#child.children)
  }

  get operations(): TurnOperation {
    const { state, turn, children } = this.#child
    return operationOf(state, turn, children)
  }

  get conversation(): readonly Message[] {
    return this.#child.state.history.toJSON()
  }
}
