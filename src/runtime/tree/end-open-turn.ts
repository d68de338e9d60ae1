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
 * Ends a turn that nobody will drive on, at once. What is under way is put on record as far as it is known; where it is
 * not, what was set aside counts as spent. Steps are at hand by then: somebody has made a call, or the tree was taken up.
 */
export function endOpenTurn(session: ActiveSession, ending: ForcedEnding): void {
  const { step } = session.turn
  if (step.kind === 'asking') void performer.recover(session)
  if (step.kind === 'calling') endCalls(session, step.calls)
  // Whoever waits for the tree waits for this to be durable, too.
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
