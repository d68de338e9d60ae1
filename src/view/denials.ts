import type { ApprovalRequest, InteractionEvent, ItemId } from '../contracts/index.ts'

/** By whom, if nobody can be asked and the configuration says that calls are denied then. */
export const unavailableApproverName = 'approvals.onUnavailable'

/** A call that was not allowed. */
export interface Denial {
  readonly agentPath: string
  readonly tool: string
  /** `unavailable`: it needed an approval, and nobody could be asked. `decided`: by a person or a rule. */
  readonly kind: 'decided' | 'unavailable'
  /** The person or the rule. */
  readonly by: string
  /** What the model was told, or the request that was denied. */
  readonly message: string
}

/** The denials of the last turn, with those of children. Declined questions of tools are answers, not denials. */
export function denialsIn(events: readonly InteractionEvent[]): readonly Denial[] {
  const start = events.findLastIndex(({ type, agentPath }) => type === 'interaction.turn.started' && agentPath === 'root')
  const requests = new Map<string, ApprovalRequest>()
  const answered = new Set<string>()
  const tools = new Map<string, string>()
  const denials: Denial[] = []
  for (const [index, event] of events.entries()) {
    if (event.type === 'interaction.approval.requested') requests.set(event.request.id, event.request)
    if (index < start) continue
    if (event.type === 'interaction.item.started' && event.item.kind === 'call') tools.set(keyOf(event), event.item.tool)
    if (event.type === 'interaction.approval.resolved') {
      const request = requests.get(event.approvalId)
      const { decision, by } = event
      if (!request || (decision.kind !== 'deny' && decision.kind !== 'abort')) continue
      answered.add(keyOf({ ...event, itemId: request.itemId }))
      if (request.scope === 'question') continue
      const kind = by === unavailableApproverName || by === 'runtime' ? 'unavailable' : 'decided'
      denials.push({ agentPath: request.agentPath, tool: request.tool, kind, by, message: request.summary })
    }
    if (event.type === 'interaction.item.completed' && event.item.kind === 'call' && event.item.status === 'declined') {
      if (answered.has(keyOf(event))) continue
      const message = event.item.error?.message ?? event.item.content
      denials.push({ agentPath: event.agentPath, tool: tools.get(keyOf(event)) ?? '', kind: 'decided', by: 'a rule', message })
    }
  }
  return denials
}

/** Item ids are unique in a session. */
const keyOf = ({ sessionId, itemId }: { readonly sessionId: string; readonly itemId?: ItemId }): string => `${sessionId} ${itemId}`
