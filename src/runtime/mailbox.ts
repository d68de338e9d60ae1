import type { Diagnostic, EventDraft, Inbox, InboxRow } from '../contracts/index.ts'
import { openRequests, type Stage } from '../steps/index.ts'

/**
 * Drains the inbox into the journal.
 *
 * 1. Rows become events in the order of their positions, each exactly once: the cursor is part of the state.
 * 2. Drains never overlap; one that is asked for meanwhile follows.
 */
export class Mailbox {
  readonly #stage: Stage
  readonly #inbox: Pick<Inbox, 'read'>
  #draining: Promise<void> | undefined
  #again = false

  constructor(stage: Stage, inbox: Pick<Inbox, 'read'>) {
    this.#stage = stage
    this.#inbox = inbox
  }

  /** The drain under way, if there is one. */
  get draining(): Promise<void> | undefined {
    return this.#draining
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
    const stage = this.#stage
    do {
      this.#again = false
      const rows = await this.#inbox.read(stage.state.treeId, stage.state.inboxCursor)
      for (const row of rows) stage.note(eventOf(stage, row))
      if (rows.length > 0) await stage.flush()
    } while (this.#again)
    const { turn } = stage.state
    if (turn.kind === 'open' && turn.cancel === 'interrupt') stage.interrupt.fire('interrupted')
    stage.wake()
  }
}

function eventOf(stage: Stage, { position, clientId, message }: InboxRow): EventDraft {
  switch (message.kind) {
    case 'input':
      return { type: 'interaction.input.accepted', clientId, parts: message.parts, mode: message.mode, inbox: position }
    case 'cancel':
      return { type: 'interaction.cancel.requested', mode: message.mode, by: message.by, inbox: position }
    case 'revoke':
      return { type: 'interaction.approval.revoked', keys: message.keys, by: message.by, inbox: position }
    case 'approval': {
      const request = openRequests(stage).find((open) => open.id === message.approvalId)
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
