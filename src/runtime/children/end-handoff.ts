import type { HandoffReason } from '../../contracts/index.ts'
import type { SessionState, SpawnedChild } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'

/** Records that a child no longer talks to the person. Messages that it has not read go to its parent, in the same batch. */
export function endHandoff(
  parent: ActiveSession,
  { childId, itemId, agent, handoff }: SpawnedChild,
  { reason, unread }: { readonly reason: HandoffReason; readonly unread: SessionState['inputs'] },
): void {
  if (handoff !== 'open') return
  parent.note({ type: 'interaction.handoff.completed', itemId, childId, agent, reason })
  // Not its task, nor the reports of its own children.
  for (const { clientId, parts, child } of unread)
    if (clientId !== `${childId}.input` && child === undefined)
      parent.note({ type: 'interaction.input.accepted', clientId, parts, mode: 'steer' })
}
