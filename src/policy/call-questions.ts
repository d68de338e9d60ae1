import type { ApprovalDecision, ApprovalId, ApprovalRequest, Json, Question, QuestionAnswer, ToolQuestions } from '../contracts/index.ts'

// What a started call asks a person: while it runs, or between two attempts (a round).

export interface CallQuestions {
  /** How many, over all attempts. */
  readonly asked: number
  readonly open?: ApprovalRequest
  /** The last decision. */
  readonly decided?: { readonly approvalId: ApprovalId; readonly decision: ApprovalDecision }
  readonly round?: AskRound
}

/** Questions that an attempt returned. They are asked one after the other. */
export interface AskRound {
  readonly number: number
  readonly ask: ToolQuestions
  readonly answers: { readonly [id: string]: QuestionAnswer }
  /** The attempt that gets the answers is on record. */
  readonly isOver: boolean
}

const none: CallQuestions = { asked: 0 }

export function withRound(questions: CallQuestions = none, ask: ToolQuestions): CallQuestions {
  return { ...questions, round: { number: (questions.round?.number ?? 0) + 1, ask, answers: {}, isOver: false } }
}

export function withOpenQuestion({ asked, round }: CallQuestions = none, open: ApprovalRequest): CallQuestions {
  return { asked: asked + 1, open, ...(round && { round }) }
}

export function withDecision({ asked, round }: CallQuestions, approvalId: ApprovalId, decision: ApprovalDecision): CallQuestions {
  const decided = { approvalId, decision }
  const [id] = (round && nextQuestion(round)) ?? []
  if (!round || id === undefined) return { asked, decided, ...(round && { round }) }
  return { asked, decided, round: { ...round, answers: { ...round.answers, [id]: answerOf(decision) } } }
}

/** The process of the call is gone, and with it the question that it was asking. */
export function withoutOpenQuestion({ questions }: { readonly questions?: CallQuestions }): { readonly questions?: CallQuestions } {
  if (!questions?.open) return {}
  const { open: _, ...left } = questions
  return { questions: left }
}

/** A further attempt begins. A question that was open while the attempt before it ran is lost. */
export function withNextAttempt({ asked, round }: CallQuestions): CallQuestions {
  return { asked, ...(round && { round: { ...round, isOver: true } }) }
}

/** The first question of an unfinished round without an answer. */
export function nextQuestion({ ask: { questions }, answers, isOver }: AskRound): readonly [id: string, question: Question] | undefined {
  return isOver ? undefined : Object.entries(questions).find(([id]) => !Object.hasOwn(answers, id))
}

export function answerOf(decision: ApprovalDecision): QuestionAnswer {
  switch (decision.kind) {
    case 'answer': {
      const { text, content } = decision
      return content === undefined ? { kind: 'accept', text } : { kind: 'accept', text, content }
    }
    // The tool that asked reads the fields.
    case 'result': {
      const { content, ok, parts } = decision
      return { kind: 'accept', text: content, content: { ok, ...(parts && { parts: parts as unknown as Json }) } }
    }
    case 'deny':
      return { kind: decision.cancel ? 'cancel' : 'decline' }
    case 'approve':
    case 'abort':
      return { kind: 'cancel' }
    default:
      return decision satisfies never
  }
}
