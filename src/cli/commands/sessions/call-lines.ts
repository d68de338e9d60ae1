import type { BlobId, CallIntent, CallRecord, InteractionEvent, OutputPart, SessionId } from '../../../contracts/index.ts'
import { duration, grouped, size } from '../../../view/index.ts'
import { partTexts } from '../../progress/tree/call-texts.ts'
import { replyLines } from '../../terminal/markdown/render-markdown.ts'
import { printable } from '../../terminal/printable.ts'

// Arguments and results of calls, for `sessions show -v`. Pure.

interface CallStyle {
  /** Columns of a line; infinite for a pipe. */
  readonly width: number
  /** The file of an output that was too large for the journal. */
  readonly fileOf: (handle: BlobId) => string | undefined
}

/** For each input and output. */
const max = { lines: 20, characters: 4_000 }
const indent = '    '

export function callLines(events: readonly InteractionEvent[], style: CallStyle): readonly string[] {
  const ended = new Map(events.flatMap((event) => (isCallEnd(event) ? [[keyOf(event), event.item] as const] : [])))
  return events.flatMap((event) => (isCallStart(event) ? linesOf(event, ended.get(keyOf(event)), style) : []))
}

type Start = InteractionEvent<'interaction.item.started'> & { readonly item: CallIntent }
type End = InteractionEvent<'interaction.item.completed'> & { readonly item: CallRecord }
const isCallStart = (event: InteractionEvent): event is Start => event.type === 'interaction.item.started' && event.item.kind === 'call'
const isCallEnd = (event: InteractionEvent): event is End => event.type === 'interaction.item.completed' && event.item.kind === 'call'

const keyOf = ({ sessionId, item }: { readonly sessionId: SessionId; readonly item: { readonly id: string } }): string =>
  `${sessionId} ${item.id}`

function linesOf({ agentPath, item }: Start, record: CallRecord | undefined, style: CallStyle): readonly string[] {
  const who = agentPath === 'root' ? '' : `${agentPath.replace(/^root\//, '')} · `
  const how = record ? `${record.status} · ${duration(record.latencyMs)}` : 'no result recorded'
  return [
    `  ${printable(who)}${item.id}  ${printable(item.tool)}  ${how}`,
    ...textLines('→', JSON.stringify(item.input), style),
    ...(record ? textLines('←', record.content, style) : []),
    ...(record?.output ? wholeLine(record.output, style) : []),
    ...(record?.parts ?? []).flatMap((part) => partLine(part, style)),
  ]
}

function wholeLine({ handle, bytes }: NonNullable<CallRecord['output']>, { fileOf }: CallStyle): readonly string[] {
  const file = fileOf(handle)
  return file === undefined ? [] : [`${indent}  whole output, ${size(bytes)}: ${file}`]
}

function partLine(part: OutputPart, { fileOf }: CallStyle): readonly string[] {
  const file = 'blob' in part ? fileOf(part.blob) : undefined
  return partTexts([part]).map((text) => `${indent}  ${text}${file === undefined ? '' : `: ${file}`}`)
}

function textLines(mark: string, text: string, { width }: CallStyle): readonly string[] {
  const left = text.length - max.characters
  const lines = replyLines(text.slice(0, max.characters), { width: width - indent.length - 2, maxLines: max.lines })
  const all = left > 0 ? [...lines, `… ${grouped(left)} more characters`] : lines
  return all.map((line, i) => `${indent}${i === 0 ? mark : ' '} ${line}`.trimEnd())
}
