import {
  type BlobId,
  type CallRecord,
  type Diagnostic,
  type Json,
  type ToolExtras,
  type ToolFailure,
  type ToolOutput,
  type ToolPart,
  type ToolQuestions,
  toolFailureClasses,
} from '../../contracts/index.ts'
import { failureText } from '../../core/index.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { fitText, utf8Length } from '../../util/fit-text.ts'
import { jsonProblem } from '../../util/json-problem.ts'
import { messageOf } from '../../util/message-of.ts'
import type { Redactor } from '../../util/redact.ts'
import { cutText, parseWellFormed } from '../../util/well-formed.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { readParts, storeParts } from './output-parts.ts'
import { storeBlob } from './store-blob.ts'

/** Reads what a tool returned. An invalid output fails the call and is reported. */
export function readOutput(raw: unknown, tool: string, report: (diagnostic: Diagnostic) => void): ToolOutput {
  if (typeof raw === 'string') return { ok: true, content: raw }
  let message = `"${tool}" returned neither a text nor an object with "ok".`
  try {
    const output = readFields(raw)
    const problem = output?.ok && output.value !== undefined ? jsonProblem(output.value) : undefined
    if (output?.ok && problem !== undefined) return withoutValue(output, { tool, problem, report })
    if (output) return output
  } catch (error) {
    message = `The output of "${tool}" cannot be read: ${asSentence(messageOf(error))}`
  }
  report({ code: 'tool_output_invalid', severity: 'warning', message: `${message} It was ${kindOf(raw)}.`, remedy: mayReturn })
  return { ok: false, error: { class: 'failed', message } }
}

/** The call has run: what it said is kept. */
function withoutValue(
  { content, parts }: Done,
  { tool, problem, report }: { readonly tool: string; readonly problem: string; readonly report: (diagnostic: Diagnostic) => void },
): ToolOutput {
  const message = `"${tool}" returned a value that is not JSON: ${problem}.`
  const remedy = 'Return a value of plain objects, lists, texts, finite numbers, true, false and null.'
  report({ code: 'tool_output_invalid', severity: 'warning', message, remedy })
  return { ok: false, error: { class: 'failed', message: `${message} The call has run.` }, partial: content, ...(parts && { parts }) }
}

const mayReturn =
  'Return a text, { ok: true, content: "…" } with a value and parts beside it, or { ok: false, error: { class: "failed", message: "…" } }.'

/** The type only: the value may contain secrets. */
function kindOf(raw: unknown): string {
  if (raw === undefined || raw === null) return raw === null ? 'null' : 'nothing'
  if (Array.isArray(raw)) return 'a list'
  return typeof raw === 'object' ? 'another object' : `a ${typeof raw}`
}

/** Reads each field once: getters may throw, or return something else the next time. */
function readFields(raw: unknown): ToolOutput | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined
  const { ok, extras, parts } = raw as Loose<Done & Failed>
  const given = readParts(parts)
  const more = extras || given ? { ...(extras ? { extras: extras as ToolExtras } : undefined), ...(given && { parts: given }) } : undefined
  if (ok === true) return doneOutput(raw, more)
  return ok === false ? failedOutput(raw, more) : undefined
}

type Done = Extract<ToolOutput, { ok: true }>
type Failed = Extract<ToolOutput, { ok: false }>
type Loose<T> = { readonly [Name in keyof T]?: unknown }
type More = { readonly extras?: ToolExtras; readonly parts?: readonly ToolPart[] } | undefined

function doneOutput({ content: given, value, endsTurn }: Loose<Done>, more: More): ToolOutput | undefined {
  const content = given === undefined && more?.parts ? '' : given
  if (typeof content !== 'string') return undefined
  if (value === undefined && !more && !endsTurn) return { ok: true, content }
  return { ok: true, content, ...(value !== undefined && { value: value as Json }), ...(endsTurn === true && { endsTurn }), ...more }
}

