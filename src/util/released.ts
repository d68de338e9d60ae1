import type { InteractionEvent } from '../contracts/index.ts'

/** Thrown where a released session would go on. Whoever drives it stops. */
export class Released extends Error {
  override readonly name = 'Released'

  constructor() {
    super('The session was released by its driver.')
  }
}

/** What may still be recorded after a release: the real result of a call, and what there is to say about it. */
export function isResult(event: InteractionEvent): boolean {
  if (event.type === 'interaction.diagnostic') return event.inbox === undefined
  return event.type === 'interaction.item.completed' && event.item.kind === 'call' && event.item.status === 'completed'
}
