import type { ChildResult, ToolOutput } from '../../contracts/index.ts'

/** What a parent is shown of how a child ended. */
export function outputOfChild(result: ChildResult): ToolOutput {
  if (result.kind === 'refused') return { ok: false, error: result.failure }
  const { status, report, failure, accounting, operations, conversation } = result
  const extras = { childAccounting: accounting, childOpTree: operations, childConversation: conversation }
  if (status === 'failed' || status === 'interrupted') {
    const error = failure ?? { class: 'failed', message: `The agent ended as ${status}.` }
    return { ok: false, error, ...(report && { partial: report.text }), extras }
  }
  const text = report?.text ?? ''
  const content = failure ? `${text}\n\n(Partial: ${failure.message})` : text
  return { ok: true, content, ...(report?.value !== undefined && { value: report.value }), extras }
}