function failedOutput({ error, partial, ask }: Loose<Failed>, more: More): ToolOutput | undefined {
  if (typeof error !== 'object' || error === null || !('class' in error && 'message' in error)) return undefined
  const { class: kind, message, remedy } = error as Loose<ToolFailure>
  const told = { class: kind as ToolFailure['class'], message: messageOf(message), ...(typeof remedy === 'string' && { remedy }) }
  const plain = { ok: false, error: told, ...(typeof partial === 'string' && { partial }), ...more } as const
  // Checked before it is asked.
  return ask === undefined ? plain : { ...plain, ask: ask as ToolQuestions }
}

/** A failure from `unavailable()`, redacted; `undefined` if it is not a failure. */
export function readFailure({ ports: { redactor } }: ActiveSession, error: unknown): ToolFailure | undefined {
  const output = readFields({ ok: false, error })
  return output && !output.ok ? redactFailure(redactor, output.error) : undefined
}

/** The recorded part of an output. */
export type ShownOutput = Pick<CallRecord, 'content' | 'value' | 'parts' | 'error' | 'output' | 'bytesOut' | 'endsTurn'>

/** Redacts, then cuts: the journal and the model get the same text. */
export function fitOutput(session: ActiveSession, output: ToolOutput): ShownOutput | Promise<ShownOutput> {
  if (output.parts) return fitWithParts(session, output, output.parts)
  const { redactor } = session.ports
  const { maxOutputBytes } = session.state.agent.limits
  const content = redactor.text(output.ok ? output.content : failedText(output.error, output.partial))
  const bytesOut = utf8Length(content)
  const plain = output.ok && output.endsTurn ? ({ content, bytesOut, endsTurn: true } as const) : { content, bytesOut }
  const shown = output.ok
    ? output.value === undefined
      ? plain
      : { ...plain, ...structured(session, output.value) }
    : { ...plain, error: redactFailure(redactor, output.error) }
  return bytesOut <= maxOutputBytes ? shown : storeOutput(session, shown)
}

async function fitWithParts(session: ActiveSession, { parts: _, ...output }: ToolOutput, given: readonly ToolPart[]): Promise<ShownOutput> {
  const { text, lines, recorded } = await storeParts(session, given)
  const said = output.ok ? output.content : (output.partial ?? '')
  const content = said === '' ? text : [said, ...lines].join('\n')
  const shown = await fitOutput(session, output.ok ? { ...output, content } : { ...output, partial: content })
  return recorded ? { ...shown, parts: recorded } : shown
}

async function storeOutput(session: ActiveSession, shown: ShownOutput): Promise<ShownOutput> {
  const handle = await storeText(session, shown.content)
  const content = fitText(shown.content, { maxBytes: session.state.agent.limits.maxOutputBytes, handle })
  return { ...shown, content, output: { handle, bytes: shown.bytesOut } }
}

/** Stores a text beside the journal. `read_output` reads it. */
export const storeText = ({ ports, state }: ActiveSession, text: string): Promise<BlobId> =>
  storeBlob(() => ports.blobs.put(state.treeId, text))

/** Kept if it is JSON and small enough. */
function structured(session: ActiveSession, value: Json): { value?: Json } {
  try {
    const json = JSON.stringify(value)
    if (json === undefined || json.length > session.state.agent.limits.maxOutputBytes) return {}
    return { value: session.ports.redactor.json(parseWellFormed(json)) }
  } catch {
    return {}
  }
}

export function redactFailure(redactor: Redactor, { class: kind, message, remedy }: ToolFailure): ToolFailure {
  const known = {
    class: toolFailureClasses.includes(kind) ? kind : 'failed',
    message: cutText(redactor.text(String(message)), maxMessageLength),
  } as const
  return remedy === undefined ? known : { ...known, remedy: cutText(redactor.text(String(remedy)), maxMessageLength) }
}

const maxMessageLength = 2_000

const failedText = (error: ToolFailure, partial: string | undefined): string =>
  partial ? `${failureText(error)}\n\nPartial output:\n${partial}` : failureText(error)
