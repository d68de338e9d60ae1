import type { AgentChanges, InboxMessage, InputPart, TreeId } from '../../contracts/index.ts'
import { redactDecision } from '../../policy/grants.ts'
import { newSettings } from '../changes/reconfigure-session.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import { redactChanges } from './redact-message.ts'
import { storeInput } from './store-input.ts'

/** A message to a session, with its settings. */
export function messageWithoutSecrets(parts: RuntimeParts, treeId: TreeId, message: InboxMessage): InboxMessage {
  if (message.kind !== 'input' && message.kind !== 'approval') return message
  const overlay = parts.overlays.of(treeId)
  const changes = redactChanges(message.changes, overlay.redactor)
  const settings = changes && { changes }
  if (message.kind === 'input') return { ...message, parts: parts.withoutSecrets(message.parts, overlay), ...settings }
  const added = message.message && { message: { ...message.message, parts: parts.withoutSecrets(message.message.parts, overlay) } }
  return { ...message, decision: redactDecision(overlay.redactor, message.decision), ...added, ...settings }
}

/** A message as its inbox stores it. */
export async function storeMessage(parts: RuntimeParts, treeId: TreeId, message: InboxMessage): Promise<InboxMessage> {
  if (message.kind !== 'input' && message.kind !== 'approval') return message
  const { changes, ...rest } = message
  const news = changes && (await withoutKnown(parts, treeId, changes))
  const stored = { ...rest, ...(news && { changes: news }) }
  if (stored.kind === 'input') return { ...stored, parts: await storeInput(parts, { treeId }, stored.parts) }
  const { decision, message: added } = stored
  const kept = async (what: string, given: readonly InputPart[]) => storeInput(parts, { treeId, what }, given)
  return {
    ...stored,
    ...(decision.kind === 'result' && decision.parts && { decision: { ...decision, parts: await kept('the result', decision.parts) } }),
    ...(added && { message: { ...added, parts: await kept('the message', added.parts) } }),
  }
}

/** Clients send their tools and instructions with every result: only changed ones are stored. Some choices need the tools beside them. */
async function withoutKnown({ trees }: RuntimeParts, treeId: TreeId, changes: AgentChanges): Promise<AgentChanges | undefined> {
  if (!changes.clientTools) return changes
  const news = newSettings(changes, (await trees.stateOf(treeId)).root)
  if (news.toolChoice !== undefined) return changes
  return Object.keys(news).length > 0 ? news : undefined
}
