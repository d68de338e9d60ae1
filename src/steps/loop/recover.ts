import type { Usage } from '../../contracts/index.ts'
import {
  type AskingStep,
  type Call,
  type CallList,
  computeCost,
  indexOfCall,
  laneConflict,
  lostCallDiagnostic,
  lostCallRecord,
  lostReplyText,
  priceOf,
  type StartedCall,
} from '../../core/index.ts'
import type { ActiveSession } from '../session/active-session.ts'

// Settles what a crashed driver left open, from the journal alone.

export function recover(session: ActiveSession): void {
  const { step } = session.turn
  if (step.kind === 'asking') failLostAttempt(session, step)
  if (step.kind === 'calling')
    for (const call of step.calls) if (call.kind === 'started' && call.orphaned) recoverCall(session, step.calls, call)
}

/** Maximum charge for a lost reply. Its reservation may be the whole budget, and charging that would end the turn. */
const lostOutputTokens = 4_096

/** The provider may charge for the attempt. Its usage is unknown: its input and a usual reply are charged. */
function failLostAttempt(session: ActiveSession, { open, model, reservation }: AskingStep): void {
  for (const item of open) {
    session.note({ type: 'interaction.item.completed', itemId: item.id, item: { ...item, status: 'interrupted', text: '' } })
  }
  const { input } = reservation
  const output = Math.min(reservation.output, lostOutputTokens)
  const usage: Usage = { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0, estimated: true }
  const failure = { class: 'lost', message: lostReplyText } as const
  // The recorded price is known even if the model no longer exists.
  const price = session.state.prices[model]
  const cost = price ? priceOf(price, usage) : computeCost(session.ports.models.get(model), usage)
  session.note({ type: 'interaction.step.failed', failure, usage, cost, latencyMs: 0, delayMs: 0 })
}

/** `read`, `idempotent` and calls that cannot have begun run again under the same call id. The rest is `unknown`. */
function recoverCall(session: ActiveSession, calls: CallList<Call>, call: StartedCall): void {
  const { effect } = call.intent
  // The client has not heard of the call.
  const isForClient = call.intent.lane.kind === 'client'
  if (effect === 'read' || effect === 'idempotent' || isForClient || hasNotBegun(calls, call)) {
    session.note({
      type: 'interaction.item.updated',
      itemId: call.itemId,
      update: { kind: 'attempt', attempt: call.attempt + 1, reason: 'resumed' },
    })
    return
  }
  session.note({ type: 'interaction.item.completed', itemId: call.itemId, item: lostCallRecord(call.intent) })
  const { parent, agentPath } = session.state
  const place = parent ? `${agentPath} ${call.itemId}` : call.itemId
  session.note({ type: 'interaction.diagnostic', diagnostic: lostCallDiagnostic(call.intent.tool, place) })
}

/** A call starts only when every earlier call that conflicts with it has a durable result. */
function hasNotBegun(calls: CallList<Call>, call: StartedCall): boolean {
  const before = [...calls].slice(0, indexOfCall(calls, call.itemId))
  return before.some((each) => each.kind === 'started' && each.orphaned && laneConflict(each.intent.lane, call.intent.lane))
}
