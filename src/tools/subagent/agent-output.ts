import type { ChildResult, ToolExtras, ToolOutput } from '../../contracts/index.ts'

/** The result of a child as the output of the parent's call. */
export function childOutput(result: ChildResult): ToolOutput {
  if (result.kind === 'refused') return { ok: false, error: result.failure }
  const { status, report, failure } = result
  const extras = new ChildExtras(result)
  if (status === 'failed' || status === 'interrupted') {
    const error = failure ?? { class: 'failed', message: `The agent ended with status ${status}.` }
    return { ok: false, error, ...(report && { partial: report.text }), extras }
  }
  const text = report?.text ?? ''
  const content = failure ? `${text}\n\n(Partial: ${failure.message})` : text
  return { ok: true, content, ...(report?.value !== undefined && { value: report.value }), extras }
}

/** Rarely used and possibly large, so they are created on access. */
class ChildExtras implements ToolExtras {
  readonly [name: string]: unknown
  readonly #result: Extract<ChildResult, { kind: 'ended' }>

  constructor(result: Extract<ChildResult, { kind: 'ended' }>) {
    this.#result = result
  }

  get childAccounting(): unknown {
    return this.#result.accounting
  }

  get childOpTree(): unknown {
    return this.#result.operations
  }

  get childConversation(): unknown {
    return this.#result.conversation
  }

  toJSON(): object {
    const { childAccounting, childOpTree, childConversation } = this
    return { childAccounting, childOpTree, childConversation }
  }
}
