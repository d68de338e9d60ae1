import {
  type ApprovalAnsweredError,
  type ApprovalDecision,
  type ApprovalRequest,
  answeredText,
  type GivenAnswer,
  type SessionService,
  TroupeError,
} from '../../contracts/index.ts'
import { decisionProblem } from '../../policy/grants.ts'
import { type Conversation, principalIdOf, shownName, type WaitingMessage, writerOf } from './conversation.ts'
import { isUnknownSession } from './router-core.ts'

type Answer = NonNullable<WaitingMessage['answer']>

interface AnswerOptions {
  readonly sessions: Pick<SessionService, 'approve' | 'requests'>
  isTrusted(extension: string): boolean
}

/** Why this person, or this channel, cannot decide so. */
export function refusalOf(
  { channel, ...more }: Conversation,
  message: WaitingMessage,
  { decision, isTrusted }: { readonly decision: ApprovalDecision } & Pick<AnswerOptions, 'isTrusted'>,
): string | undefined {
  if (decision.kind !== 'approve') return undefined
  if (!isTrusted(channel))
    // Code that nobody has read could answer for the person.
    return `The channel ${channel} is not trusted, so it cannot approve. Approve at the computer of the assistant: troupe approvals list. Or answer no.`
  return writerOf({ channel, ...more }, message).mayApprove === false
    ? 'You may not approve here. Somebody who may approve can answer the request. You can answer no.'
    : undefined
}

/** Answers a request of the conversation. A text: why that had no effect. The same answer of the same person again is given once. */
export async function giveAnswer(
  conversation: Conversation,
  message: WaitingMessage & { readonly answer: Answer },
  { sessions, isTrusted }: AnswerOptions,
): Promise<string | undefined> {
  const { approvalId, decision } = message.answer
  const refused = refusalOf(conversation, message, { decision, isTrusted })
  if (refused !== undefined) return refused
  const { sessionId } = conversation
  if (sessionId === undefined) return hasEnded
  const by = principalIdOf(conversation, writerOf(conversation, message))
  try {
    const open = (await sessions.requests(sessionId)).find(({ id }) => id === approvalId)
    const problem = open && problemOf(open, decision)
    if (problem !== undefined) return `Your answer was not given: ${problem}.`
    const { first } = await sessions.approve(sessionId, { approvalId, decision, by })
    return first && first.by !== by ? alreadyAnswered(conversation, first) : undefined
  } catch (error) {
    if (isUnknownSession(error)) return hasEnded
    if (!(error instanceof TroupeError)) throw error
    // Somebody answered it elsewhere.
    if (error.code === 'approval_answered') return alreadyAnswered(conversation, (error as ApprovalAnsweredError).first)
    if (error.code === 'approval_unknown') return hasEnded
    throw error
  }
}

/** A call without keys cannot be recognized later. */
function problemOf(request: ApprovalRequest, decision: ApprovalDecision): string | undefined {
  const isLasting = decision.kind === 'approve' && decision.breadth !== 'once'
  if (isLasting && request.scope !== 'question' && request.keys.length === 0) return 'this call can be approved once, not for later calls'
  return decisionProblem(request, decision)
}

const hasEnded = 'This request is not open any more: its task has ended, or belongs to another conversation. Your answer had no effect.'

const alreadyAnswered = (conversation: Conversation, { decision, by }: GivenAnswer): string =>
  `Already answered: ${answeredText({ decision, by: shownName(conversation, by) })}.`
