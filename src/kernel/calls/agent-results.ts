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
import { withoutFlag } from '../../policy/limit-texts.ts'
import { isRecord } from '../../util/is-record.ts'
import { showValue } from '../../util/show-value.ts'

/** Limits of agent files, by their keys in a manifest. */
const manifestKeys = { maxToolTurns: 'max_turns', maxTokens: 'max_tokens_per_invocation', timeBudget: 'time_budget_ms' }

/** The agent of an extension has its limits in the manifest, and no flags of a command. */
function inManifest(text: string, id: string): string {
  const plain = withoutFlag(text)
  return Object.entries(manifestKeys).reduce(
    (named, [key, name]) =>
      named
        .replaceAll(`limits.${key} of ${id}`, `\`agent.limits.${name}\` in the manifest of ${id}`)
        .replaceAll(`its ${key} is`, `its \`agent.limits.${name}\` is`),
    plain,
  )
}

const failureInManifest = (
  { class: kind, message, remedy }: NonNullable<AgentResult['error']>,
  id: string,
): NonNullable<AgentResult['error']> => ({
  class: kind,
  message: inManifest(message, id),
  ...(remedy !== undefined && { remedy: inManifest(remedy, id) }),
})

/** `id`: of the extension. */
export function childAgentResult(result: ChildResult, id: string): AgentResult {
  if (result.kind === 'refused') return failedResult(result.failure)
  const { status, report, failure, accounting } = result
  return {
    status,
    content: report?.text ?? '',
    ...(report?.value !== undefined && { value: report.value }),
    ...(failure && { error: failureInManifest(failure, id) }),
    usage: usageOf(accounting),
  }
}

/** The result of a session that the agent of an extension has for itself. */
export function outcomeAgentResult({ status, message, remedy, reason, report, usage, sessionId }: Outcome, id: string): AgentResult {
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
    ...(status !== 'completed' && { error: failureInManifest(error, id) }),
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
  return {
    status,
    content,
    ...(error !== undefined && error !== null && { error: givenFailure(error) }),
    ...(value !== undefined && { value }),
    ...(usage && { usage }),
  }
}

/** A text is a message. */
function givenFailure(error: unknown): ToolFailure {
  if (typeof error === 'string') return { class: 'failed', message: error }
  if (isRecord(error) && typeof error.message === 'string') return failureOf(error as unknown as NonNullable<AgentResult['error']>)
  return { class: 'failed', message: `\`invoke\` returned the error ${showValue(error)}, expected a text or { class, message, remedy }.` }
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
