import { z } from 'zod'

// The answers of the Anthropic routes: the fields that clients read. Others are possible, as in Anthropic's API.

const tokens = z.int().nonnegative()
const usage = z.looseObject({ input_tokens: tokens, output_tokens: tokens }).meta({ id: 'AnthropicUsage' })
const speaker = z.string().optional().describe('In a handoff: the agent that wrote the text. Absent: the agent of `model`.')
const block = z
  .union([
    z.looseObject({ type: z.literal('text'), text: z.string(), speaker }),
    z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
    z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.looseObject({}) }),
  ])
  .meta({ id: 'AnthropicBlock' })
const stopReason = z.string().nullable()

const message = z
  .looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(block),
    stop_reason: stopReason,
    stop_sequence: z.string().nullable(),
    usage,
  })
  .meta({ id: 'AnthropicMessage' })

const index = z.int().nonnegative()
const messageEvent = z
  .union([
    z.looseObject({ type: z.literal('message_start'), message }),
    z.looseObject({ type: z.literal('ping') }),
    z.looseObject({ type: z.literal('content_block_start'), index, content_block: block }),
    z.looseObject({ type: z.literal('content_block_delta'), index, delta: z.looseObject({ type: z.string() }) }),
    z.looseObject({ type: z.literal('content_block_stop'), index }),
    z.looseObject({ type: z.literal('message_delta'), delta: z.looseObject({ stop_reason: stopReason }), usage }),
    z.looseObject({ type: z.literal('message_stop') }),
  ])
  .meta({ id: 'AnthropicEvent' })

const model = z
  .looseObject({ type: z.literal('model'), id: z.string(), display_name: z.string(), created_at: z.iso.datetime() })
  .meta({ id: 'AnthropicModel' })
const models = z.looseObject({
  data: z.array(model),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
})

/** By what the routes answer with. */
export const answers = {
  message: { 'application/json': message, 'text/event-stream': messageEvent },
  model: { 'application/json': model },
  models: { 'application/json': models },
  tokens: { 'application/json': z.looseObject({ input_tokens: tokens }) },
}
