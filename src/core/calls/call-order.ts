import type { Lane } from '../../contracts/index.ts'
import { withoutOpenQuestion } from '../../policy/call-questions.ts'
import { type Call, isBetweenAttempts, requestOf, type StartedCall } from '../state/state.ts'
import { LaneSet } from './lane-conflicts.ts'

// Calls of a step start in order: a call never overtakes an earlier one that it conflicts with, even while that one waits
// for a person. The recorded lanes decide.

const exclusive: Lane = { kind: 'exclusive' }

/** Started calls that must not run yet. A request without a lane is from an older version, and exclusive. */
export const heldCalls = (calls: Iterable<Call>): ReadonlySet<Call> => callsBehindOthers(calls, exclusive)

/** Started calls that cannot have begun. Older versions held no calls back behind a request without a lane. */
export const callsNotBegun = (calls: Iterable<Call>): ReadonlySet<Call> => callsBehindOthers(calls, undefined)

/** Started calls that neither wait for a person nor conflict with an earlier call that does. */
export function runnableCalls(calls: Iterable<Call>): readonly StartedCall[] {
  const held = heldCalls(calls)
  const isFree = (call: Call): call is StartedCall => call.kind === 'started' && requestOf(call) === undefined && !held.has(call)
  return [...calls].filter(isFree)
}

/** The calls after their driver is gone. A call between two attempts, or one that has not begun, has lost nothing. */
export function markOrphaned(calls: Iterable<Call>): readonly Call[] {
  const notBegun = callsNotBegun(calls)
  return [...calls].map((call) => {
    if (call.kind !== 'started' || isBetweenAttempts(call)) return call
    return notBegun.has(call) ? { ...call, inherited: true } : { ...call, ...withoutOpenQuestion(call), orphaned: true }
  })
}

function callsBehindOthers(calls: Iterable<Call>, unrecorded: Lane | undefined): ReadonlySet<Call> {
  const behind = new Set<Call>()
  const before = new LaneSet()
  for (const call of calls) {
    const lane = laneOfWaiting(call, unrecorded)
    if (lane) before.add(lane)
    else if (call.kind === 'started' && before.conflictsWith(call.intent.lane)) {
      behind.add(call)
      before.add(call.intent.lane)
    }
  }
  return behind
}

/** The lane of a call that waits for a decision, or whose decision has not been applied yet. */
function laneOfWaiting(call: Call, unrecorded: Lane | undefined): Lane | undefined {
  switch (call.kind) {
    case 'awaiting':
    case 'approved':
    case 'denied':
      return call.request.lane ?? unrecorded
    case 'started':
      return isBetweenAttempts(call) ? call.intent.lane : undefined
    case 'requested':
    case 'ended':
      return undefined
    default:
      return call satisfies never
  }
}
