import { z } from 'zod'
import {
  afterFirst,
  eventStream,
  findAgent,
  ignoredHeaders,
  type RouteRequest,
  sseBytes,
  startTurn,
  unknownQuery,
  type WireCall,
} from '../http/index.ts'
import { type ChatPiece, chatAnswer } from './chat-answer.ts'
import { messagesSchema, readMessages } from './chat-messages.ts'
import { chatParameters } from './chat-parameters.ts'
import { argumentsOf, readTools, toolChoiceSchema, toolsSchema } from './client-tools.ts'
import { deletedAfter, deleteEnded } from './deleted-after.ts'
import type { OpenAiDependencies } from './openai-routes.ts'
import { checkParameters } from './parameters.ts'
import { chatUsage, labelsOf, limitsOf, metadataSchema, outputOf, responseFormatSchema } from './settings.ts'

/** Other parameters are checked by their table. */
export const chatBody = z.looseObject({
  model: z.string().min(1),
  messages: messagesSchema,
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  response_format: responseFormatSchema.nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  seed: z.int().nullish(),
  reasoning_effort: z.string().nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  tools: toolsSchema.nullish(),
  tool_choice: toolChoiceSchema.nullish(),
  modalities: z.array(z.literal('text', 'agents answer with text')).nullish(),
  user: z.string().nullish(),
  metadata: metadataSchema.nullish(),
  store: z.boolean().nullish(),
})
type ChatBody = z.infer<typeof chatBody>

/** What all chunks of an answer have in common. */
interface ChatHead {
  readonly id: string
  readonly created: number
  readonly model: string
}

export async function completeChat(request: RouteRequest<ChatBody>, { clock }: OpenAiDependencies): Promise<Response> {
  const { body, sessions } = request
  const agent = findAgent(sessions, body.model)
  const { parameters, ignored } = checkParameters(body, { table: chatParameters, agent })
  const { instructions, ...conversation } = readMessages(body.messages)
  const tools = readTools(body)
  const output = outputOf(askedFormat(body), agent)
  const isKept = body.store !== false || agent.keepSessions === true
  const turn = await startTurn(request, {
    agent: agent.name,
    ...conversation,
    ...tools.settings,
    clock,
    ...(!isKept && { whenGone: (sessionId: string) => deleteEnded(sessions, sessionId) }),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    ...(output && { output }),
    parameters,
    limits: limitsOf(body),
    labels: labelsOf(body),
  })
  const isStream = body.stream === true
  const pieces = chatAnswer(request, turn, { isLive: isStream, isJson: (output ?? agent.output).format === 'json' })
  const answer = isKept ? pieces : deletedAfter(pieces, turn.sessionId, () => deleteEnded(sessions, turn.sessionId))
  const head = { id: `chatcmpl-${turn.answerId}`, created: Math.floor(clock.now() / 1000), model: agent.name }
  const withoutEffect = [...ignored, ...tools.ignored, ...unknownQuery(request.url)]
  const headers = { 'x-session-id': turn.sessionId, ...ignoredHeaders(withoutEffect) }
  if (!isStream) return Response.json(await completion(answer, head, tools.custom), { headers })
  request.endsWith((error) => sseBytes({ data: JSON.stringify(error) }))
  return eventStream({
    source: await afterFirst(answer, clock),
    encode: chunkEncoder(head, { hasUsage: body.stream_options?.include_usage === true, custom: tools.custom }),
    clock,
    headers,
    end: () => sseBytes({ data: '[DONE]' }),
    left: () => turn.left(),
  })
}

function askedFormat({ response_format: format }: ChatBody): Parameters<typeof outputOf>[0] {
  if (format?.type === 'json_schema') return { type: 'json_schema', schema: format.json_schema.schema }
  return format ?? undefined
}

async function completion(pieces: AsyncIterable<ChatPiece>, head: ChatHead, custom: ReadonlySet<string>): Promise<object> {
  const texts = { text: '', reasoning: '' }
  let calls: readonly object[] = []
  let speaker: string | undefined
  for await (const piece of pieces) {
    if (piece.type === 'text') speaker = piece.speaker
    if (piece.type === 'text' || piece.type === 'reasoning') texts[piece.type] += piece.text
    if (piece.type === 'calls') calls = piece.calls.map((call) => callObject(call, custom))
    if (piece.type !== 'finish') continue
    const message = {
      role: 'assistant',
      content: calls.length > 0 && texts.text === '' ? null : texts.text,
      refusal: null,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(texts.reasoning !== '' && { reasoning_content: texts.reasoning }),
      ...(speaker !== undefined && { speaker }),
    }
    return {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: piece.reason }],
      usage: chatUsage(piece.usage),
    }
  }
  throw new Error('An answer ends with finish.')
}

interface Encoding {
  readonly hasUsage: boolean
  readonly custom: ReadonlySet<string>
}

/** The first chunk has the role. With `include_usage`, a chunk without choices comes last. */
function chunkEncoder(head: ChatHead, { hasUsage, custom }: Encoding): (piece: ChatPiece) => Uint8Array | undefined {
  let isFirst = true
  const chunk = (choices: readonly object[], usage: object | null): string =>
    JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...(hasUsage && { usage }) })
  const delta = (fields: object, finish: string | null = null): string => {
    const role = isFirst ? { role: 'assistant' } : {}
    isFirst = false
    return chunk([{ index: 0, delta: { ...role, ...fields }, logprobs: null, finish_reason: finish }], null)
  }
  return (piece) => {
    switch (piece.type) {
      case 'note':
        return comment(piece.text)
      case 'text':
        return sseBytes({ data: delta({ content: piece.text, ...(piece.speaker !== undefined && { speaker: piece.speaker }) }) })
      case 'reasoning':
        return sseBytes({ data: delta({ reasoning_content: piece.text }) })
      case 'calls':
        return sseBytes({ data: delta({ tool_calls: piece.calls.map((call, index) => ({ index, ...callObject(call, custom) })) }) })
      case 'finish': {
        const last = sseBytes({ data: delta({}, piece.reason) })
        return hasUsage ? Buffer.concat([last, sseBytes({ data: chunk([], chatUsage(piece.usage)) })]) : last
      }
      default:
        return piece satisfies never
    }
  }
}

function callObject({ id, name, input }: WireCall, custom: ReadonlySet<string>): object {
  if (custom.has(name)) return { id, type: 'custom', custom: { name, input: argumentsOf(input, true) } }
  return { id, type: 'function', function: { name, arguments: argumentsOf(input, false) } }
}

/** Clients skip comments of a stream; people who watch it with curl see them. */
const comment = (text: string): Uint8Array => Buffer.from(`: ${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`)
