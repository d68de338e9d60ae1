import type { InteractionEvent, SessionId } from '../../src/contracts/index.ts'

/** What each session and everything below it has taken at each event, with what is set aside. */
export function overspent(events: readonly InteractionEvent[]): readonly string[] {
  const found: string[] = []
  const parents = new Map<SessionId, SessionId | undefined>()
  const limits = new Map<SessionId, { readonly maxTokens?: number; readonly maxCostUsd?: number }>()
  const used = new Map<SessionId, { tokens: number; cost: number }>()
  const open = new Map<SessionId, { tokens: number; cost: number }>()
  const take = (from: SessionId, tokens: number, cost: number): void => {
    for (let at: SessionId | undefined = from; at !== undefined; at = parents.get(at)) {
      const sum = used.get(at) ?? { tokens: 0, cost: 0 }
      used.set(at, { tokens: sum.tokens + tokens, cost: sum.cost + cost })
    }
  }
  for (const event of events) {
    const { sessionId } = event
    if (event.type === 'interaction.session.created') {
      parents.set(sessionId, event.parent?.sessionId)
      limits.set(sessionId, event.agent.limits)
    }
    if (event.type === 'interaction.step.started') {
      const { input, output, costUsd = 0 } = event.reservation
      open.set(sessionId, { tokens: input + output, cost: costUsd })
      take(sessionId, input + output, costUsd)
    }
    if (event.type === 'interaction.step.completed' || event.type === 'interaction.step.failed') {
      const reserved = open.get(sessionId) ?? { tokens: 0, cost: 0 }
      const cost = event.cost === 'unknown' ? reserved.cost : event.cost
      take(sessionId, event.usage.input + event.usage.output - reserved.tokens, cost - reserved.cost)
      open.delete(sessionId)
    }
    for (const [session, { tokens, cost }] of used) {
      const { maxTokens = Number.POSITIVE_INFINITY, maxCostUsd = Number.POSITIVE_INFINITY } = limits.get(session) ?? {}
      if (tokens > maxTokens) found.push(`${event.seq} ${session}: ${tokens} of ${maxTokens} tokens`)
      if (cost > maxCostUsd + 1e-9) found.push(`${event.seq} ${session}: ${cost} of ${maxCostUsd} dollars`)
    }
  }
  return found
}
