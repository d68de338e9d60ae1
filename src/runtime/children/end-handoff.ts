import type { HandoffReason } from '../../contracts/index.ts'
import type { SessionState, SpawnedChild } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'

/** Records that a child no longer talks to the person. Messages that it has not read go to its parent, in the same batch. */
export function endHandoff(
  parent: ActiveSession,
  { childId, itemId, agent, handoff, isRecalled }: SpawnedChild,
  { reason, child }: { readonly reason: HandoffReason; readonly child: SessionState | undefined },
): void {
  if (handoff !== 'open') return
  const message = isRecalled ? undefined : child?.message
  parent.note({ type: 'interaction.handoff.completed', itemId, childId, agent, reason, ...(message !== undefined && { message }) })
  // Not its task, nor the reports of its own children.
  for (const { clientId, parts, child: reporter } of child?.inputs ?? [])
    if (clientId !== `${childId}.input` && reporter === undefined)
      parent.note({ type: 'interaction.input.accepted', clientId, parts, mode: 'steer' })
}
