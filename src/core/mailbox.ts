import type { Diagnostic, EventDraft, InboxRow } from '../contracts/index.ts'
import { openRequests } from './approvals.ts'
import type { Session } from './session.ts'

/**
 * Drains the inbox into the journal.
 *
 * 1. Rows become events in the order of their positions, each exactly once: the cursor is part of the state.
 * 2. Drains never overlap; one that is asked for meanwhile follows.
 */
export class Mailbox {
  readonly #session: Session
  #draining: Promise<void> | undefined
  #again = false

  constructor(session: Session) {
    this.#session = session
  }

  drain(): Promise<void> {
    if (this.#draining) {
      this.#again = true
      return this.#draining
    }
    this.#draining = this.#run().finally(() => {
      this.#draining = undefined
    })
    return this.#draining
  }

  async #run(): Promise<void> {
    const session = this.#session
    do {
      this.#again = false
      const rows = await session.ports.inbox.read(session.state.treeId, session.state.inboxCursor)
      for (const row of rows) session.note(eventOf(session, row))
      if (rows.length > 0) await session.flush()
    } while (this.#again)
    const { turn } = session.state
    if (turn.kind === 'open' && turn.cancel === 'interrupt') session.interrupt.fire('interrupted')
    session.wake()
  }
}

function eventOf(session: Session, { position, clientId, message }: InboxRow): EventDraft {
  switch (message.kind) {
    case 'input':
      return { type: 'interaction.input.accepted', clientId, parts: message.parts, mode: message.mode, inbox: position }
    case 'cancel':
      return { type: 'interaction.cancel.requested', mode: message.mode, by: message.by, inbox: position }
    case 'revoke':
      return { type: 'interaction.approval.revoked', keys: message.keys, by: message.by, inbox: position }
    case 'approval': {
      const request = openRequests(session).find((open) => open.id === message.approvalId)
      if (!request) return { type: 'interaction.diagnostic', diagnostic: late(message.approvalId), inbox: position }
      return {
        type: 'interaction.approval.resolved',
        itemId: request.itemId,
        approvalId: request.id,
        decision: message.decision,
        by: message.by,
        inbox: position,
      }
    }
    default:
      return message satisfies never
  }
}

const late = (approvalId: string): Diagnostic => ({
  code: 'approval_late',
  severity: 'warning',
  message: `An answer to approval ${approvalId} came when it was no longer open; it changed nothing.`,
})
