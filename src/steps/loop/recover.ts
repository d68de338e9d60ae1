import type { Usage } from '../../contracts/index.ts'
import {
  type AskingStep,
  type Call,
  type CallList,
  computeCost,
  indexOfCall,
  laneConflict,
  type StartedCall,
  unknownResult,
} from '../../core/index.ts'
import type { ActiveSession } from './active-session.ts'

// What a dead driver left open is settled from the journal alone.

export function recover(session: ActiveSession): void {
  const { step } = session.turn
  if (step.kind === 'asking') failLostAttempt(session, step)
  if (step.kind === 'calling')
    for (const call of step.calls) if (call.kind === 'started' && call.orphaned) recoverCall(session, step.calls, call)
}

/** What a lost reply is charged with, at most. A reply may have been granted the whole budget; charging all of it would end the turn. */
const lostOutputTokens = 4_096

/** The attempt may have been answered and paid for. Nobody knows what it used: its input and a usual reply are charged. */
function failLostAttempt(session: ActiveSession, { open, model, reservation }: AskingStep): void {
  for (const item of open) {
    session.note({ type: 'interaction.item.completed', itemId: item.id, item: { ...item, status: 'interrupted', text: '' } })
  }
  const { input } = reservation
  const output = Math.min(reservation.output, lostOutputTokens)
  const usage: Usage = { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0, estimated: true }
  const failure = { class: 'lost', message: 'The process that asked the model ended before the reply was recorded.' } as const
  // The price under which it was reserved is known even where the model is gone.
  const price = session.state.prices[model]
  const cost = price ? input * price.input + output * price.output : computeCost(session.ports.models.get(model), usage)
  session.note({ type: 'interaction.step.failed', failure, usage, cost, latencyMs: 0, delayMs: 0 })
}

/** `read` and `idempotent` run again under the same call id; so does what cannot have begun. The rest is unknown. */
function recoverCall(session: ActiveSession, calls: CallList<Call>, call: StartedCall): void {
  const { effect } = call.intent
  if (effect === 'read' || effect === 'idempotent' || hasNotBegun(calls, call)) {
    session.note({
      type: 'interaction.item.updated',
      itemId: call.itemId,
      update: { kind: 'attempt', attempt: call.attempt + 1, reason: 'resumed' },
    })
    return
  }
  session.note({ type: 'interaction.item.completed', itemId: call.itemId, item: unknownResult(call.intent) })
  const { parent, agentPath } = session.state
  const place = parent ? `${agentPath} ${call.itemId}` : call.itemId
  const diagnostic = {
    code: 'call_unknown',
    severity: 'warning',
    message: `It is not known whether ${call.intent.tool} (${place}) ran before the process ended.`,
    remedy: 'Check whether it took effect; it was not run again.',
  } as const
  session.note({ type: 'interaction.diagnostic', diagnostic })
}

/** A call starts only when every earlier one in its way has a durable result. */
function hasNotBegun(calls: CallList<Call>, call: StartedCall): boolean {
  const before = [...calls].slice(0, indexOfCall(calls, call.itemId))
  return before.some((each) => each.kind === 'started' && each.orphaned && laneConflict(each.intent.lane, call.intent.lane))
}
