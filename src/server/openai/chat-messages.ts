import { z } from 'zod'
import { contentSchema, invalid, textOf } from './content.ts'
import { type Conversation, ConversationReader } from './conversation.ts'

const functionCall = z.looseObject({
  id: z.string().min(1),
  type: z.literal('function').optional(),
  function: z.looseObject({ name: z.string().min(1), arguments: z.string() }),
})
const customCall = z.looseObject({
  id: z.string().min(1),
  type: z.literal('custom'),
  custom: z.looseObject({ name: z.string().min(1), input: z.string() }),
})
const callSchema = z.union([customCall, functionCall])

/** Further fields, such as `name` and `reasoning_content`, change nothing. */
const messageSchema = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: contentSchema.nullish(),
  tool_calls: z.array(callSchema).nullish(),
  tool_call_id: z.string().optional(),
})
export const messagesSchema = z.array(messageSchema).min(1)
type ChatMessage = z.infer<typeof messageSchema>

export function readMessages(messages: readonly ChatMessage[]): Conversation {
  const reader = new ConversationReader('messages')
  messages.forEach((message, index) => {
    readMessage(reader, message, `messages.${index}`)
  })
  return reader.end()
}

function readMessage(reader: ConversationReader, { role, content, tool_calls, tool_call_id }: ChatMessage, place: string): void {
  const at = `${place}.content`
  switch (role) {
    case 'system':
    case 'developer':
      reader.instruct(textOf(content ?? '', at))
      break
    case 'user':
      if (content === null || content === undefined) throw invalid(at, 'a message of the user has content')
      reader.user(content, at)
      break
    case 'assistant': {
      const calls = (tool_calls ?? []).map(callOf)
      reader.assistant({ text: textOf(content ?? '', at), calls }, place)
      break
    }
    case 'tool':
      if (tool_call_id === undefined) throw invalid(`${place}.tool_call_id`, 'a result names its call')
      reader.result({ id: tool_call_id, content: content ?? '' }, `${place}.tool_call_id`, at)
      break
    default:
      role satisfies never
  }
}

function callOf(call: z.infer<typeof callSchema>): { readonly id: string; readonly name: string; readonly input: string } {
  if (call.type === 'custom') return { id: call.id, name: call.custom.name, input: JSON.stringify({ input: call.custom.input }) }
  return { id: call.id, name: call.function.name, input: call.function.arguments }
}
