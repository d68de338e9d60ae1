import { findCall } from '../../core/index.ts'
import type { ActiveSession, ToolRegistry } from '../../steps/index.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'
import type { Below } from '../children/child-tracker.ts'
import type { Branch } from '../children/open-session.ts'
import { breakOff, interrupted } from '../tree/end-open-turn.ts'
import type { Sessions } from '../tree/sessions.ts'
import { forSummary } from '../tree/tree-state.ts'
import { differences, hasVoidGrants, withheldTools } from './definition-changes.ts'

/** Who drives from now on, and with what. */
interface Driver {
  readonly parts: RuntimeParts
  readonly registry: ToolRegistry
  readonly epoch: number
}

/** Tells a session what has changed since its last driver; approvals that were given under another policy are void. */
export function takeUp(session: ActiveSession, { parts, registry, epoch }: Driver): void {
  const { state } = session
  session.withheld = new Set(withheldTools(parts, state, registry))
  const diagnostics = differences(parts, state, registry)
  const isVoid = hasVoidGrants(parts, state)
  if (state.turn.kind === 'open' || diagnostics.length > 0 || state.policy !== parts.policy)
    session.note({ type: 'interaction.session.resumed', epoch, policy: parts.policy, diagnostics })
  if (isVoid) session.note({ type: 'interaction.approval.revoked', keys: state.grants.map(({ key }) => key), by: 'runtime' })
}

/**
 * Takes up the children that the driver before left behind. Those that can go on rest until their calls come for them;
 * the others are ended, so that everybody above hears of them and pays for them.
 */
export function takeUpChildren(below: Below, sessions: Sessions, driver: Driver): void {
  // All have their places before any of them is ended: whoever ends takes those below along.
  for (const branch of putBack(below, sessions)) {
    if (branch.stage === 'over' || !branch.session) continue
    takeUp(branch.session, driver)
    if (!hasCall(branch)) below.callEnded(branch.sessionId)
  }
}

/** Puts those that were left open back into their places, and ends what has nobody above it any more. */
export function putBack(below: Below, sessions: Sessions): readonly Branch[] {
  const { atRest, settled, branches } = below
  const left: Branch[] = []
  for (const [childId, state] of [...atRest]) {
    const above = state.parent && branches.get(state.parent.sessionId)
    if (above && above !== branches.root) above.nextNumber(state.agent.name)
    // Between its end and the note of it, the driver before was lost.
    if (state.turn.kind === 'ended' && above && !settled.has(childId)) below.settleEnded(state, above)
    if (state.turn.kind !== 'open') continue
    atRest.delete(childId)
    if (above) left.push(branches.rest(sessions.session(state), above))
    else endOrphan(sessions.session(state), below)
  }
  return left
}

/** Its parent has ended without it: there is nobody to tell. */
function endOrphan(session: ActiveSession, { atRest }: Below): void {
  breakOff(session, interrupted)
  atRest.set(session.state.sessionId, forSummary(session.state))
}

/** Whether the call that started a child is still under way. */
function hasCall({ above, session }: Branch): boolean {
  const turn = above?.session?.state.turn
  const parent = session?.state.parent
  if (turn?.kind !== 'open' || turn.id !== parent?.turnId || turn.step.kind !== 'calling') return false
  return findCall(turn.step.calls, parent.itemId)?.kind === 'started'
}
