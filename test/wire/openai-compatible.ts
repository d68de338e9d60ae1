import type { SseEvent } from '../../src/testing/index.ts'
import { chatUsage, encodeOpenAiChat, finishReasonOf } from './openai-chat.ts'
import { createdAt, pieces, type WireReply } from './wire-reply.ts'

/**
 * Chat completions as Ollama sends them: the role in every delta, reasoning in a field of its own, a call always whole
 * in one delta, no details of the usage.
 */
export function encodeOllama(reply: WireReply, model = 'qwen3:8b'): readonly SseEvent[] {
  const base = { id: 'chatcmpl-417', object: 'chat.completion.chunk', created: createdAt, model, system_fingerprint: 'fp_ollama' }
  const said = (delta: object, finish_reason: string | null = null): SseEvent => ({
    data: { ...base, choices: [{ index: 0, delta: { role: 'assistant', content: '', ...delta }, finish_reason }] },
  })
  const calls = (reply.calls ?? []).map(({ id, name, input }, index) => ({
    id,
    index,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  const { input: prompt_tokens, output: completion_tokens } = reply.usage
  return [
    ...pieces(reply.reasoning ?? '').map((reasoning) => said({ reasoning })),
    ...pieces(reply.text ?? '').map((content) => said({ content })),
    ...calls.map((call) => said({ tool_calls: [call] })),
    said({}, finishReasonOf(reply)),
    { data: { ...base, choices: [], usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens } } },
    { data: '[DONE]' },
  ]
}

/**
 * Chat completions as OpenRouter sends them: comments while it waits for the provider, the name of that provider in
 * every chunk, reasoning twice, both reasons to finish, and what the request cost.
 */
export function encodeOpenRouter(reply: WireReply, model = 'anthropic/claude-sonnet-4.5'): readonly (SseEvent | string)[] {
  const base = { id: 'gen-1767225600-a', provider: 'Anthropic', model, object: 'chat.completion.chunk', created: createdAt }
  const said = (delta: object, finish: string | null = null): SseEvent => ({
    data: {
      ...base,
      choices: [{ index: 0, delta: { role: 'assistant', content: '', ...delta }, finish_reason: finish, native_finish_reason: finish }],
    },
  })
  // The deltas of a call are those of OpenAI.
  const calls = encodeOpenAiChat({ ...reply, text: '' }).flatMap(({ data }) => toolCallsIn(data))
  return [
    ': OPENROUTER PROCESSING\n\n',
    ': OPENROUTER PROCESSING\n\n',
    ...pieces(reply.reasoning ?? '').map((text) =>
      said({ reasoning: text, reasoning_details: [{ type: 'reasoning.text', text, format: 'anthropic-claude-v1', index: 0 }] }),
    ),
    ...pieces(reply.text ?? '').map((content) => said({ content })),
    ': OPENROUTER PROCESSING\n\n',
    ...calls.map((call) => said({ tool_calls: [call] })),
    said({}, finishReasonOf(reply)),
    {
      data: {
        ...base,
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null, native_finish_reason: null }],
        usage: {
          ...chatUsage(reply),
          ...(reply.costUsd !== undefined && {
            cost: reply.costUsd,
            is_byok: false,
            cost_details: { upstream_inference_cost: null, upstream_inference_prompt_cost: 0, upstream_inference_completions_cost: 0 },
          }),
        },
      },
    },
    { data: '[DONE]' },
  ]
}

function toolCallsIn(data: unknown): readonly object[] {
  const { choices } = data as { choices?: readonly { delta: { tool_calls?: readonly object[] } }[] }
  return choices?.[0]?.delta.tool_calls ?? []
}
