import type { ChatCompletionChunk } from 'openai/resources/chat/completions'
import type { SseEvent } from '../../src/testing/index.ts'
import { createdAt, pieces, type WireCall, type WireReply } from './wire-reply.ts'

/*
 * OpenAI's chat completions, asked with `stream_options.include_usage`: every chunk has `usage: null` but the last,
 * which has no choice.
 */

type Delta = ChatCompletionChunk.Choice.Delta
type FinishReason = ChatCompletionChunk.Choice['finish_reason']

export function encodeOpenAiChat(reply: WireReply, model = 'gpt-5-mini'): readonly SseEvent[] {
  const chunk = (choices: ChatCompletionChunk['choices'], usage: ChatCompletionChunk['usage'] = null): SseEvent => ({
    data: {
      id: 'chatcmpl-Cw1',
      object: 'chat.completion.chunk',
      created: createdAt,
      model,
      service_tier: 'default',
      system_fingerprint: 'fp_0000000001',
      choices,
      usage,
      obfuscation: 'x7',
    } satisfies ChatCompletionChunk,
  })
  const said = (delta: Delta, finish_reason: FinishReason = null): SseEvent => chunk([{ index: 0, delta, logprobs: null, finish_reason }])
  return [
    said({ role: 'assistant', content: reply.text === undefined ? null : '', refusal: null }),
    ...pieces(reply.text ?? '').map((content) => said({ content })),
    ...(reply.calls ?? []).flatMap((call, index) => callDeltas(call, index).map((delta) => said({ tool_calls: [delta] }))),
    said({}, finishReasonOf(reply)),
    chunk([], chatUsage(reply)),
    { data: '[DONE]' },
  ]
}

function callDeltas({ id, name, input }: WireCall, index: number): readonly ChatCompletionChunk.Choice.Delta.ToolCall[] {
  return [
    { index, id, type: 'function', function: { name, arguments: '' } },
    ...pieces(JSON.stringify(input)).map((part) => ({ index, function: { arguments: part } })),
  ]
}

export function finishReasonOf({ finish }: WireReply): NonNullable<FinishReason> {
  return ({ stop: 'stop', 'tool-calls': 'tool_calls', length: 'length', 'content-filter': 'content_filter' } as const)[finish]
}

export function chatUsage({ usage }: WireReply): NonNullable<ChatCompletionChunk['usage']> {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
