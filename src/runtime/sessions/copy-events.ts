import type { CallRecord, InteractionEvent, ItemRecord, TreeId } from '../../contracts/index.ts'

type Rename = <Id extends string>(id: Id) => Id

/**
 * The events of a tree under another id. Ids of sessions, calls, requests and inputs are derived from that of the tree. The copy has an
 * inbox of its own, so its events name no rows of the old one.
 */
export function copyEvents(events: readonly InteractionEvent[], from: TreeId, to: TreeId): readonly InteractionEvent[] {
  const rename: Rename = <Id extends string>(id: Id): Id => (isDerived(id, from) ? (`${to}${id.slice(from.length)}` as Id) : id)
  return events.map(({ inbox: _, ...event }) => withIds({ ...event, treeId: to, sessionId: rename(event.sessionId) }, rename))
}

/** `tree`, `tree/t1.s1.1`, `tree:t1.s1.1`, `tree.input`. */
const isDerived = (id: string, tree: string): boolean =>
  id.startsWith(tree) && (id.length === tree.length || '/:.'.includes(id.charAt(tree.length)))

function withIds(event: InteractionEvent, rename: Rename): InteractionEvent {
  switch (event.type) {
    case 'interaction.session.created': {
      const { trace, parent } = event
      const { originId, parentId } = trace
      return {
        ...event,
        trace: { ...trace, originId: rename(originId), ...(parentId !== undefined && { parentId: rename(parentId) }) },
        ...(parent && { parent: { ...parent, sessionId: rename(parent.sessionId) } }),
      }
    }
    case 'interaction.input.accepted':
      return { ...event, clientId: rename(event.clientId) }
    case 'interaction.turn.started':
      return { ...event, inputs: event.inputs.map(rename) }
    case 'interaction.turn.suspended':
      return { ...event, approvals: event.approvals.map(rename) }
    case 'interaction.step.started':
      return { ...event, absorbs: event.absorbs.map(rename) }
    case 'interaction.item.completed':
      return hasDelivered(event.item) ? { ...event, item: { ...event.item, delivers: event.item.delivers.map(rename) } } : event
    case 'interaction.approval.requested':
      return { ...event, request: { ...event.request, id: rename(event.request.id) } }
    case 'interaction.approval.resolved':
      return { ...event, approvalId: rename(event.approvalId) }
    case 'interaction.approval.granted':
      return { ...event, from: rename(event.from) }
    case 'interaction.subagent.started':
    case 'interaction.subagent.completed':
    case 'interaction.subagent.failed':
    case 'interaction.subagent.closed':
    case 'interaction.handoff.started':
      return { ...event, childId: rename(event.childId) }
    case 'interaction.handoff.completed':
      return { ...event, childId: rename(event.childId), ...(event.message !== undefined && { message: rename(event.message) }) }
    default:
      return event
  }
}

const hasDelivered = (item: ItemRecord): item is CallRecord & Required<Pick<CallRecord, 'delivers'>> =>
  item.kind === 'call' && item.delivers !== undefined
