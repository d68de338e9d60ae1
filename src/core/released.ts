import type { InteractionEvent } from '../contracts/index.ts'

/** Thrown when a released session would continue. Its driver stops. */
export class Released extends Error {
  override readonly name = 'Released'

  constructor() {
    super('The session was released by its driver.')
  }
}

/** Results of running calls, the cost of a request in flight, and diagnostics are still recorded after a release. */
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
