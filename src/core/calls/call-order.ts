import type { ApprovalRequest, CallIntent, Lane } from '../../contracts/index.ts'
import { LaneSet } from './lane-conflicts.ts'

// Calls of a step start in order: a call never overtakes an earlier one that it conflicts with, even while that one waits
// for a person. The recorded lanes decide.

/** A call whose intent is on record. */
export interface CallStarted {
  readonly kind: 'started'
  readonly intent: CallIntent
  readonly attempt: number
  readonly sandbox: SandboxStage
  /** Its driver is gone, and it may have begun. */
  readonly orphaned: boolean
  /** Its driver is gone, and it has not begun. */
  readonly inherited?: true
}

/** Whether a started call runs inside or outside the sandbox, or waits for permission to run outside. */
export type SandboxStage = { readonly kind: 'inside' } | { readonly kind: 'outside' } | EscalationStage

/** The sandbox stopped the first attempt. A person is asked to allow a second one outside, or has decided. */
export interface EscalationStage {
  readonly kind: 'asking' | 'allowed' | 'refused'
  readonly request: ApprovalRequest
  /** Of the person who refused. */
  readonly feedback?: string
}

export function escalationStage({ sandbox }: { readonly sandbox: SandboxStage }): EscalationStage | undefined {
  return sandbox.kind === 'inside' || sandbox.kind === 'outside' ? undefined : sandbox
}

type OrderedCall =
  | { readonly kind: 'requested' | 'ended' }
  | { readonly kind: 'awaiting' | 'approved' | 'denied'; readonly request: { readonly lane?: Lane } }
  | CallStarted

const exclusive: Lane = { kind: 'exclusive' }

/** Started calls that must not run yet. A request without a lane is from an older version, and exclusive. */
export const heldCalls = <C extends OrderedCall>(calls: Iterable<C>): ReadonlySet<C> => callsBehindOthers(calls, exclusive)

/** Started calls that cannot have begun. Older versions held no calls back behind a request without a lane. */
export const callsNotBegun = <C extends OrderedCall>(calls: Iterable<C>): ReadonlySet<C> => callsBehindOthers(calls, undefined)

/** Started calls that neither wait for a person nor conflict with an earlier call that does. */
export function runnableCalls<C extends OrderedCall>(calls: Iterable<C>): readonly Extract<C, CallStarted>[] {
  const held = heldCalls(calls)
  const isFree = (call: C): call is Extract<C, CallStarted> => call.kind === 'started' && call.sandbox.kind !== 'asking' && !held.has(call)
  return [...calls].filter(isFree)
}

/** The calls after their driver is gone. A call between two attempts, or one that has not begun, has lost nothing. */
export function markOrphaned<C extends OrderedCall>(calls: Iterable<C>): readonly C[] {
  const notBegun = callsNotBegun(calls)
  return [...calls].map((call) => {
    if (call.kind !== 'started' || escalationStage(call)) return call
    return notBegun.has(call) ? { ...call, inherited: true } : { ...call, orphaned: true }
  })
}

function callsBehindOthers<C extends OrderedCall>(calls: Iterable<C>, unrecorded: Lane | undefined): ReadonlySet<C> {
  const behind = new Set<C>()
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
function laneOfWaiting(call: OrderedCall, unrecorded: Lane | undefined): Lane | undefined {
  switch (call.kind) {
    case 'awaiting':
    case 'approved':
    case 'denied':
      return call.request.lane ?? unrecorded
    case 'started':
      return escalationStage(call) && call.intent.lane
    case 'requested':
    case 'ended':
      return undefined
    default:
      return call satisfies never
  }
}
