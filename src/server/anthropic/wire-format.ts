import type { Usage } from '../../contracts/index.ts'

// The answer on the wire. Fields that Anthropic's API has and Troupe has no value for are null, except `citations` of a text: the AI
// SDK 5 and 6 refuse null.

export type StopReason = 'end_turn' | 'tool_use' | 'max_tokens' | 'model_context_window_exceeded'

export type WireBlock =
  | { readonly type: 'text'; readonly text: string; readonly speaker?: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object; readonly caller: DirectCaller }

/** The model makes the call itself, not in code that it writes. */
interface DirectCaller {
  readonly type: 'direct'
}

interface WireUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens_details: { readonly thinking_tokens: number }
  readonly server_tool_use: null
}

interface WireMessage {
  readonly id: string
  readonly type: 'message'
  readonly role: 'assistant'
  readonly model: string
  readonly content: readonly WireBlock[]
  readonly stop_reason: StopReason | null
  readonly stop_sequence: null
  readonly stop_details: null
  readonly container: null
  readonly diagnostics: null
  readonly usage: WireUsage & {
    readonly cache_creation: null
    readonly inference_geo: null
    readonly service_tier: null
    readonly speed: null
  }
}

type WireDelta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  /** The whole input: Troupe gets it in one piece. */
  | { readonly type: 'input_json_delta'; readonly partial_json: string }

export type WireEvent =
  | { readonly type: 'message_start'; readonly message: WireMessage }
  | { readonly type: 'ping' }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: WireBlock }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: WireDelta }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | {
      readonly type: 'message_delta'
      readonly delta: Pick<WireMessage, 'stop_sequence' | 'stop_details' | 'container'> & { readonly stop_reason: StopReason }
      readonly usage: WireUsage
    }
  | { readonly type: 'message_stop' }

/** Anthropic counts cached input apart. */
export const wireUsage = ({ input, output, cacheRead, cacheWrite, reasoning }: Usage): WireUsage => ({
  input_tokens: Math.max(0, input - cacheRead - cacheWrite),
  output_tokens: output,
  cache_creation_input_tokens: cacheWrite,
  cache_read_input_tokens: cacheRead,
  output_tokens_details: { thinking_tokens: reasoning },
  server_tool_use: null,
})

export const messageId = (answerId: string): string => `msg_${answerId}`

/** The message of a stream that has ended. */
export function wholeMessage(events: readonly WireEvent[]): WireMessage {
  const blocks: WireBlock[] = []
  let message: WireMessage | undefined
  for (const event of events) {
    if (event.type === 'message_start') message = event.message
    else if (event.type === 'content_block_start') blocks.push(event.content_block)
    else if (event.type === 'content_block_delta') blocks.splice(event.index, 1, extended(blocks[event.index], event.delta))
    else if (event.type === 'message_delta' && message)
      message = { ...message, ...event.delta, content: blocks, usage: { ...message.usage, ...event.usage } }
  }
  if (!message) throw new Error('a stream without a beginning')
  return message
}

function extended(block: WireBlock | undefined, delta: WireDelta): WireBlock {
  if (block?.type === 'text' && delta.type === 'text_delta') return { ...block, text: block.text + delta.text }
  if (block?.type === 'thinking' && delta.type === 'thinking_delta') return { ...block, thinking: block.thinking + delta.thinking }
  if (block?.type === 'thinking' && delta.type === 'signature_delta') return { ...block, signature: delta.signature }
  if (block?.type === 'tool_use' && delta.type === 'input_json_delta') return { ...block, input: JSON.parse(delta.partial_json) as object }
  throw new Error(`a ${delta.type} for another block`)
}
