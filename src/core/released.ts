import type { InteractionEvent } from '../contracts/index.ts'

/** Thrown where a released session would go on. Whoever drives it stops. */
export class Released extends Error {
  override readonly name = 'Released'

  constructor() {
    super('The session was released by its driver.')
  }
}

/** What may still be recorded after a release: the real result of a call, what a request took that was in flight, and diagnostics. */
export function isAllowedAfterRelease(event: InteractionEvent): boolean {
  switch (event.type) {
    case 'interaction.diagnostic':
      return event.inbox === undefined
    case 'interaction.step.failed':
      return event.failure.class === 'lost'
    case 'interaction.item.completed':
      if (event.item.kind === 'text') return event.item.status === 'interrupted'
      return event.item.kind === 'call' && event.item.status === 'completed'
    default:
      return false
  }
}
