import type {
  AgentChanges,
  ApprovalRequest,
  Diagnostic,
  EventDraft,
  Inbox,
  InboxMessage,
  InboxRow,
  InputMode,
} from '../../contracts/index.ts'
import { isInterrupted, openRequests, speakerOf } from '../../core/index.ts'
import { decisionProblem, redactDecision } from '../../policy/grants.ts'
import { type ActiveSession, applyDecision, storeProjectGrant } from '../../steps/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { showValue } from '../../util/show-value.ts'
import { cancelModes, inputModes } from '../validation/check-arguments.ts'
import { changeProblems } from '../validation/check-changes.ts'
import { outputProblems } from '../validation/check-output-contract.ts'
import type { Tree } from './tree.ts'

type MailboxTree = Pick<Tree, 'activeSessions' | 'sendTo' | 'speaker' | 'changeSettings' | 'beginInterrupted'>

/**
 * Drains the inbox into the journal.
 *
 * 1. Rows become events in order of position, each exactly once: the cursor is part of the state.
 * 2. Drains never overlap. A drain that is requested while another runs follows it, and `drain` waits for it.
 * 3. After `close` the cursor does not move: later messages stay in the inbox for the next driver.
 */
export class Mailbox {
  readonly #tree: MailboxTree
  readonly #root: ActiveSession
  readonly #inbox: Pick<Inbox, 'read'>
  #cursor: number
  #draining: Promise<void> | undefined
  #again = false
  #isClosed = false

  constructor(
    tree: MailboxTree,
    { root, inbox, cursor }: { readonly root: ActiveSession; readonly inbox: Pick<Inbox, 'read'>; readonly cursor: number },
  ) {
    this.#tree = tree
    this.#root = root
    this.#inbox = inbox
    this.#cursor = cursor
  }

  /** The position of the last recorded row. */
  get cursor(): number {
    return this.#cursor
  }

  /** The running drain. Await it in a loop: another may have started meanwhile. */
  get draining(): Promise<void> | undefined {
    return this.#draining
  }

  /** Call it synchronously after finding nothing to do. */
  close(): void {
    this.#isClosed = true
  }

  drain(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#again = true
    this.#draining ??= this.#run()
    return this.#draining
  }

