import type { PlainChunk } from '../../src/testing/index.ts'
import { encodeAnthropic } from './anthropic.ts'
import { encodeGemini } from './gemini.ts'
import { encodeOpenAiChat } from './openai-chat.ts'
import { encodeOllama, encodeOpenRouter } from './openai-compatible.ts'
import { encodeOpenAiResponses } from './openai-responses.ts'
import type { WireReply } from './wire-reply.ts'

export interface WireFormat {
  readonly name: string
  readonly kind: 'openai' | 'anthropic' | 'google' | 'openai-compatible'
  readonly provider: string
  readonly model: string
  readonly api?: 'chat' | 'responses'
  /** Behind the server's address. */
  readonly base: string
  /** Behind the base. */
  readonly path: string
  readonly keyVariable: string
  /** Where the key goes; what stands before it. */
  readonly keyHeader: readonly [name: string, prefix: string]
  readonly encode: (reply: WireReply) => readonly PlainChunk[]
  /** Matches the event after which nothing of the reply is missing. */
  readonly terminal: RegExp
  readonly errorBody: (status: number, message: string) => object
  /** What is sent in the place of the rest when the provider breaks down in the middle of a reply. */
  readonly breakdown: readonly PlainChunk[]
}

const openAiError = (status: number, message: string): object => ({
  error: { message, type: status === 429 ? 'requests' : 'server_error', param: null, code: status === 401 ? 'invalid_api_key' : null },
})
const anthropicTypes: { readonly [status: number]: string } = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}
const googleStatuses: { readonly [status: number]: string } = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}
const bearer = ['authorization', 'Bearer '] as const
const chatTerminal = /"finish_reason":"/

export const formats: readonly WireFormat[] = [
  {
    name: 'OpenAI chat',
    kind: 'openai',
    provider: 'openai',
    model: 'gpt-5-mini',
    api: 'chat',
    base: '/v1',
    path: '/chat/completions',
    keyVariable: 'OPENAI_API_KEY',
    keyHeader: bearer,
    encode: encodeOpenAiChat,
    terminal: chatTerminal,
    errorBody: openAiError,
    breakdown: [{ data: openAiError(500, 'The server had an error.') }, { data: '[DONE]' }],
  },
  {
    name: 'OpenAI responses',
    kind: 'openai',
    provider: 'openai',
    model: 'gpt-5-mini',
    api: 'responses',
    base: '/v1',
    path: '/responses',
    keyVariable: 'OPENAI_API_KEY',
    keyHeader: bearer,
    encode: encodeOpenAiResponses,
    terminal: /"type":"response\.(?:completed|incomplete)"/,
    errorBody: openAiError,
    breakdown: [
      {
        event: 'error',
        data: { type: 'error', sequence_number: 7, code: 'server_error', message: 'The server had an error.', param: null },
      },
    ],
  },
  {
    name: 'Anthropic messages',
    kind: 'anthropic',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    base: '/v1',
    path: '/messages',
    keyVariable: 'ANTHROPIC_API_KEY',
    keyHeader: ['x-api-key', ''],
    encode: encodeAnthropic,
    terminal: /"type":"message_stop"/,
    errorBody: (status, message) => ({
      type: 'error',
      error: { type: anthropicTypes[status] ?? 'api_error', message },
      request_id: 'req_01',
    }),
    breakdown: [
      { event: 'error', data: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_01' } },
    ],
  },
  {
    name: 'Gemini',
    kind: 'google',
    provider: 'google',
    model: 'gemini-3-flash',
    base: '/v1beta',
    path: '/models/gemini-3-flash:streamGenerateContent?alt=sse',
    keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY',
    keyHeader: ['x-goog-api-key', ''],
    encode: encodeGemini,
    terminal: /"finishReason":"/,
    errorBody: (status, message) => ({ error: { code: status, message, status: googleStatuses[status] ?? 'INTERNAL' } }),
    breakdown: [`data: ${JSON.stringify({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } })}\r\n\r\n`],
  },
  {
    name: 'Ollama',
    kind: 'openai-compatible',
    provider: 'ollama',
    model: 'qwen3:8b',
    base: '/v1',
    path: '/chat/completions',
    keyVariable: 'OLLAMA_API_KEY',
    keyHeader: bearer,
    encode: encodeOllama,
    terminal: chatTerminal,
    errorBody: (_, message) => ({ error: { message, type: 'api_error', param: null, code: null } }),
    breakdown: [{ data: { error: { message: 'the model runner has stopped', type: 'api_error', param: null, code: null } } }],
  },
  {
    name: 'OpenRouter',
    kind: 'openai-compatible',
    provider: 'openrouter',
    model: 'anthropic/claude-sonnet-4.5',
    base: '/api/v1',
    path: '/chat/completions',
    keyVariable: 'OPENROUTER_API_KEY',
    keyHeader: bearer,
    encode: encodeOpenRouter,
    terminal: chatTerminal,
    errorBody: (status, message) => ({ error: { code: status, message } }),
    // The error comes together with a choice that has ended.
    breakdown: [
      {
        data: {
          id: 'gen-1767225600-a',
          object: 'chat.completion.chunk',
          created: 1_767_225_600,
          model: 'anthropic/claude-sonnet-4.5',
          provider: 'Anthropic',
          error: { code: 'server_error', message: 'Provider disconnected unexpectedly' },
          choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
        },
      },
    ],
  },
]
