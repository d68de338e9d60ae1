import { z } from 'zod'
import { type Content, contentSchema, invalid, textOf } from './content.ts'
import { type Conversation, ConversationReader } from './conversation.ts'

const itemSchema = z.looseObject({ type: z.string().optional() })
export const inputSchema = z.union([z.string(), z.array(itemSchema).min(1)])
type Item = z.infer<typeof itemSchema>

const roles = ['user', 'assistant', 'system', 'developer'] as const

/** Messages, and items of earlier answers that a client sends again. References are resolved before. */
export function readInput(input: z.infer<typeof inputSchema>): Conversation {
  const reader = new ConversationReader('input')
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
    // A provider reads back only its own reasoning.
    case 'reasoning':
      break
    case 'mcp_call':
      readCall(reader, item, place)
      break
    case 'function_call': {
      const { call_id: id, name, arguments: input } = fieldsOf(item, functionCallSchema, place)
      reader.call({ id, name, input }, place)
      break
    }
    case 'function_call_output': {
      const { call_id: id, output } = fieldsOf(item, functionOutputSchema, place)
      reader.result({ id, content: textOf(output, `${place}.output`) }, `${place}.call_id`)
      break
    }
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
const functionOutputSchema = z.looseObject({ call_id: z.string().min(1), output: contentSchema })

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
