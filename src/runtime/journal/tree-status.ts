import type { TreeSummary } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'

export const summaryOf = (state: SessionState, { title, openRequests }: Pick<TreeSummary, 'title' | 'openRequests'>): TreeSummary => ({
  agent: state.agent.displayName ?? state.agent.name,
  title,
  status: statusOf(state),
  openRequests,
})

export function statusOf({ turn }: SessionState): TreeSummary['status'] {
  if (turn.kind === 'ended') return turn.ending.status
  return turn.kind === 'open' && turn.waiting.kind === 'suspended' ? 'suspended' : 'running'
}
