import { openRequests } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'

/** Records in every open turn that it is suspended, with the open approvals of the tree. `waiting`: sessions that wait for a decision. */
export function suspendTurns(active: readonly ActiveSession[], waiting: readonly ActiveSession[]): void {
  const open = waiting.flatMap(({ state }) => openRequests(state))
  const approvals = open.filter(({ scope }) => scope !== 'client').map(({ id }) => id)
  const reason = approvals.length > 0 ? 'approval' : open.length > 0 ? 'client' : 'input'
  for (const session of active) {
    const { turn } = session.state
    if (turn.kind === 'open' && turn.waiting.kind !== 'suspended') session.note({ type: 'interaction.turn.suspended', reason, approvals })
  }
}
