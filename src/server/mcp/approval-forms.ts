import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import type { ApprovalDecision, ApprovalRequest, JsonObject } from '../../contracts/index.ts'

// Requests of a session as forms that MCP clients show to people.

export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: { readonly [field: string]: unknown } | undefined
}

/** `dismissed`: the person did not decide; the request stays open. `invalid`: the client did not follow the form. */
export type Decided =
  | { readonly kind: 'decision'; readonly decision: ApprovalDecision }
  | { readonly kind: 'dismissed' }
  | { readonly kind: 'invalid' }

// Plain values: older clients show no titles of choices.
const decisions = { once: 'approve once', session: 'approve for the session', deny: 'deny' } as const

const approvalForm = {
  type: 'object',
  properties: {
    decision: { type: 'string', title: 'Decision', enum: Object.values(decisions) },
    feedback: { type: 'string', title: 'Feedback', description: 'For a denial: what the agent should do instead.' },
  },
  required: ['decision'],
} as const

const answerForm = (options: readonly string[] = []): object => ({
  type: 'object',
  properties: {
    answer: { type: 'string', title: 'Answer', ...(options.length > 0 && { description: `For example: ${options.join(', ')}` }) },
  },
  required: ['answer'],
})

export function formFor(request: ApprovalRequest): ElicitRequestFormParams {
  const { question } = request
  const message = messageFor(request)
  if (!question) return { message, requestedSchema: approvalForm as unknown as ElicitRequestFormParams['requestedSchema'] }
  const form = question.form ?? (question.url === undefined ? answerForm(question.options) : { type: 'object', properties: {} })
  return { message, requestedSchema: form as ElicitRequestFormParams['requestedSchema'] }
}

const maxDetailChars = 4_000
const shortened = (text: string): string => (text.length > maxDetailChars ? `${text.slice(0, maxDetailChars)}…` : text)

function messageFor({ summary, reason, agentPath, tool, input, diff, question, scope }: ApprovalRequest): string {
  if (question) return [`${question.from ?? tool} asks: ${question.text}`, ...(question.url === undefined ? [] : [question.url])].join('\n')
  const lines = [
    `Approve: ${summary}`,
    ...(scope === 'unsandboxed' ? ['It would run outside the sandbox.'] : []),
    ...(reason === undefined ? [] : [`Reason: ${reason}`]),
    `Agent: ${agentPath}`,
    `Tool: ${tool}`,
    shortened(diff ?? `Arguments: ${JSON.stringify(input)}`),
  ]
  return lines.join('\n')
}

export function decisionOf({ question }: ApprovalRequest, { action, content = {} }: ElicitationAnswer): Decided {
  if (action === 'cancel') return { kind: 'dismissed' }
  if (action === 'decline') return { kind: 'decision', decision: { kind: 'deny' } }
  if (question?.form) return answered(JSON.stringify(content), content as JsonObject)
  if (question?.url !== undefined) return answered('done')
  if (question) return typeof content.answer === 'string' ? answered(content.answer) : { kind: 'invalid' }
  const { decision, feedback } = content
  if (decision === decisions.once || decision === decisions.session)
    return { kind: 'decision', decision: { kind: 'approve', breadth: decision === decisions.once ? 'once' : 'session' } }
  if (decision !== decisions.deny) return { kind: 'invalid' }
  const hasFeedback = typeof feedback === 'string' && feedback.trim() !== ''
  return { kind: 'decision', decision: { kind: 'deny', ...(hasFeedback && { feedback }) } }
}

const answered = (text: string, content?: JsonObject): Decided => ({
  kind: 'decision',
  decision: { kind: 'answer', text, ...(content && { content }) },
})
