import { z } from 'zod'
import {
  type ApprovalDecision,
  type ApprovalId,
  clientNameOf,
  type InputPart,
  type Message,
  type SessionService,
} from '../../contracts/index.ts'
import { wireCall } from '../http/index.ts'
import { textPart } from './response-items.ts'
import type { StoredResponse } from './response-records.ts'

// The input of a response as items, from the journal of its session. System messages are not there: they are instructions.

export const inputItemsQuery = z.looseObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().optional(),
  before: z.string().optional(),
})

interface InputItem {
  readonly id: string
  readonly status: 'completed'
  readonly fields: object
  /** Present in a message of the user, and in a result with images. */
  readonly parts?: readonly InputPart[]
}

/** Oldest first. */
export async function inputItems(sessions: SessionService, response: StoredResponse): Promise<readonly InputItem[]> {
  const { sessionId, clientId } = response
  const fields = response.record.continues
    ? await returnedItems(sessions, response)
    : (await inputMessages(sessions, response)).flatMap(itemsOf)
  return fields.map((item, index) => ({ id: `in_${sessionId}_${clientId ?? 'first'}.${index}`, status: 'completed', ...item }))
}

/** With the bytes of images and files. */
export async function wholeItem({ fields, parts, ...item }: InputItem, sessions: SessionService, sessionId: string): Promise<object> {
  if (!parts) return { ...item, ...fields }
  const content = await Promise.all(parts.map((part) => contentOf(part, sessions, sessionId)))
  return 'call_id' in fields ? { ...item, ...fields, output: content } : { ...item, ...fields, content }
}

async function inputMessages(sessions: SessionService, { sessionId, clientId, record }: StoredResponse): Promise<readonly Message[]> {
  const messages: Message[] = []
  for await (const event of sessions.events(sessionId, { after: record.after, until: 'turn', live: false })) {
    if (event.type === 'interaction.history.added') messages.push(...event.messages)
    if (event.type !== 'interaction.input.accepted' || (clientId !== undefined && event.clientId !== clientId)) continue
    return [...messages, { role: 'user', parts: event.parts }]
  }
  return messages
}

/** Results that continued a turn, and what followed them. */
async function returnedItems(sessions: SessionService, { sessionId, record }: StoredResponse): Promise<readonly ItemFields[]> {
  const last = (await sessions.get(sessionId))?.seq ?? 0
  const wanted = new Set(record.continues?.inputs)
  const custom = new Set<string>()
  const items: ItemFields[] = []
  for await (const event of sessions.events(sessionId, { until: 'turn', live: false })) {
    if (event.type === 'interaction.approval.requested' && record.custom?.includes(clientNameOf(event.request.tool)))
      custom.add(event.request.id)
    if (event.type === 'interaction.approval.resolved' && event.decision.kind === 'result' && wanted.delete(event.approvalId))
      items.push(outputItem(event.approvalId, event.decision, custom.has(event.approvalId)))
    if (event.type === 'interaction.input.accepted' && wanted.delete(event.clientId))
      items.push({ fields: { type: 'message', role: 'user' }, parts: event.parts })
    if (wanted.size === 0 || ('seq' in event && event.seq >= last)) break
  }
  return items
}

type GivenResult = Extract<ApprovalDecision, { kind: 'result' }>

function outputItem(approvalId: ApprovalId, { content, parts = [] }: GivenResult, isCustom: boolean): ItemFields {
  const type = isCustom ? 'custom_tool_call_output' : 'function_call_output'
  const fields = { type, call_id: wireCall({ id: approvalId, tool: '', input: {} }).id, output: content }
  return { fields, ...(parts.length > 0 && { parts: [{ type: 'text', text: content }, ...parts] }) }
}

type ItemFields = Pick<InputItem, 'fields' | 'parts'>

function itemsOf(message: Message): readonly ItemFields[] {
  switch (message.role) {
    case 'user':
      return [{ fields: { type: 'message', role: 'user' }, parts: message.parts }]
    case 'assistant':
      return message.parts.flatMap((part): readonly ItemFields[] => {
        if (part.type === 'text') return [{ fields: { type: 'message', role: 'assistant', content: [textPart('text', part.text)] } }]
        return part.type === 'call' ? [{ fields: { type: 'function_call', call_id: part.id, name: part.name, arguments: part.input } }] : []
      })
    case 'tool':
      return message.results.map(({ id, content }) => ({ fields: { type: 'function_call_output', call_id: id, output: content } }))
    default:
      return message satisfies never
  }
}

async function contentOf(part: InputPart, sessions: SessionService, sessionId: string): Promise<object> {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  const address = await addressOf(part, sessions, sessionId)
  if (part.type === 'image') return { type: 'input_image', image_url: address, detail: 'auto' }
  const filename = part.name === undefined ? {} : { filename: part.name }
  return { type: 'input_file', ...filename, ...(address.startsWith('data:') ? { file_data: address } : { file_url: address }) }
}

/** The journal has `blob:ID` in place of bytes, and base64 in results of a client. */
async function addressOf({ mediaType, data }: Exclude<InputPart, { type: 'text' }>, sessions: SessionService, sessionId: string) {
  const stored = data.startsWith('blob:') ? await sessions.output(sessionId, data.slice('blob:'.length)) : undefined
  if (stored && 'bytes' in stored) return `data:${mediaType};base64,${Buffer.from(stored.bytes).toString('base64')}`
  return /^\w+:/.test(data) ? data : `data:${mediaType};base64,${data}`
}
