import {
  type BlobId,
  type CallRecord,
  type Diagnostic,
  type Json,
  type ToolExtras,
  type ToolFailure,
  type ToolOutput,
  TroupeError,
  toolFailureClasses,
} from '../../contracts/index.ts'
import { failureText } from '../../core/index.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { fitText, utf8Length } from '../../util/fit-text.ts'
import { messageOf } from '../../util/message-of.ts'
import type { Redactor } from '../../util/redact.ts'
import { cutText, parseWellFormed } from '../../util/well-formed.ts'
import type { ActiveSession } from '../loop/active-session.ts'

/** Takes whatever a tool returned for an output, or says that it was none: to the model, and to whoever can mend the tool. */
export function readOutput(raw: unknown, tool: string, tell: (diagnostic: Diagnostic) => void): ToolOutput {
  if (typeof raw === 'string') return { ok: true, content: raw }
  let message = `"${tool}" returned neither a text nor an output with "ok".`
  try {
    const output = readFields(raw)
    if (output) return output
  } catch (error) {
    message = `What "${tool}" returned cannot be read: ${asSentence(messageOf(error))}`
  }
  tell({ code: 'tool_output_invalid', severity: 'warning', message: `${message} It was ${kindOf(raw)}.`, remedy: mayReturn })
  return { ok: false, error: { class: 'failed', message } }
}

const mayReturn =
  'Return a text, { ok: true, content: "…" } with a value beside it, or { ok: false, error: { class: "failed", message: "…" } }.'

/** Not what stands in it, which may be anybody's secret. */
function kindOf(raw: unknown): string {
  if (raw === undefined || raw === null) return raw === null ? 'null' : 'nothing'
  if (Array.isArray(raw)) return 'a list'
  return typeof raw === 'object' ? 'another object' : `a ${typeof raw}`
}

/** Each field once, here: getters are other people's code, which may throw, or say something else the next time. */
function readFields(raw: unknown): ToolOutput | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined
  const { ok, extras } = raw as Loose<Done & Failed>
  const more = extras ? { extras: extras as ToolExtras } : undefined
  if (ok === true) return doneOutput(raw, more)
  return ok === false ? failedOutput(raw, more) : undefined
}

type Done = Extract<ToolOutput, { ok: true }>
type Failed = Extract<ToolOutput, { ok: false }>
type Loose<T> = { readonly [Name in keyof T]?: unknown }
type More = { readonly extras: ToolExtras } | undefined

function doneOutput({ content, value }: Loose<Done>, more: More): ToolOutput | undefined {
  if (typeof content !== 'string') return undefined
  if (value === undefined && !more) return { ok: true, content }
  return { ok: true, content, ...(value !== undefined && { value: value as Json }), ...more }
}

/** Only texts are told; anything else a tool puts there is left out. */
function failedOutput({ error, partial }: Loose<Failed>, more: More): ToolOutput | undefined {
  if (typeof error !== 'object' || error === null || !('class' in error && 'message' in error)) return undefined
  const { class: kind, message, remedy } = error as Loose<ToolFailure>
  const told = { class: kind as ToolFailure['class'], message: messageOf(message), ...(typeof remedy === 'string' && { remedy }) }
  return { ok: false, error: told, ...(typeof partial === 'string' && { partial }), ...more }
}

/** A failure that a tool gives before it runs, as it may be recorded; nothing where it is none. */
export function readFailure({ ports: { redactor } }: ActiveSession, error: unknown): ToolFailure | undefined {
  const output = readFields({ ok: false, error })
  return output && !output.ok ? redactFailure(redactor, output.error) : undefined
}

/** What of an output is put on record. */
export type ShownOutput = Pick<CallRecord, 'content' | 'value' | 'error' | 'output' | 'bytesOut'>

/** Redacts, then fits: journal and model see the same, and neither sees a secret or fifty megabytes. */
export function fitOutput(session: ActiveSession, output: ToolOutput): ShownOutput | Promise<ShownOutput> {
  const { redactor } = session.ports
  const { maxOutputBytes } = session.state.agent.limits
  const content = redactor.text(output.ok ? output.content : failedText(output.error, output.partial))
  const bytesOut = utf8Length(content)
  const plain = { content, bytesOut }
  const shown = output.ok
    ? output.value === undefined
      ? plain
      : { ...plain, ...structured(session, output.value) }
    : { ...plain, error: redactFailure(redactor, output.error) }
  return bytesOut <= maxOutputBytes ? shown : storeOutput(session, shown)
}

async function storeOutput(session: ActiveSession, shown: ShownOutput): Promise<ShownOutput> {
  const handle = await storeText(session, shown.content)
  const content = fitText(shown.content, { maxBytes: session.state.agent.limits.maxOutputBytes, handle })
  return { ...shown, content, output: { handle, bytes: shown.bytesOut } }
}

/** Keeps a text beside the journal, where `read_output` finds it. */
export async function storeText({ ports, state }: ActiveSession, text: string): Promise<BlobId> {
  try {
    return await ports.blobs.put(state.treeId, text)
  } catch (cause) {
    if (cause instanceof TroupeError) throw cause
    throw new TroupeError('store_failed', `A text could not be stored: ${messageOf(cause)}`, {
      remedy: 'Make room, then open the session again.',
      cause,
    })
  }
}

/** The structured form is kept where it is JSON and small enough; the text always is. */
function structured(session: ActiveSession, value: Json): { value?: Json } {
  try {
    const json = JSON.stringify(value)
    if (json === undefined || json.length > session.state.agent.limits.maxOutputBytes) return {}
    return { value: session.ports.redactor.json(parseWellFormed(json)) }
  } catch {
    return {}
  }
}

function redactFailure(redactor: Redactor, { class: kind, message, remedy }: ToolFailure): ToolFailure {
  const known = {
    class: toolFailureClasses.includes(kind) ? kind : 'failed',
    message: cutText(redactor.text(String(message)), maxMessageLength),
  } as const
  return remedy === undefined ? known : { ...known, remedy: cutText(redactor.text(String(remedy)), maxMessageLength) }
}

/** The whole of a longer one is in the content, or stored. */
const maxMessageLength = 2_000

const failedText = (error: ToolFailure, partial: string | undefined): string =>
  partial ? `${failureText(error)}\n\nPartial output:\n${partial}` : failureText(error)
