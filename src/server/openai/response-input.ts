import { z } from 'zod'
import { type Content, contentSchema, invalid, textOf } from './content.ts'
import { type Conversation, ConversationReader } from './conversation.ts'

const itemSchema = z.looseObject({ type: z.string().optional() })
export const inputSchema = z.union([z.string(), z.array(itemSchema).min(1)])
type Item = z.infer<typeof itemSchema>

const roles = ['user', 'assistant', 'system', 'developer'] as const

/** Messages, and items of earlier answers that a client sends again. References are resolved before. `hasEarlier`: in a session. */
export function readInput(input: z.infer<typeof inputSchema>, { hasEarlier }: { readonly hasEarlier: boolean }): Conversation {
  const reader = new ConversationReader('input', { hasEarlier })
  if (typeof input === 'string') reader.user(input, 'input')
  else
    input.forEach((item, index) => {
      readItem(reader, item, `input.${index}`)
    })
  return reader.end()
}

function readItem(reader: ConversationReader, item: Item, place: string): void {
  switch (item.type) {
    case undefined:
    case 'message':
      readMessage(reader, item, place)
      break
    // A provider reads back only its own reasoning. The others belong to tools that a provider has run.
    case 'reasoning':
    case 'web_search_call':
    case 'file_search_call':
    case 'code_interpreter_call':
    case 'mcp_list_tools':
      break
    case 'mcp_call':
      readCall(reader, item, place)
      break
    case 'function_call': {
      const { call_id: id, name, arguments: input } = fieldsOf(item, functionCallSchema, place)
      reader.call({ id, name, input }, place)
      break
    }
    case 'custom_tool_call': {
      const { call_id: id, name, input } = fieldsOf(item, customCallSchema, place)
      reader.call({ id, name, input: JSON.stringify({ input }) }, place)
      break
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { call_id: id, output } = fieldsOf(item, outputSchema, place)
      reader.result({ id, content: output }, `${place}.call_id`, `${place}.output`)
      break
    }
    case 'additional_tools':
      throw invalid(
        `${place}.type`,
        'tools in the input are not supported',
        'Send `tools`. Codex does if the agent is not named like a model of OpenAI.',
      )
    default:
      throw invalid(
        `${place}.type`,
        `items of type "${item.type}" are not supported`,
        'Send messages, and calls of functions with their results.',
      )
  }
}

function readMessage(reader: ConversationReader, { role, content }: Item, place: string): void {
  const known = roles.find((name) => name === role)
  if (known === undefined) throw invalid(`${place}.role`, `expected ${roles.join(', ')}`)
  const at = `${place}.content`
  const parsed = contentSchema.safeParse(content)
  if (!parsed.success) throw invalid(at, 'expected a text, or parts with their type')
  const given: Content = parsed.data
  if (known === 'user') reader.user(given, at)
  else if (known === 'assistant') reader.assistant({ text: textOf(given, at) }, place)
  else reader.instruct(textOf(given, at))
}

const functionCallSchema = z.looseObject({ call_id: z.string().min(1), name: z.string().min(1), arguments: z.string() })
const customCallSchema = z.looseObject({ call_id: z.string().min(1), name: z.string().min(1), input: z.string() })
const outputSchema = z.looseObject({ call_id: z.string().min(1), output: contentSchema })

function fieldsOf<Fields>(item: Item, schema: z.ZodType<Fields>, place: string): Fields {
  const parsed = schema.safeParse(item)
  if (parsed.success) return parsed.data
  throw invalid([place, ...(parsed.error.issues[0]?.path ?? [])].join('.'), `the field of a ${item.type} is missing or wrong`)
}

const callSchema = z.looseObject({
  id: z.string().min(1),
  name: z.string().min(1),
  arguments: z.string(),
  output: z.string().nullish(),
  error: z.unknown(),
})

function readCall(reader: ConversationReader, item: Item, place: string): void {
  const { id, name, arguments: input, output, error } = fieldsOf(item, callSchema, place)
  reader.assistant({ text: '', calls: [{ id, name, input }] }, place)
  const failure = error === null || error === undefined ? undefined : JSON.stringify(error)
  reader.result({ id, content: output ?? failure ?? '', ok: failure === undefined }, place)
}
