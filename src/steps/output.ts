import type { CallRecord, Json, ToolOutput } from '../contracts/index.ts'
import { failureText } from '../core/index.ts'
import { fitText, utf8Length } from '../util/fit-text.ts'
import type { Stage } from './stage.ts'

/** Takes whatever a tool returned for an output, or says that it was none. */
export function normal(raw: unknown, tool: string): ToolOutput {
  if (typeof raw === 'string') return { ok: true, content: raw }
  if (isOutput(raw)) return raw
  return { ok: false, error: { class: 'failed', message: `"${tool}" returned neither a text nor an output with "ok".` } }
}

function isOutput(raw: unknown): raw is ToolOutput {
  if (typeof raw !== 'object' || raw === null || !('ok' in raw)) return false
  if (raw.ok === true) return 'content' in raw && typeof raw.content === 'string'
  return (
    raw.ok === false &&
    'error' in raw &&
    typeof raw.error === 'object' &&
    raw.error !== null &&
    'class' in raw.error &&
    'message' in raw.error
  )
}

/** What of an output is put on record. */
export type Shown = Pick<CallRecord, 'content' | 'value' | 'error' | 'output' | 'bytesOut'>

/** Redacts, then fits: journal and model see the same, and neither sees a secret or fifty megabytes. */
export function fitted(stage: Stage, output: ToolOutput): Shown | Promise<Shown> {
  const { redactor } = stage.ports
  const { maxOutputBytes } = stage.state.agent.limits
  if (output.ok && output.value === undefined) {
    const content = redactor.text(output.content)
    const bytesOut = utf8Length(content)
    return bytesOut <= maxOutputBytes ? { content, bytesOut } : stored(stage, { content, bytesOut })
  }
  const error = output.ok
    ? undefined
    : (redactor.json({ ...output.error } as unknown as Json) as unknown as NonNullable<CallRecord['error']>)
  const text = redactor.text(
    output.ok ? output.content : withPartial(output.error === undefined ? '' : failureText(output.error), output.partial),
  )
  const bytesOut = utf8Length(text)
  const shown = { content: text, bytesOut, ...(error && { error }), ...structured(stage, output) }
  return bytesOut <= maxOutputBytes ? shown : stored(stage, shown)
}

async function stored(stage: Stage, shown: Shown): Promise<Shown> {
  const { blobs } = stage.ports
  const handle = await blobs.put(stage.state.treeId, shown.content)
  const content = fitText(shown.content, { maxBytes: stage.state.agent.limits.maxOutputBytes, handle })
  return { ...shown, content, output: { handle, bytes: shown.bytesOut } }
}

/** The structured form is kept where it is JSON and small enough; the text always is. */
function structured(stage: Stage, output: ToolOutput): { value?: Json } {
  if (!output.ok || output.value === undefined) return {}
  try {
    const json = JSON.stringify(output.value)
    if (json === undefined || json.length > stage.state.agent.limits.maxOutputBytes) return {}
    return { value: stage.ports.redactor.json(JSON.parse(json) as Json) }
  } catch {
    return {}
  }
}

const withPartial = (text: string, partial: string | undefined): string => (partial ? `${text}\n\nPartial output:\n${partial}` : text)
