import type { CallRecord, TurnEnding } from '../../contracts/index.ts'
import {
  type Action,
  type Call,
  type CallList,
  callsNotBegun,
  lostCallRecord,
  type StartedCall,
  unfinishedCallRecord,
} from '../../core/index.ts'
import { type ActiveSession, performer } from '../../steps/index.ts'

export type ForcedEnding = Extract<TurnEnding, { status: 'failed' | 'interrupted' }>

type SkippedCall = Extract<Action, { kind: 'skip' }>['calls'][number]

export const interrupted: ForcedEnding = { status: 'interrupted', reason: 'interrupted' }

/**
 * Ends a turn that nobody will continue. Running calls are recorded with what is known of them; what a lost request reserved counts as
 * spent. Needs the loaded steps: a call was made, or the tree was resumed.
 */
export function endOpenTurn(session: ActiveSession, ending: ForcedEnding): void {
  const { step } = session.turn
  if (step.kind === 'asking') void performer.recover(session)
  if (step.kind === 'calling') endCalls(session, step.calls)
  // Not awaited: the next flush of the tree stores it.
  void performer.finish(session, ending)
}

function endCalls(session: ActiveSession, calls: CallList<Call>): void {
  const notBegun = callsNotBegun(calls)
  const skipped = calls.filter((call): call is SkippedCall => (call.kind === 'started' ? notBegun.has(call) : call.kind !== 'ended'))
  if (skipped.length > 0) void performer.skip(session, { kind: 'skip', calls: skipped, why: 'interrupt' })
  for (const call of calls)
    if (call.kind === 'started' && !notBegun.has(call))
      session.note({ type: 'interaction.item.completed', itemId: call.itemId, item: recordOf(call) })
}

const recordOf = ({ intent, orphaned }: StartedCall): CallRecord =>
  orphaned && intent.effect === 'write' ? lostCallRecord(intent) : unfinishedCallRecord(intent)
