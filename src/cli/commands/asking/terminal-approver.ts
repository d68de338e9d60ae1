import {
  type ApprovalDecision,
  type ApprovalId,
  type ApprovalRequest,
  type Approver,
  answeredText,
  type InteractionEvent,
  type StreamEvent,
} from '../../../contracts/index.ts'
import { systemClock } from '../../../runtime/index.ts'
import { terminalApproverName, unavailableApproverName } from '../../../view/index.ts'
import type { Display } from '../../progress/display.ts'
import { exactLine } from '../../terminal/exact-text.ts'
import type { Host } from '../../terminal/process-host.ts'
import { discardTyped, hasEnded, nextLine } from '../../terminal/read-line.ts'
import { mayAsk } from '../trust/trust-question.ts'
import { askPerson } from './ask-person.ts'
import { questionLines, type ShownRequest } from './question-lines.ts'

/** Decides the requests of a run, and receives its events. */
export interface RunApprover extends Approver {
  /** Whether it prints its questions itself. */
  readonly shows: 'questions' | 'nothing'
  /** The display pauses while a question is open. */
  attach(display: Pick<Display, 'pause' | 'resume'>): void
  onEvent(event: StreamEvent): void
}

/** For terminals that report no size. */
const defaultHeight = 24

type Terminal = Pick<Host, 'stderr' | 'stdin' | 'paint' | 'width'>

/**
 * Asks the user at the terminal.
 *
 * 1. One question at a time, in the order of the requests.
 * 2. A question is withdrawn when it is answered elsewhere or its run is interrupted.
 * 3. Input that was typed before a question was shown does not answer it.
 * 4. After a grant, the next question waits until the grant is recorded: it may answer that question, too.
 * 5. The end of the input suspends the run, which can be resumed.
 */
export class TerminalApprover implements RunApprover {
  readonly shows = 'questions'
  readonly #host: Terminal
  readonly #labels = new Map<string, string>()
  readonly #announced = new Map<ApprovalId, PromiseWithResolvers<Omit<ShownRequest, 'request'>>>()
  readonly #withdrawn = new Map<ApprovalId, AbortController>()
  #display: Pick<Display, 'pause' | 'resume'> | undefined
  #last: Promise<unknown> = Promise.resolve()
  #shown: ApprovalId | undefined

  constructor(host: Terminal) {
    this.#host = host
  }

  attach(display: Pick<Display, 'pause' | 'resume'>): void {
    this.#display = display
  }

  onEvent(event: StreamEvent): void {
    if (event.type === 'interaction.session.created') this.#labels.set(event.sessionId, this.#labelOf(event))
    if (event.type === 'interaction.approval.requested')
      this.#announcement(event.request.id).resolve({ label: this.#labels.get(event.sessionId) ?? '' })
    if (event.type === 'interaction.approval.resolved') this.#withdrawal(event.approvalId).abort(answeredText(event))
  }

  isInLine(id: ApprovalId): boolean {
    return id !== this.#shown
  }

  async decide(request: ApprovalRequest, signal: AbortSignal): Promise<Awaited<ReturnType<Approver['decide']>>> {
    const about = await this.#announcement(request.id).promise
    const turn = this.#last.then(() => this.#ask({ request, ...about }, signal))
    this.#last = turn.then((decision) => this.#recorded(request.id, decision, signal)).catch(() => {})
    const decision = await turn
    return decision === 'suspend' || decision === 'wait' ? decision : { decision, by: terminalApproverName }
  }

  async #ask(asked: ShownRequest, signal: AbortSignal): Promise<ApprovalDecision | 'suspend' | 'wait'> {
    const { stderr, stdin, paint, width } = this.#host
    const over = AbortSignal.any([signal, this.#withdrawal(asked.request.id).signal])
    if (over.aborted) return 'wait'
    if (!hasEnded(stdin)) await discardTyped(stdin, systemClock)
    if (hasEnded(stdin)) return 'suspend'
    if (over.aborted) return 'wait'
    this.#display?.pause()
    this.#shown = asked.request.id
    try {
      await stderr.lines(questionLines(asked, { paint, width: width - 1, height: stderr.rows ?? defaultHeight }))
      const decision = await askPerson(asked.request, this.#terminal(over))
      if (decision.kind === 'withdrawn') {
        await stderr.lines([
          '',
          paint('dim', signal.aborted ? 'the run is interrupted' : `answered elsewhere: ${exactLine(String(over.reason))}`),
        ])
        return 'wait'
      }
      if (decision.kind !== 'end') return decision
      await stderr.line('')
      return 'suspend'
    } finally {
      this.#display?.resume()
    }
  }

  #terminal(over: AbortSignal): Parameters<typeof askPerson>[1] {
    const { stderr, stdin, paint } = this.#host
    return {
      show: (line) => stderr.prose([line]),
      hint: (text) => stderr.prose([paint('dim', text)]),
      read: async () => {
        await stderr.write('> ')
        return nextLine(stdin, over)
      },
    }
  }

  /** Resolves when a grant is recorded: it may answer the next question as well. */
  #recorded(id: ApprovalId, decision: ApprovalDecision | 'suspend' | 'wait', signal: AbortSignal): Promise<void> {
    if (typeof decision === 'string' || decision.kind !== 'approve' || decision.breadth === 'once') return Promise.resolve()
    const recorded = AbortSignal.any([signal, this.#withdrawal(id).signal])
    return new Promise((resolve) => {
      if (recorded.aborted) resolve()
      else recorded.addEventListener('abort', () => resolve())
    })
  }

  /** As in the tree: `lead/scout#2`. */
  #labelOf({ parent, agent, agentPath }: InteractionEvent<'interaction.session.created'>): string {
    if (!parent) return ''
    const above = this.#labels.get(parent.sessionId) ?? ''
    const [, number = '1'] = /#(\d+)$/.exec(agentPath) ?? []
    return `${above === '' ? '' : `${above}/`}${agent.toolName}${number === '1' ? '' : `#${number}`}`
  }

  #announcement(id: ApprovalId): PromiseWithResolvers<Omit<ShownRequest, 'request'>> {
    const known = this.#announced.get(id) ?? Promise.withResolvers<Omit<ShownRequest, 'request'>>()
    this.#announced.set(id, known)
    return known
  }

  #withdrawal(id: ApprovalId): AbortController {
    const known = this.#withdrawn.get(id) ?? new AbortController()
    this.#withdrawn.set(id, known)
    return known
  }
}

/** What happens to a request if no user can be asked. */
type WithoutTerminal = 'suspend' | 'deny'

/** Asks the user at the terminal. Without a terminal, suspends the run or denies the request. */
export function chooseApprover(host: Host, otherwise: WithoutTerminal): RunApprover {
  if (mayAsk(host)) return new TerminalApprover(host)
  const decision: ApprovalDecision = { kind: 'deny', feedback: 'no person is available to approve it', cancel: true }
  return {
    shows: 'nothing',
    decide: () => (otherwise === 'suspend' ? 'suspend' : { decision, by: unavailableApproverName }),
    attach: () => {},
    onEvent: () => {},
  }
}
