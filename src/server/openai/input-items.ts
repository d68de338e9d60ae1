import { z } from 'zod'
import type { InputPart, Message, SessionService } from '../../contracts/index.ts'
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
  /** Present in a message of the user. */
  readonly parts?: readonly InputPart[]
}

/** Oldest first. */
export async function inputItems(sessions: SessionService, response: StoredResponse): Promise<readonly InputItem[]> {
  const { sessionId, clientId } = response
  const fields = (await inputMessages(sessions, response)).flatMap(itemsOf)
  return fields.map((item, index) => ({ id: `in_${sessionId}_${clientId ?? 'first'}.${index}`, status: 'completed', ...item }))
}

/** With the bytes of images and files. */
export async function wholeItem({ fields, parts, ...item }: InputItem, sessions: SessionService, sessionId: string): Promise<object> {
  if (!parts) return { ...item, ...fields }
  return { ...item, ...fields, content: await Promise.all(parts.map((part) => contentOf(part, sessions, sessionId))) }
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

/** The journal has `blob:ID` in place of bytes. */
async function addressOf({ mediaType, data }: Exclude<InputPart, { type: 'text' }>, sessions: SessionService, sessionId: string) {
  const stored = data.startsWith('blob:') ? await sessions.output(sessionId, data.slice('blob:'.length)) : undefined
  return stored && 'bytes' in stored ? `data:${mediaType};base64,${Buffer.from(stored.bytes).toString('base64')}` : data
}
