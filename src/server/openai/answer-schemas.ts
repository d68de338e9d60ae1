import { z } from 'zod'

// The answers of the OpenAI routes: the fields that clients read. Others are possible, as in OpenAI's API.

const modelSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    name: z.string(),
    description: z.string(),
  })
  .meta({ id: 'OpenAiModel' })
const modelList = z.looseObject({ object: z.literal('list'), data: z.array(modelSchema) })

const tokens = z.int().nonnegative()
const chatUsage = z.looseObject({ prompt_tokens: tokens, completion_tokens: tokens, total_tokens: tokens }).meta({ id: 'ChatUsage' })
const toolCall = z
  .union([
    z.looseObject({ id: z.string(), type: z.literal('function'), function: z.object({ name: z.string(), arguments: z.string() }) }),
    z.looseObject({ id: z.string(), type: z.literal('custom'), custom: z.object({ name: z.string(), input: z.string() }) }),
  ])
  .meta({ id: 'ChatToolCall' })
const head = { id: z.string(), created: z.int(), model: z.string() }
const speaker = z.string().optional().describe('In a handoff: the agent that wrote the text. Absent: the agent of `model`.')
const finish = z.string().describe('`stop`, `length`, `content_filter` or `tool_calls`.')

const chatCompletion = z
  .looseObject({
    ...head,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.null(),
          reasoning_content: z.string().optional(),
          tool_calls: z.array(toolCall).optional(),
          speaker,
        }),
        finish_reason: finish,
      }),
    ),
    usage: chatUsage,
  })
  .meta({ id: 'ChatCompletion' })

const chatChunk = z
  .looseObject({
    ...head,
    object: z.literal('chat.completion.chunk'),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        delta: z.looseObject({
          role: z.literal('assistant').optional(),
          content: z.string().nullish(),
          reasoning_content: z.string().optional(),
          tool_calls: z.array(toolCall.and(z.looseObject({ index: z.int() }))).optional(),
          speaker,
        }),
        finish_reason: finish.nullable(),
      }),
    ),
    usage: chatUsage.nullish(),
  })
  .meta({ id: 'ChatCompletionChunk' })

const call = { id: z.string(), status: z.literal('completed'), call_id: z.string(), name: z.string() }
const outputItem = z
  .union([
    z.looseObject({ ...call, type: z.literal('function_call'), arguments: z.string() }),
    z.looseObject({ ...call, type: z.literal('custom_tool_call'), input: z.string() }),
    z.looseObject({ id: z.string(), type: z.enum(['message', 'reasoning', 'mcp_call']), speaker }),
  ])
  .meta({ id: 'OpenAiOutputItem' })

const responseSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    completed_at: z.int().nullish(),
    status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
    model: z.string(),
    output: z.array(outputItem),
    tools: z.array(z.looseObject({ type: z.enum(['function', 'custom']), name: z.string() })),
    tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.looseObject({ reason: z.string() }).nullable(),
    usage: z.looseObject({ input_tokens: tokens, output_tokens: tokens, total_tokens: tokens }).nullable(),
    session_id: z.string(),
  })
  .meta({ id: 'OpenAiResponse' })
const responseEvent = z.looseObject({ type: z.string(), sequence_number: z.int() }).meta({ id: 'OpenAiResponseEvent' })

const inputItemList = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(z.looseObject({ id: z.string(), type: z.string() })),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'OpenAiInputItems' })

const json = 'application/json'
const stream = 'text/event-stream'

/** By what the routes answer with. */
export const answers = {
  model: { [json]: modelSchema },
  models: { [json]: modelList },
  chat: { [json]: chatCompletion, [stream]: z.union([chatChunk, z.literal('[DONE]')]) },
  response: { [json]: responseSchema, [stream]: responseEvent },
  stored: { [json]: responseSchema, [stream]: responseEvent },
  inputItems: { [json]: inputItemList },
  deleted: { [json]: z.looseObject({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) }) },
}
