import { z } from 'zod'

// Bodies that clients of Anthropic's Messages API send. Parameters that would change the answer are accepted only with values that
// change nothing. Those that are not listed here have no effect, and are named in a header. Blocks may have further fields, such as
// `cache_control`: Troupe decides about caching itself.

const text = z.object({ type: z.literal('text'), text: z.string() })

const address = z.string().regex(/^(?:https|data):/i, 'expected an https: or data: address')
const base64 = z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string().min(1) })
const fromUrl = z.object({ type: z.literal('url'), url: address })

const image = z.object({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [base64, fromUrl], { error: 'expected a source of type base64 or url' }),
})

const document = z.object({
  type: z.literal('document'),
  source: z.discriminatedUnion(
    'type',
    [
      base64,
      fromUrl,
      z.object({ type: z.literal('text'), data: z.string() }),
      z.object({
        type: z.literal('content'),
        content: z.union([z.string(), z.array(z.discriminatedUnion('type', [text, image]))]),
      }),
    ],
    { error: 'expected a source of type base64, url, text or content' },
  ),
  title: z.string().nullish(),
  context: z.string().nullish(),
})

const searchResult = z.object({ type: z.literal('search_result'), source: z.string(), title: z.string(), content: z.array(text) })

/** The client has loaded the definition of a tool, and sends it with its tools. */
const toolReference = z.object({ type: z.literal('tool_reference'), tool_name: z.string() })

const toolUse = z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() })

const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z
    .union([
      z.string(),
      z.array(
        z.discriminatedUnion('type', [text, image, document, searchResult, toolReference], {
          error: 'expected text, image, document, search_result or tool_reference',
        }),
      ),
    ])
    .optional(),
  is_error: z.boolean().optional(),
})

const thinkingBlock = z.object({ type: z.literal('thinking'), thinking: z.string() })
const redactedThinking = z.object({ type: z.literal('redacted_thinking') })

const userBlock = z.discriminatedUnion('type', [text, image, document, searchResult, toolResult], {
  error: 'expected a block of type text, image, document, search_result or tool_result',
})
const assistantBlock = z.discriminatedUnion('type', [text, toolUse, thinkingBlock, redactedThinking], {
  error: 'expected a block of type text, tool_use or thinking',
})

const message = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.literal('user'), content: z.union([z.string(), z.array(userBlock)]) }),
    z.object({ role: z.literal('assistant'), content: z.union([z.string(), z.array(assistantBlock)]) }),
    z.object({ role: z.literal('system'), content: z.union([z.string(), z.array(text)]) }),
  ],
  { error: 'expected the role user, assistant or system' },
)

/** `omitted`, or a way to show it. Each version has more ways. */
const shown = { display: z.string().nullish() }
const thinking = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('enabled'), budget_tokens: z.int().min(1024), ...shown }),
    z.object({ type: z.literal('adaptive'), ...shown }),
    z.object({ type: z.literal('between_tools'), ...shown }),
    z.object({ type: z.literal('disabled') }),
  ],
  { error: 'expected enabled with budget_tokens, adaptive, between_tools or disabled' },
)

const jsonFormat = z.object({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) })

const toolName = z.string().regex(/^[\w-]{1,128}$/, 'expected letters, digits, _ and -, 128 at most')

/** The client runs it. Further fields have no effect. */
const clientTool = z.looseObject({
  type: z.literal('custom').nullish(),
  name: toolName,
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()),
})
/** The provider runs it, or defines what the client runs. */
const otherTool = z.looseObject({ type: z.string().regex(/^(?!custom$)/, { abort: true }) })

/** Calls of the client that come in one answer: all, or one. */
const parallel = { disable_parallel_tool_use: z.boolean().nullish() }
const toolChoice = z.discriminatedUnion(
  'type',
  [
    z.looseObject({ type: z.literal('auto'), ...parallel }),
    z.looseObject({ type: z.literal('any'), ...parallel }),
    z.looseObject({ type: z.literal('tool'), name: z.string(), ...parallel }),
    z.looseObject({ type: z.literal('none') }),
  ],
  { error: 'expected auto, any, tool with a name, or none' },
)

const none = (why: string) => z.array(z.unknown()).max(0, why).nullish()

/** What both routes take. */
const conversation = {
  model: z.string().min(1),
  messages: z.array(message).min(1),
  system: z.union([z.string(), z.array(text)]).nullish(),
  thinking: thinking.nullish(),
  output_config: z
    .looseObject({ effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(), format: jsonFormat.nullish() })
    .nullish(),
  /** Sent by earlier versions. */
  output_format: jsonFormat.nullish(),
}

export const messagesBody = z.looseObject({
  ...conversation,
  tools: z.array(z.union([clientTool, otherTool])).nullish(),
  tool_choice: toolChoice.nullish(),
  mcp_servers: none('MCP servers of clients are not supported: the agent has its own'),
  max_tokens: z.int().min(1),
  stream: z.boolean().nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  /** LangChain sends -1 for none. */
  top_p: z.union([z.literal(-1), z.number().min(0).max(1)]).nullish(),
  stop_sequences: none('stop sequences are not supported'),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  /** Refused with the error on which clients send the whole conversation instead. */
  thread: z.looseObject({}).nullish(),
  container: z.null({ error: 'containers are not supported' }).optional(),
  inference_geo: z.null({ error: 'not supported: the provider of the model decides' }).optional(),
})

/** Tools of every kind are counted: clients ask before they decide what to send. */
export const countTokensBody = z.looseObject({ ...conversation, tools: z.array(z.looseObject({})).nullish() })

export type MessagesBody = z.infer<typeof messagesBody>
export type CountTokensBody = z.infer<typeof countTokensBody>
export type WireMessage = z.infer<typeof message>
export type UserBlock = z.infer<typeof userBlock>
export type AssistantBlock = z.infer<typeof assistantBlock>
export type ResultBlock = z.infer<typeof toolResult>
export type ReferenceBlock = z.infer<typeof toolReference>
export type WireClientTool = z.infer<typeof clientTool>
