import {
  type AccountingEntry,
  type AgentResult,
  addSpent,
  type ChildResult,
  noUsage,
  type Outcome,
  type Spent,
  type ToolFailure,
  type ToolFailureClass,
  type ToolOutput,
  toolFailureClasses,
  type Usage,
} from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { showValue } from '../../util/show-value.ts'

export function childAgentResult(result: ChildResult): AgentResult {
  if (result.kind === 'refused') return failedResult(result.failure)
  const { status, report, failure, accounting } = result
  return {
    status,
    content: report?.text ?? '',
    ...(report?.value !== undefined && { value: report.value }),
    ...(failure && { error: failure }),
    usage: usageOf(accounting),
  }
}

/** The result of a session that an agent has for itself. */
export function outcomeAgentResult({ status, message, remedy, reason, report, usage, sessionId }: Outcome): AgentResult {
  const content = report?.text ?? ''
  if (status === 'suspended')
    return {
      status: 'failed',
      content,
      error: { class: 'approval', message: `Its session ${sessionId} waits for a person.`, remedy: 'Answer it: troupe approvals list' },
      usage,
    }
  const error = {
    class: reason ?? 'failed',
    message: message ?? `It ended with status ${status}.`,
    ...(remedy !== undefined && { remedy }),
  }
  return {
    status,
    content,
    ...(report?.value !== undefined && { value: report.value }),
    ...(status !== 'completed' && { error }),
    usage,
  }
}

export const failedResult = (error: NonNullable<AgentResult['error']>): AgentResult => ({ status: 'failed', content: '', error })

/** What `invoke` returned. It comes from an extension: anything is possible. */
export function checkedResult(given: unknown): AgentResult {
  if (typeof given === 'string') return { status: 'completed', content: given }
  const { status, content = '', error, value, usage } = isRecord(given) ? (given as Partial<AgentResult>) : {}
  const isKnown = status !== undefined && ['completed', 'partial', 'failed', 'interrupted'].includes(status)
  if (!isKnown || typeof content !== 'string')
    return failedResult({
      class: 'failed',
      message: `\`invoke\` returned ${showValue(given)}, expected a text or { status, content }.`,
      remedy: 'Fix the extension.',
    })
  return { status, content, ...(error && { error: failureOf(error) }), ...(value !== undefined && { value }), ...(usage && { usage }) }
}

/** For the model of the caller. A failed agent is a failed call. */
export function toolOutputOf({ status, content, error, value }: AgentResult): ToolOutput {
  if (status === 'failed' || status === 'interrupted')
    return {
      ok: false,
      error: failureOf(error ?? { class: 'failed', message: `The agent ended with status ${status}.` }),
      ...(content !== '' && { partial: content }),
    }
  const text = status === 'partial' ? `${content}\n\n(Partial: ${error?.message ?? 'the agent did not finish'})` : content
  return { ok: true, content: text, ...(value !== undefined && { value }) }
}

const failureOf = ({ class: kind, message, remedy }: NonNullable<AgentResult['error']>): ToolFailure => ({
  class: (toolFailureClasses as readonly string[]).includes(kind) ? (kind as ToolFailureClass) : 'failed',
  message: String(message),
  ...(remedy !== undefined && { remedy: String(remedy) }),
})

const usageOf = (entries: readonly AccountingEntry[]): Usage => {
  const nothing: Spent = { usage: noUsage, cost: 0 }
  return entries.reduce((spent, entry) => (entry.kind === 'model' ? addSpent(spent, entry.usage, 0) : spent), nothing).usage
}
