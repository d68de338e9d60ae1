import type { ApprovalId, ApprovalRequest, Diagnostic, EventDraft, Inbox, InboxMessage, InboxRow } from '../contracts/index.ts'
import { openRequests } from '../core/index.ts'
import { type ActiveSession, keepGrants, withoutSecrets } from '../steps/index.ts'
import { decisionProblem } from '../util/grants.ts'
import { messageOf } from '../util/message-of.ts'
import type { Tree } from './tree.ts'

/**
 * Drains the inbox into the journal.
 *
 * 1. Rows become events in the order of their positions, each exactly once: the cursor is part of the state.
 * 2. Drains never overlap; one that is asked for while another runs follows it, and is part of what `drain` waits for.
 */
export class Mailbox {
  readonly #tree: Pick<Tree, 'live'>
  readonly #root: ActiveSession
  readonly #inbox: Pick<Inbox, 'read'>
  #cursor: number
  #draining: Promise<void> | undefined
  #again = false

  constructor(
    tree: Pick<Tree, 'live'>,
    { root, inbox, cursor }: { readonly root: ActiveSession; readonly inbox: Pick<Inbox, 'read'>; readonly cursor: number },
  ) {
    this.#tree = tree
    this.#root = root
    this.#inbox = inbox
    this.#cursor = cursor
  }

  /** The last row that was taken in, by whichever session. */
  get cursor(): number {
    return this.#cursor
  }

  /** The drain under way, if there is one. */
  get draining(): Promise<void> | undefined {
    return this.#draining
  }

  drain(): Promise<void> {
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
          this.#take(row)
          this.#cursor = row.position
        }
        if (rows.length > 0) await root.flush()
        const { turn } = root.state
        // Whatever runs below hears of it through the calls that it runs in.
        if (turn.kind === 'open' && turn.cancel === 'interrupt') root.interrupt.fire('interrupted')
      }
    } finally {
      // In one breath with the last look at `#again`: whoever asks after this starts a drain of its own.
      this.#draining = undefined
      for (const session of this.#tree.live()) session.wake()
    }
  }

  /** To the session that it is for: an answer to whoever asked, everything else to the root. */
  #take(row: InboxRow): void {
    const { message } = row
    const live = this.#tree.live()
    if (message.kind === 'approval') {
      const asking = live.find(({ state }) => openRequests(state).some((open) => open.id === message.approvalId))
      take(asking ?? this.#root, row)
      return
    }
    take(this.#root, row)
    if (message.kind === 'revoke') revokeBelow(live, this.#root, message)
    if (message.kind !== 'cancel' || message.mode !== 'stop') return
    for (const child of live) {
      if (child !== this.#root && child.state.turn.kind === 'open')
        child.note({ type: 'interaction.cancel.requested', mode: 'stop', by: message.by })
    }
  }
}

/** What was granted to a child is taken back there. */
function revokeBelow(live: readonly ActiveSession[], root: ActiveSession, { keys, by }: Extract<InboxMessage, { kind: 'revoke' }>): void {
  for (const child of live) {
    if (child !== root && child.state.grants.some(({ key }) => keys.includes(key)))
      child.note({ type: 'interaction.approval.revoked', keys, by })
  }
}

/** A row that makes no sense must not stop those behind it. */
function take(session: ActiveSession, row: InboxRow): void {
  const request = row.message.kind === 'approval' ? requestFor(session, row.message.approvalId) : undefined
  try {
    session.note(eventOf(session, row))
    const { message } = row
    if (message.kind === 'approval' && request) keepGrants(session, request, message)
  } catch (error) {
    const diagnostic: Diagnostic = {
      code: 'message_invalid',
      severity: 'error',
      message: `A message to this session could not be taken: ${messageOf(error)}`,
      remedy: 'Send it again in the right form.',
    }
    session.note({ type: 'interaction.diagnostic', diagnostic, inbox: row.position })
  }
}

const requestFor = ({ state }: ActiveSession, id: ApprovalId): ApprovalRequest | undefined =>
  openRequests(state).find((open) => open.id === id)

function eventOf(session: ActiveSession, { position, clientId, message }: InboxRow): EventDraft {
  switch (message.kind) {
    case 'input':
      return { type: 'interaction.input.accepted', clientId, parts: message.parts, mode: message.mode, inbox: position }
    case 'cancel':
      return { type: 'interaction.cancel.requested', mode: message.mode, by: message.by, inbox: position }
    case 'revoke':
      return { type: 'interaction.approval.revoked', keys: message.keys, by: message.by, inbox: position }
    case 'approval': {
      const request = requestFor(session, message.approvalId)
      if (!request) return { type: 'interaction.diagnostic', diagnostic: late(message.approvalId), inbox: position }
      const { by } = message
      const wrong = decisionProblem(request, message.decision)
      if (wrong !== undefined) throw new Error(wrong)
      const decision = withoutSecrets(session, message.decision)
      return { type: 'interaction.approval.resolved', itemId: request.itemId, approvalId: request.id, decision, by, inbox: position }
    }
    default:
      return message satisfies never
  }
}

const late = (approvalId: string): Diagnostic => ({
  code: 'approval_late',
  severity: 'warning',
  message: `An answer to approval ${approvalId} came when it was not open; it changed nothing.`,
})
