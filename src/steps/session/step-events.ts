import {
  type CallIntent,
  type CallRecord,
  type Cost,
  type Envelope,
  type FinishReason,
  type InteractionEvent,
  lastStepInstruction,
  type Model,
  type RecordedOffer,
  type ReplyRef,
  type StepId,
  type TextIntent,
  type TextRecord,
  type Usage,
} from '../../contracts/index.ts'
import type { AskAction } from '../../core/index.ts'
import { turnEndTexts } from '../../policy/limit-texts.ts'
import type { ActiveSession } from './active-session.ts'

// The events that every step has, as object literals: twenty times as fast as a spread. `moment`: of the monotonic clock.

type Here = Envelope & Required<Pick<Envelope, 'turnId' | 'stepId'>>

export function stepStarted(
  session: ActiveSession,
  stepId: StepId,
  { action, model, moment, offer }: { action: AskAction; model: Model; moment: number; offer: RecordedOffer | undefined },
): InteractionEvent {
  const { seq, treeId, sessionId, agentPath, turnId, at } = session.nextEnvelope(moment) as Here
  const { attempt, reservation, absorbs, last, compacts, probes } = action
  const started = {
    type: 'interaction.step.started',
    seq,
    treeId,
    sessionId,
    agentPath,
    turnId,
    stepId,
    at,
    model: action.model,
    modelId: model.id,
    attempt,
    reservation,
    absorbs,
  } as const
  const offered = offer ? { ...started, offer } : started
  if (last === undefined) return compacts || probes ? { ...offered, ...(compacts && { compacts }), ...(probes && { probes }) } : offered
  return {
    ...offered,
    ...(probes && { probes }),
    last: { reason: last, notice: `${turnEndTexts[last].notice} ${lastStepInstruction}` },
  }
}

interface Completed {
  readonly reply: readonly ReplyRef[]
  readonly finish: FinishReason
  readonly usage: Usage
  readonly cost: Cost
  readonly latencyMs: number
  readonly firstTokenMs?: number | undefined
  readonly moment?: number
}

export function stepCompleted(
  session: ActiveSession,
  { reply, finish, usage, cost, latencyMs, firstTokenMs, moment }: Completed,
): InteractionEvent<'interaction.step.completed'> {
  const { seq, treeId, sessionId, agentPath, turnId, stepId, at } = session.nextEnvelope(moment) as Here
  const type = 'interaction.step.completed'
  if (firstTokenMs === undefined)
    return { type, seq, treeId, sessionId, agentPath, turnId, stepId, at, reply, finish, usage, cost, latencyMs }
  return { type, seq, treeId, sessionId, agentPath, turnId, stepId, at, reply, finish, usage, cost, latencyMs, firstTokenMs }
}

export function itemStarted(session: ActiveSession, item: CallIntent | TextIntent): InteractionEvent {
  const { seq, treeId, sessionId, agentPath, turnId, stepId, at } = session.nextEnvelope() as Here
  return { type: 'interaction.item.started', seq, treeId, sessionId, agentPath, turnId, stepId, at, itemId: item.id, item }
}

export function itemEnded(session: ActiveSession, item: CallRecord | TextRecord, moment?: number): InteractionEvent {
  const { seq, treeId, sessionId, agentPath, turnId, stepId, at } = session.nextEnvelope(moment) as Here
  return { type: 'interaction.item.completed', seq, treeId, sessionId, agentPath, turnId, stepId, at, itemId: item.id, item }
}
