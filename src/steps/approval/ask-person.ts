import type {
  ApprovalDecision,
  ApprovalKey,
  ApprovalRequest,
  JsonObject,
  Question,
  QuestionAnswer,
  ToolFailure,
  ToolQuestions,
} from '../../contracts/index.ts'
import { approvalIdOf, callIdOf, findCall, openRequests, type StartedCall } from '../../core/index.ts'
import { type AskRound, answerOf, nextQuestion } from '../../policy/call-questions.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { submitOpenRequests } from './approval-decisions.ts'

// Requests of calls that have started.

export async function addRequest(session: ActiveSession, request: ApprovalRequest): Promise<void> {
  session.note({ type: 'interaction.approval.requested', itemId: request.itemId, request })
  await submitOpenRequests(session)
}

/** Waits until the request is decided. `suspended`: the approver defers it. An interrupt denies it, as does `isWithdrawn`. */
export async function waitForDecision(
  session: ActiveSession,
  { id: approvalId, itemId, scope }: ApprovalRequest,
  isWithdrawn: () => boolean = never,
): Promise<'decided' | 'suspended'> {
  while (openRequests(session.state).some(({ id }) => id === approvalId)) {
    if (isCancelled(session) || isWithdrawn()) {
      const decision: ApprovalDecision = {
        kind: 'deny',
        feedback: 'nobody answered',
        ...((scope === 'question' || scope === 'client') && { cancel: true }),
      }
      session.note({ type: 'interaction.approval.resolved', itemId, approvalId, decision, by: 'runtime' })
    } else if (session.verdicts.get(approvalId) === 'suspend') return 'suspended'
    else await session.nextWake()
  }
  return 'decided'
}

const never = (): boolean => false
const isCancelled = ({ interrupt, turn }: ActiveSession): boolean => interrupt.reason !== undefined || turn.cancel !== 'no'

/** The call as it is now; `undefined` if it has ended. */
function currentCall({ state: { turn } }: ActiveSession, { itemId }: StartedCall): StartedCall | undefined {
  const call = turn.kind === 'open' && turn.step.kind === 'calling' ? findCall(turn.step.calls, itemId) : undefined
  return call?.kind === 'started' ? call : undefined
}

type Asked =
  | { readonly scope: 'question' | 'client'; readonly question: Question }
  | { readonly scope: 'sampling'; readonly summary: string; readonly keys: readonly ApprovalKey[]; readonly input: JsonObject }

function requestFor({ state: { sessionId, agentPath } }: ActiveSession, call: StartedCall, asked: Asked): ApprovalRequest {
  const { itemId, intent, questions } = call
  const { scope } = asked
  const id = approvalIdOf(callIdOf(sessionId, itemId), `${scope}-${(questions?.asked ?? 0) + 1}`)
  const about = { id, itemId, agentPath, tool: intent.tool, input: intent.input, lane: intent.lane }
  if (asked.scope === 'sampling') return { ...about, ...asked }
  const { question } = asked
  return { ...about, scope, summary: question.text, keys: [], ...(scope === 'question' && { question }) }
}

/** Maximum number of requests of one call while it runs: a server that asks in a loop must not fill the journal, or tire the person. */
const maxLiveRequests = 50

/** Asks while the call runs. Nobody there means that the request is denied. `undefined`: the call or its session is over, or it asked too often. */
export async function askWhileRunning(
  session: ActiveSession,
  started: StartedCall,
  { asked, isWithdrawn }: { readonly asked: Asked; readonly isWithdrawn: () => boolean },
): Promise<ApprovalDecision | undefined> {
  const call = currentCall(session, started)
  if (!call || session.isReleased || isCancelled(session) || isWithdrawn()) return undefined
  if ((call.questions?.asked ?? 0) >= maxLiveRequests) return undefined
  const request: ApprovalRequest = { ...requestFor(session, call, asked), isLive: true }
  await addRequest(session, request)
  const isOver = (): boolean => isWithdrawn() || session.verdicts.get(request.id) === 'suspend'
  // A released session leaves the request behind, and the call becomes unknown.
  await waitForDecision(session, request, () => !session.isReleased && isOver())
  const decided = currentCall(session, started)?.questions?.decided
  return decided?.approvalId === request.id ? decided.decision : undefined
}

const maxRounds = 10

/** `again`: the next attempt is on record, with the answers. `waiting`: a question stays open for a later driver. */
type RoundResult =
  | { readonly kind: 'again'; readonly call: StartedCall }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'over'; readonly error: ToolFailure }

/** Asks the questions that an attempt returned, or those that an earlier driver left. Each is durable before a person is asked. */
export async function askBetweenAttempts(session: ActiveSession, started: StartedCall, ask: ToolQuestions): Promise<RoundResult> {
  const { itemId, questions } = started
  if (questions?.round?.isOver !== false) {
    if ((questions?.round?.number ?? 0) >= maxRounds) return { kind: 'over', error: tooManyRounds(started.intent.tool) }
    session.note({ type: 'interaction.item.updated', itemId, update: { kind: 'asked', ask } })
  }
  for (;;) {
    const call = currentCall(session, started)
    const round = call?.questions?.round
    if (!call || !round || isCancelled(session)) return { kind: 'over', error: notAnswered(started.intent.tool) }
    const request = call.questions?.open ?? questionRequest(session, call, round)
    if (!request) {
      const attempt = call.attempt + 1
      session.note({ type: 'interaction.item.updated', itemId, update: { kind: 'attempt', attempt, reason: 'answered' } })
      await session.flush()
      return { kind: 'again', call: currentCall(session, started) ?? call }
    }
    if (!call.questions?.open) await addRequest(session, request)
    if ((await waitForDecision(session, request)) === 'suspended') return { kind: 'waiting' }
  }
}

function questionRequest(session: ActiveSession, call: StartedCall, round: AskRound): ApprovalRequest | undefined {
  const [, question] = nextQuestion(round) ?? []
  return question && requestFor(session, call, { scope: call.intent.lane.kind === 'client' ? 'client' : 'question', question })
}

const tooManyRounds = (tool: string): ToolFailure => ({
  class: 'failed',
  message: `"${tool}" asked questions more than ${maxRounds} times in one call.`,
})
const notAnswered = (tool: string): ToolFailure => ({
  class: 'cancelled',
  message: `"${tool}" asked a question, and the turn ended before it was answered.`,
})

export const answerFrom = (decision: ApprovalDecision | undefined): QuestionAnswer => (decision ? answerOf(decision) : { kind: 'cancel' })
