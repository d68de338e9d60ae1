import type { ApprovalRequest } from './approvals.ts'
import type { InteractionEvent } from './events.ts'
import type { SessionId } from './ids.ts'

interface Place {
  readonly sessionId: SessionId
  readonly itemId: string
  readonly scope: ApprovalRequest['scope']
}

/** The open requests of a tree: a fold over its events. */
export class OpenRequests {
  readonly #open = new Map<string, Place>()

  /** Those that wait for a person, not for the client. */
  get size(): number {
    if (this.#open.size === 0) return 0
    return [...this.#open.values()].filter(({ scope }) => scope !== 'client').length
  }

  has(id: string): boolean {
    return this.#open.has(id)
  }

  add(id: string, place: Place): void {
    this.#open.set(id, place)
  }

  note(event: InteractionEvent): void {
    if (event.type === 'interaction.approval.requested') {
      const { id, itemId, scope } = event.request
      this.add(id, { sessionId: event.sessionId, itemId, scope })
    } else if (this.#open.size > 0) this.#close(event)
  }

  #close(event: InteractionEvent): void {
    switch (event.type) {
      case 'interaction.approval.resolved':
        this.#open.delete(event.approvalId)
        return
      case 'interaction.item.updated':
        // A further attempt ends the questions of the one before it.
        if (event.update.kind === 'attempt') this.#removeOf(event)
        return
      case 'interaction.item.completed':
        this.#removeOf(event)
        return
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted':
        this.#remove(({ sessionId }) => sessionId === event.sessionId)
    }
  }

  #removeOf(event: InteractionEvent): void {
    this.#remove(({ sessionId, itemId }) => sessionId === event.sessionId && itemId === event.itemId)
  }

  #remove(isOver: (place: Place) => boolean): void {
    for (const [id, place] of this.#open) if (isOver(place)) this.#open.delete(id)
  }
}
