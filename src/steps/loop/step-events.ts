import type {
  CallIntent,
  CallRecord,
  Cost,
  Envelope,
  FinishReason,
  InteractionEvent,
  Model,
  ReplyRef,
  StepId,
  TextIntent,
  TextRecord,
  Usage,
} from '../../contracts/index.ts'
import type { AskAction } from '../../core/index.ts'
import type { ActiveSession } from './active-session.ts'

// `moment`: of the monotonic clock, for whoever has read it just now; there are very many of these.
//
// The four events that every step has. They are spelled out: an object that is written down in one go is built twenty
// times as fast as one that begins with a spread and grows from there.

/** Inside of a turn, and of a step. */
type Here = Envelope & Required<Pick<Envelope, 'turnId' | 'stepId'>>

export function stepStarted(
  session: ActiveSession,
  stepId: StepId,
  { action, model, moment }: { action: AskAction; model: Model; moment: number },
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
  if (last === undefined) return compacts || probes ? { ...started, ...(compacts && { compacts }), ...(probes && { probes }) } : started
  return {
    ...started,
    ...(probes && { probes }),
    last: { reason: last, notice: `${notices[last]}. Answer now with what you have; tools are switched off.` },
  }
}

const notices = {
  cost: 'The money for this turn is used up',
  steps: 'No further steps are allowed in this turn',
  tokens: 'The token budget of this turn is used up',
  time: 'The time budget of this turn is used up',
  calls: 'No further tool calls are allowed in this turn',
  context: 'There is no room left for more in this conversation',
  repeats: 'The same call was made over and over',
  stopped: 'The person asked to stop here',
} as const

interface Completed {
  readonly reply: readonly ReplyRef[]
  readonly finish: FinishReason
  readonly usage: Usage
  readonly cost: Cost
  readonly latencyMs: number
  readonly moment?: number
}

export function stepCompleted(
  session: ActiveSession,
  { reply, finish, usage, cost, latencyMs, moment }: Completed,
): InteractionEvent<'interaction.step.completed'> {
  const { seq, treeId, sessionId, agentPath, turnId, stepId, at } = session.nextEnvelope(moment) as Here
  const type = 'interaction.step.completed'
  return { type, seq, treeId, sessionId, agentPath, turnId, stepId, at, reply, finish, usage, cost, latencyMs }
}

export function itemStarted(session: ActiveSession, item: CallIntent | TextIntent): InteractionEvent {
  const { seq, treeId, sessionId, agentPath, turnId, stepId, at } = session.nextEnvelope() as Here
  return { type: 'interaction.item.started', seq, treeId, sessionId, agentPath, turnId, stepId, at, itemId: item.id, item }
}

export function itemEnded(session: ActiveSession, item: CallRecord | TextRecord, moment?: number): InteractionEvent {
  const { seq, treeId, sessionId, agentPath, turnId, stepId, at } = session.nextEnvelope(moment) as Here
  return { type: 'interaction.item.completed', seq, treeId, sessionId, agentPath, turnId, stepId, at, itemId: item.id, item }
}
