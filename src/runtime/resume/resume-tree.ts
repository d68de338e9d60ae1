import { findCall } from '../../core/index.ts'
import type { ActiveSession, ToolRegistry } from '../../steps/index.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'
import type { ChildTracker } from '../children/child-tracker.ts'
import type { OpenSession } from '../children/open-sessions.ts'
import { endOpenTurn, interrupted } from '../tree/end-open-turn.ts'
import type { SessionFactory } from '../tree/sessions.ts'
import { summaryOnly } from '../tree/tree-state.ts'
import { definitionChanges, hasVoidGrants, withheldTools } from './definition-changes.ts'

/** Who drives from now on, and with what. */
interface ResumeContext {
  readonly parts: RuntimeParts
  readonly registry: ToolRegistry
  readonly epoch: number
}

/** Tells a session what has changed since its last driver; approvals that were given under another policy are void. */
export function resumeSession(session: ActiveSession, { parts, registry, epoch }: ResumeContext): void {
  const { state } = session
  session.withheld = new Set(withheldTools(parts, state, registry))
  const diagnostics = definitionChanges(parts, state, registry)
  const isVoid = hasVoidGrants(parts, state)
  if (state.turn.kind === 'open' || diagnostics.length > 0 || state.policy !== parts.policy)
    session.note({ type: 'interaction.session.resumed', epoch, policy: parts.policy, diagnostics })
  if (isVoid) session.note({ type: 'interaction.approval.revoked', keys: state.grants.map(({ key }) => key), by: 'runtime' })
}

/**
 * Takes up the children that the driver before left behind. Those that can go on rest until their calls come for them;
 * the others are ended, so that everybody above hears of them and pays for them.
 */
export function resumeChildren(tracker: ChildTracker, sessions: SessionFactory, context: ResumeContext): void {
  // All have their places before any of them is ended: whoever ends takes those below along.
  for (const open of restoreOpenChildren(tracker, sessions)) {
    if (open.stage === 'ended' || !open.session) continue
    resumeSession(open.session, context)
    if (!hasCall(open)) tracker.callEnded(open.sessionId)
  }
}

/** Puts those that were left open back into their places, and ends what has nobody above it any more. */
export function restoreOpenChildren(tracker: ChildTracker, sessions: SessionFactory): readonly OpenSession[] {
  const { inactive, settled, openSessions } = tracker
  const left: OpenSession[] = []
  for (const [childId, state] of [...inactive]) {
    const parent = state.parent && openSessions.get(state.parent.sessionId)
    if (parent && parent !== openSessions.root) parent.nextNumber(state.agent.name)
    // Between its end and the note of it, the driver before was lost.
    if (state.turn.kind === 'ended' && parent && !settled.has(childId)) tracker.settleEnded(state, parent)
    if (state.turn.kind !== 'open') continue
    inactive.delete(childId)
    if (parent) left.push(openSessions.addLeftOpen(sessions.createSession(state), parent))
    else endOrphan(sessions.createSession(state), tracker)
  }
  return left
}

/** Its parent has ended without it: there is nobody to tell. */
function endOrphan(session: ActiveSession, { inactive }: ChildTracker): void {
  endOpenTurn(session, interrupted)
  inactive.set(session.state.sessionId, summaryOnly(session.state))
}

/** Whether the call that started a child is still under way. */
function hasCall({ parent, session }: OpenSession): boolean {
  const turn = parent?.session?.state.turn
  const call = session?.state.parent
  if (turn?.kind !== 'open' || turn.id !== call?.turnId || turn.step.kind !== 'calling') return false
  return findCall(turn.step.calls, call.itemId)?.kind === 'started'
}