  async #run(): Promise<void> {
    const root = this.#root
    try {
      while (this.#again) {
        this.#again = false
        const rows = await this.#inbox.read(root.state.treeId, this.#cursor)
        for (const row of rows) {
          if (!this.#isClosed) await this.#storeProjectGrant(row)
          if (this.#isClosed) return
          this.#record(row)
          this.#cursor = row.position
        }
        if (rows.length > 0) await root.flush()
        // Children are interrupted through their calls.
        if (isInterrupted(root.state)) root.interrupt.fire('interrupted')
      }
    } finally {
      // Synchronously after the last check of `#again`: a later request starts a new drain.
      this.#draining = undefined
      for (const session of this.#tree.activeSessions()) session.wake()
    }
  }

  /** A grant for the project is stored before its answer is recorded; until then the answer stays in the inbox. */
  async #storeProjectGrant(row: InboxRow): Promise<void> {
    const { message } = row
    if (message?.kind !== 'approval' || message.decision?.kind !== 'approve' || message.decision.breadth !== 'project') return
    const { session, request } = this.#addressee(row)
    const isRight = request && typeof message.by === 'string' && decisionProblem(request, message.decision) === undefined
    if (isRight) await storeProjectGrant(session, request, message)
  }

  /** An invalid row is recorded as a diagnostic and does not block the rows behind it. */
  #record(row: InboxRow): void {
    const { message } = row
    const { session, request } = this.#addressee(row)
    try {
      if (this.#endsHandoff(row)) return
      const to = message.kind === 'input' ? (message.to ?? this.#tree.speaker) : undefined
      if (message.kind === 'input' && to !== undefined) {
        if (message.to === undefined && message.changes) this.#tree.changeSettings(checkedChanges(message.changes))
        this.#tree.sendTo(to, { clientId: row.clientId, input: message.parts, mode: inputMode(message), inbox: row.position })
        return
      }
      const event = eventOf(session, row, request)
      if (message.kind === 'cancel' && message.mode === 'interrupt') this.#tree.beginInterrupted()
      if (message.kind === 'input' && message.changes) this.#tree.changeSettings(checkedChanges(message.changes))
      session.note(event)
      if (message.kind === 'approval' && request) {
        applyDecision(session, request, message)
        if (request.scope === 'client' && message.message)
          session.note({ type: 'interaction.input.accepted', ...message.message, mode: 'steer' })
        if (request.scope === 'client' && message.changes) this.#tree.changeSettings(checkedChanges(message.changes), { withResult: true })
      }
    } catch (error) {
      session.note({ type: 'interaction.diagnostic', diagnostic: invalid(error), inbox: row.position })
      return
    }
    this.#notifyChildren(message)
  }

  /** Whether the message ends a handoff. It is recorded in the session that handed over first. */
  #endsHandoff({ clientId, message, position }: InboxRow): boolean {
    if (message.kind !== 'input' || message.endsHandoff !== true || this.#tree.speaker === undefined) return false
    const { parts } = message
    const session = this.#tree.activeSessions().find(({ state }) => speakerOf(state))
    session?.note({ type: 'interaction.input.accepted', clientId, parts, mode: inputMode(message), endsHandoff: true, inbox: position })
    return session !== undefined
  }

  /** An answer goes to the session that asked, everything else to the root. */
  #addressee({ message }: InboxRow): { readonly session: ActiveSession; readonly request?: ApprovalRequest } {
    if (message?.kind === 'approval')
      for (const session of this.#tree.activeSessions()) {
        const request = openRequests(session.state).find(({ id }) => id === message.approvalId)
        if (request) return { session, request }
      }
    return { session: this.#root }
  }

  /** Passes stop requests and revoked grants on to children. */
  #notifyChildren(message: InboxMessage): void {
    for (const child of this.#tree.activeSessions()) {
      if (child === this.#root) continue
      const { turn, grants } = child.state
      if (message.kind === 'revoke' && grants.some(({ key }) => message.keys.includes(key)))
        child.note({ type: 'interaction.approval.revoked', keys: message.keys, by: message.by })
      if (message.kind === 'cancel' && message.mode === 'stop' && turn.kind === 'open')
        child.note({ type: 'interaction.cancel.requested', mode: 'stop', by: message.by })
    }
  }
}

/** Rows come from outside. */
function checkedChanges(changes: AgentChanges): AgentChanges {
  const { lowered: limits, ...rest } = changes
  const [wrong] = [...changeProblems({ ...rest, ...(limits && { limits }) }), ...outputProblems(rest.output ?? undefined)]
  if (wrong) throw new Error(`${wrong.place} ${wrong.message}`)
  return changes
}

const invalid = (error: unknown): Diagnostic => ({
  code: 'message_invalid',
  severity: 'error',
  message: `A message to this session was refused: ${messageOf(error)}`,
  remedy: 'Correct the message and send it again.',
})

function eventOf(session: ActiveSession, { position, clientId, message }: InboxRow, request: ApprovalRequest | undefined): EventDraft {
  switch (message.kind) {
    case 'input':
      return {
        type: 'interaction.input.accepted',
        clientId,
        parts: message.parts,
        mode: inputMode(message),
        inbox: position,
        ...(message.traceContext && { traceContext: message.traceContext }),
      }
    case 'cancel':
      if (!cancelModes.includes(message.mode)) throw new Error(`unknown cancel mode ${showValue(message.mode)}`)
      return { type: 'interaction.cancel.requested', mode: message.mode, by: message.by, inbox: position }
    case 'send_held':
      return { type: 'interaction.held.sent', by: message.by, inbox: position }
    case 'revoke':
      if (!Array.isArray(message.keys) || message.keys.some((key: unknown) => typeof key !== 'string'))
        throw new Error('expected a list of keys to revoke')
      return { type: 'interaction.approval.revoked', keys: message.keys, by: message.by, inbox: position }
    case 'approval': {
      if (!request) return { type: 'interaction.diagnostic', diagnostic: lateAnswer(message.approvalId), inbox: position }
      const { by } = message
      if (typeof by !== 'string') throw new Error('it does not say who decided')
      const wrong = decisionProblem(request, message.decision)
      if (wrong !== undefined) throw new Error(wrong)
      const decision = redactDecision(session.ports.redactor, message.decision)
      return { type: 'interaction.approval.resolved', itemId: request.itemId, approvalId: request.id, decision, by, inbox: position }
    }
    default:
      return message satisfies never
  }
}

function inputMode({ mode }: Extract<InboxMessage, { kind: 'input' }>): InputMode {
  if (!inputModes.includes(mode)) throw new Error(`unknown input mode ${showValue(mode)}`)
  return mode
}

const lateAnswer = (approvalId: string): Diagnostic => ({
  code: 'approval_late',
  severity: 'warning',
  message: `An answer to approval ${approvalId} came when the request was not open. It has no effect.`,
})
