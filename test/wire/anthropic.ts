import type {
  ContentBlock,
  Message,
  MessageDeltaUsage,
  RawContentBlockDelta,
  RawMessageStreamEvent,
  StopReason,
} from '@anthropic-ai/sdk/resources/messages'
import type { SseEvent } from '../../src/testing/index.ts'
import { pieces, type WireReply } from './wire-reply.ts'

interface Block {
  readonly begun: ContentBlock
  readonly deltas: readonly RawContentBlockDelta[]
}
/** A keep-alive that the types of the client leave out. */
const ping = { type: 'ping' } as const

export function encodeAnthropic(reply: WireReply, model = 'claude-sonnet-4-5'): readonly SseEvent[] {
  const events: readonly (RawMessageStreamEvent | typeof ping)[] = [
    { type: 'message_start', message: messageOf(reply, model) },
    ping,
    ...blocksOf(reply).flatMap(({ begun, deltas }, index): RawMessageStreamEvent[] => [
      { type: 'content_block_start', index, content_block: begun },
      ...deltas.map((delta): RawMessageStreamEvent => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReasonOf(reply), stop_sequence: null, stop_details: null, container: null },
      usage: deltaUsage(reply),
    },
    { type: 'message_stop' },
  ]
  return events.map((data) => ({ event: data.type, data }))
}

function blocksOf({ reasoning, text, calls = [] }: WireReply): readonly Block[] {
  const thinking: Block = {
    begun: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...pieces(reasoning ?? '').map((piece): RawContentBlockDelta => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature: 'EqQBCg-sealed' },
    ],
  }
  const said: Block = {
    begun: { type: 'text', text: '', citations: null },
    deltas: pieces(text ?? '').map((piece): RawContentBlockDelta => ({ type: 'text_delta', text: piece })),
  }
  return [
    ...(reasoning === undefined ? [] : [thinking]),
    ...(text === undefined ? [] : [said]),
    ...calls.map(({ id, name, input }): Block => {
      const parts = ['', ...pieces(JSON.stringify(input))]
      return {
        begun: { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } },
        deltas: parts.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      }
    }),
  ]
}

function messageOf({ usage }: WireReply, model: string): Message {
  return {
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    container: null,
    diagnostics: null,
    stop_details: null,
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_read_input_tokens: usage.cacheRead,
      cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: 'standard',
      inference_geo: null,
      speed: null,
    },
  }
}

function stopReasonOf({ finish }: WireReply): StopReason {
  return ({ stop: 'end_turn', 'tool-calls': 'tool_use', length: 'max_tokens', 'content-filter': 'refusal' } as const)[finish]
}

function deltaUsage({ usage }: WireReply): MessageDeltaUsage {
  return {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    server_tool_use: null,
  }
}
