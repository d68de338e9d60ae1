import { findCall } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import type { OpenSession } from '../budgets/open-sessions.ts'
import { definitionChanges, hasVoidGrants, withheldTools } from '../changes/definition-changes.ts'
import type { ChildTracker } from '../children/child-tracker.ts'
import { endOpenTurn, interrupted } from '../children/end-open-turn.ts'
import { isSpawnedIn, summaryOnly } from '../journal/tree-state.ts'
import type { Tree } from './tree.ts'

interface Resumption {
  readonly epoch: number
  /** When the last driver recorded something last. */
  readonly stoppedAt: number
}

/** Records what has changed since the last driver, and revokes approvals that were given under another policy. */
export function resumeSession(session: ActiveSession, { parts, isPinned }: Tree, { epoch, stoppedAt }: Resumption): void {
  const { state, ports } = session
  const { registry } = ports
  session.withheld = new Set(withheldTools(parts, state, registry))
  const diagnostics = definitionChanges(parts, state, { registry, isPinned })
  const isVoid = hasVoidGrants(parts, state)
  if (state.turn.kind === 'open' || diagnostics.length > 0 || state.policy !== parts.policy)
    session.note({ type: 'interaction.session.resumed', epoch, policy: parts.policy, diagnostics, stoppedAt })
  if (isVoid) session.note({ type: 'interaction.approval.revoked', keys: state.grants.map(({ key }) => key), by: 'runtime' })
}

/** Open children whose call still runs wait for it, and spawned ones continue; the others are ended, so that ancestors count what they spent. */
export function resumeChildren(tracker: ChildTracker, tree: Tree, resumption: Resumption): void {
  // All are restored before any is ended: ending one ends its descendants.
  for (const open of restoreOpenChildren(tracker, tree)) {
    if (open.stage === 'ended' || !open.session) continue
    resumeSession(open.session, tree, resumption)
    if (!hasCall(open)) tracker.callEnded(open.sessionId)
  }
}

/** Adds the open children to the tracker, and ends those whose parent has ended. */
export function restoreOpenChildren(tracker: ChildTracker, tree: Tree): readonly OpenSession[] {
  const { inactive, settled, openSessions } = tracker
  const left: OpenSession[] = []
  for (const [childId, state] of [...inactive]) {
    const parent = state.parent && openSessions.get(state.parent.sessionId)
    if (parent && parent !== openSessions.root) parent.nextNumber(state.agent.name)
    // The last driver died between the end of the child and its record in the parent.
    if (state.turn.kind === 'ended' && parent && !settled.has(childId)) tracker.settleEnded(state, parent)
    if (state.turn.kind !== 'open') continue
    inactive.delete(childId)
    if (parent) left.push(openSessions.addLeftOpen(tree.createSession(state), parent))
    else endOrphan(tree.createSession(state), tracker)
  }
  return left
}

function endOrphan(session: ActiveSession, tracker: ChildTracker): void {
  const { turn } = session.state
  // They are orphans, too.
  if (turn.kind === 'open')
    for (const child of turn.spawned) {
      const { childId, itemId, agent } = child
      tracker.endHandoff(session, child, 'ended')
      session.note({ type: 'interaction.subagent.closed', itemId, childId, agent })
    }
  endOpenTurn(session, interrupted)
  tracker.inactive.set(session.state.sessionId, summaryOnly(session.state))
}

/** Whether a child is spawned, or the call that started it is still running. */
function hasCall({ parent, session, sessionId }: OpenSession): boolean {
  const turn = parent?.session?.state.turn
  const call = session?.state.parent
  if (turn?.kind !== 'open' || turn.id !== call?.turnId) return false
  if (isSpawnedIn(turn, sessionId)) return true
  if (turn.step.kind !== 'calling') return false
  return findCall(turn.step.calls, call.itemId)?.kind === 'started'
}
