import type { ApprovalDecision, ApprovalId, ApprovalRequest, Approver, StreamEvent } from '../../contracts/index.ts'
import type { Host } from '../host.ts'
import { nextLine } from '../next-line.ts'
import type { Display } from '../progress/display.ts'
import { type Asked, decisionOf, questionLines } from './ask-terms.ts'

/** Where requests of a run are decided, and what it hears of the run meanwhile. */
export interface RunApprover extends Approver {
  /** The display gives way to a question, and comes back after it. */
  attach(display: Pick<Display, 'pause' | 'resume'>): void
  hear(event: StreamEvent): void
}

/**
 * Asks a person at the terminal.
 *
 * 1. One question at a time, in the order in which they came.
 * 2. A question that somebody else has answered meanwhile, or whose run is interrupted, is withdrawn.
 * 3. Whoever ends the input has put the question off: the run is suspended and can be resumed.
 */
export class TerminalApprover implements RunApprover {
  readonly #host: Pick<Host, 'stderr' | 'stdin' | 'paint'>
  readonly #labels = new Map<string, string>()
  readonly #heard = new Map<ApprovalId, PromiseWithResolvers<string>>()
  readonly #withdrawn = new Map<ApprovalId, AbortController>()
  #display: Pick<Display, 'pause' | 'resume'> | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(host: Pick<Host, 'stderr' | 'stdin' | 'paint'>) {
    this.#host = host
  }

  attach(display: Pick<Display, 'pause' | 'resume'>): void {
    this.#display = display
  }

  hear(event: StreamEvent): void {
    if (event.type === 'interaction.session.created') this.#labels.set(event.sessionId, event.parent ? event.agent.toolName : '')
    if (event.type === 'interaction.approval.requested') this.#seen(event.request.id).resolve(this.#labels.get(event.sessionId) ?? '')
    if (event.type === 'interaction.approval.resolved') this.#withdrawal(event.approvalId).abort()
  }

  async decide(request: ApprovalRequest, signal: AbortSignal): Promise<Awaited<ReturnType<Approver['decide']>>> {
    const label = await this.#seen(request.id).promise
    const turn = this.#last.then(() => this.#ask({ request, label }, signal))
    this.#last = turn.catch(() => {})
    const decision = await turn
    return decision === 'suspend' || decision === 'wait' ? decision : { decision, by: 'person at the terminal' }
  }

  async #ask(asked: Asked, signal: AbortSignal): Promise<ApprovalDecision | 'suspend' | 'wait'> {
    const { stderr, stdin, paint } = this.#host
    const over = AbortSignal.any([signal, this.#withdrawal(asked.request.id).signal])
    if (over.aborted) return 'wait'
    this.#display?.pause()
    try {
      await stderr.lines(questionLines(asked, paint))
      for (;;) {
        await stderr.write('> ')
        const line = await nextLine(stdin, over)
        if (line.kind === 'withdrawn') {
          await stderr.lines(['', paint('dim', 'no longer needed')])
          return 'wait'
        }
        if (line.kind === 'end') return 'suspend'
        const decision = decisionOf(line.text, asked.request)
        if (decision) return decision
        await stderr.line(paint('dim', 'Type one of the words on the left.'))
      }
    } finally {
      this.#display?.resume()
    }
  }

  #seen(id: ApprovalId): PromiseWithResolvers<string> {
    const known = this.#heard.get(id) ?? Promise.withResolvers<string>()
    this.#heard.set(id, known)
    return known
  }

  #withdrawal(id: ApprovalId): AbortController {
    const known = this.#withdrawn.get(id) ?? new AbortController()
    this.#withdrawn.set(id, known)
    return known
  }
}
