import { describe, expect, it, onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, type GatedReply } from '../../src/testing/index.ts'
import { formats, type WireFormat } from '../wire/formats.ts'
import { answering, asking, modelOf, server, weather } from '../wire/turn.ts'

const named = (name: string): WireFormat => formats.find((format) => format.name === name) ?? expect.unreachable()
const refusal = (status: number, json: object): GatedReply => ({
  status,
  headers: { 'content-type': 'application/json' },
  chunks: [JSON.stringify(json)],
})
const openAi = (message: string, code: string) => ({ error: { message, type: 'invalid_request_error', param: 'messages', code } })

/** As the providers say it. */
const refusals: readonly [format: string, how: string, reply: GatedReply][] = [
  [
    'OpenAI chat',
    'by its code',
    refusal(
      400,
      openAi(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9104 tokens.",
        'context_length_exceeded',
      ),
    ),
  ],
  [
    'OpenAI chat',
    'as more than a minute allows',
    refusal(
      429,
      openAi(
        'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 36055. The input or output tokens must be reduced in order to run successfully.',
        'rate_limit_exceeded',
      ),
    ),
  ],
  [
    'OpenAI responses',
    'by its code',
    refusal(400, openAi('Your input exceeds the context window of this model.', 'context_length_exceeded')),
  ],
  [
    'OpenAI responses',
    'within the stream',
    {
      chunks: [
        {
          event: 'error',
          data: {
            type: 'error',
            sequence_number: 1,
            code: 'context_length_exceeded',
            message: 'Your input exceeds the context window of this model.',
            param: 'input',
          },
        },
      ],
    },
  ],
  [
    'Anthropic messages',
    'in tokens',
    refusal(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210482 tokens > 200000 maximum' },
    }),
  ],
  [
    'Anthropic messages',
    'together with the reply',
    refusal(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000' },
    }),
  ],
  [
    'Anthropic messages',
    'in bytes',
    refusal(413, { type: 'error', error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } }),
  ],
  [
    'Gemini',
    'in tokens',
    refusal(400, {
      error: {
        code: 400,
        message: 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    }),
  ],
  [
    'Ollama',
    'as llama.cpp does',
    refusal(400, {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 14_429,
        n_ctx: 8_192,
      },
    }),
  ],
  ['Ollama', 'and blames itself', refusal(500, { error: { message: 'the prompt is longer than the context length', type: 'api_error' } })],
  [
    'OpenRouter',
    'for the endpoint',
    refusal(400, {
      error: { code: 400, message: "This endpoint's maximum context length is 8192 tokens. However, you requested about 9104 tokens." },
    }),
  ],
  [
    'OpenRouter',
    'by a page of its gateway',
    { status: 413, headers: { 'content-type': 'text/html' }, chunks: ['<html><h1>413 Too Large</h1></html>'] },
  ],
]

describe.each(refusals)('%s, which refuses a request that is too long %s', (name, _, refused) => {
  it('is asked again with a shorter one', async () => {
    const format = named(name)
    const { url, reply, requests } = await server()
    const exchanges = [{ chunks: format.encode(asking) }, refused, { chunks: format.encode(answering) }].map((each) => reply(each))
    const model = await modelOf(format, { url })
    const ran: JsonObject[] = []
    const long = { ...weather(ran), execute: () => `Sunny. ${'It stays like that. '.repeat(900)}` }
    const runtime = createAgentRuntime({
      config: {
        agents: [{ name: 'clerk', description: 'Tells', prompt: 'You are a clerk.', model: model.id }],
        tools: [long],
        limits: { maxRetries: 0 },
      },
      adapter: { resolve: () => ({ ...model, id: model.id, stream: model.stream.bind(model) }) },
      clock: new FakeClock(),
      store: memoryStore(),
    })
    onTestFinished(() => runtime.close())
    const outcome = await runtime.run('Weather in Zürich?')
    await Promise.all(exchanges.map(({ over }) => over))
    expect(outcome).toMatchObject({
      status: 'completed',
      report: { text: 'Sunny for three days.' },
      diagnostics: [{ code: 'compaction_failed' }],
    })
    const [, before, after] = requests.map(({ body }) => JSON.stringify(body))
    expect(after?.length).toBeLessThan((before?.length ?? 0) * 0.7)
    expect(after).toContain('Weather in Zürich?')
    expect(
      outcome.accounting.filter(({ kind }) => kind === 'model').map((entry) => ('failure' in entry ? entry.failure?.class : 'ok')),
    ).toEqual(['ok', 'context', 'ok'])
  })
})
