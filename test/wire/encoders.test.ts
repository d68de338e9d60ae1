import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gatedServer, type PlainChunk } from '../../src/testing/index.ts'
import { encodeAnthropic } from './anthropic.ts'
import { encodeGemini } from './gemini.ts'
import { encodeOpenAiChat } from './openai-chat.ts'
import { encodeOllama, encodeOpenRouter } from './openai-compatible.ts'
import { encodeOpenAiResponses } from './openai-responses.ts'
import type { WireReply } from './wire-reply.ts'

// The official clients are the judges: whatever they read out of the encoded bytes has to be what was put in.

const thorough: WireReply = {
  reasoning: 'The person wants two cities. — Zürich first.',
  text: 'Let me look at both: Zürich and Oslo… 🌦️',
  calls: [
    { id: 'call_a', name: 'weather', input: { city: 'Zürich', days: 3, units: { wind: 'm/s', "quote'": '"\n' } } },
    { id: 'call_b', name: 'weather', input: {} },
  ],
  finish: 'tool-calls',
  usage: { input: 120, output: 60, cacheRead: 40, cacheWrite: 30, reasoning: 20 },
  costUsd: 0.00125,
}
const plain: WireReply = { text: 'Sunny.', finish: 'stop', usage: { input: 9, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 } }

/** A server that sends these chunks to one request. */
async function serving(chunks: readonly PlainChunk[]) {
  const server = await gatedServer()
  onTestFinished(async () => {
    await server.close()
    server.assertDone()
  })
  server.reply({ chunks })
  return server
}
const openAi = (url: string) => new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 })
const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello' }] }

async function readChat(chunks: readonly PlainChunk[]) {
  const { url } = await serving(chunks)
  return openAi(url)
    .chat.completions.stream({ ...ask, stream_options: { include_usage: true } })
    .finalChatCompletion()
}
async function readResponse(reply: WireReply) {
  const { url } = await serving(encodeOpenAiResponses(reply))
  return openAi(url).responses.stream({ model: 'm', input: 'Hello' }).finalResponse()
}
async function readMessage(reply: WireReply) {
  const { url } = await serving(encodeAnthropic(reply))
  const client = new Anthropic({ apiKey: 'k', baseURL: url, maxRetries: 0 })
  return client.messages.stream({ ...ask, max_tokens: 100 }).finalMessage()
}

describe('the official openai client reads chat completions', () => {
  const flavours = { OpenAI: encodeOpenAiChat, Ollama: encodeOllama, OpenRouter: encodeOpenRouter }
  for (const [name, encode] of Object.entries(flavours)) {
    it(`as ${name} sends them: text, calls, finish, usage`, async () => {
      const { choices, usage } = await readChat(encode(thorough))
      expect(choices).toMatchObject([
        {
          finish_reason: 'tool_calls',
          message: {
            content: thorough.text,
            tool_calls: thorough.calls!.map(({ id, name, input }) => ({ id, function: { name, arguments: JSON.stringify(input) } })),
          },
        },
      ])
      expect(usage).toMatchObject({ prompt_tokens: 120, completion_tokens: 60, total_tokens: 180 })
      const answer = await readChat(encode(plain))
      expect(answer.choices).toMatchObject([{ finish_reason: 'stop', message: { content: 'Sunny.' } }])
    })
  }
  it('as OpenAI sends them: cached and reasoning tokens', async () => {
    expect((await readChat(encodeOpenAiChat(thorough))).usage).toMatchObject({
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 20 },
    })
  })
  it('as OpenRouter sends them: comments are skipped, the cost is there', async () => {
    const chunks = encodeOpenRouter(thorough)
    expect(chunks.filter((chunk) => chunk === ': OPENROUTER PROCESSING\n\n')).toHaveLength(3)
    expect((await readChat(chunks)).usage).toMatchObject({ cost: 0.00125 })
  })
  it('as Ollama sends them: each call is whole in one delta', async () => {
    const { url } = await serving(encodeOllama(thorough))
    const seen: unknown[] = []
    for await (const { choices } of await openAi(url).chat.completions.create({ ...ask, stream: true }))
      seen.push(...(choices[0]?.delta.tool_calls ?? []))
    const [first, second] = thorough.calls!
    expect(seen).toEqual([
      { index: 0, id: 'call_a', type: 'function', function: { name: 'weather', arguments: JSON.stringify(first?.input) } },
      { index: 1, id: 'call_b', type: 'function', function: { name: 'weather', arguments: JSON.stringify(second?.input) } },
    ])
  })
})

describe('the official openai client reads responses', () => {
  it('with reasoning, text, calls and usage', async () => {
    const response = await readResponse(thorough)
    expect(response).toMatchObject({ status: 'completed', incomplete_details: null })
    expect(response.output).toMatchObject([
      { type: 'reasoning', summary: [{ text: thorough.reasoning }], encrypted_content: 'gAAAA-sealed' },
      { type: 'message', content: [{ type: 'output_text', text: thorough.text }] },
      ...thorough.calls!.map(({ id, name, input }) => ({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) })),
    ])
    expect(response.usage).toEqual({
      input_tokens: 120,
      input_tokens_details: { cached_tokens: 40, cache_write_tokens: 30 },
      output_tokens: 60,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: 180,
    })
  })
  it('whose deltas add up to what their end says', async () => {
    const { url } = await serving(encodeOpenAiResponses(thorough))
    let [text, summary] = ['', '']
    const calls = new Map<string, string>()
    for await (const event of await openAi(url).responses.create({ model: 'm', input: 'Hello', stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta
      if (event.type === 'response.reasoning_summary_text.delta') summary += event.delta
      if (event.type === 'response.function_call_arguments.delta') calls.set(event.item_id, (calls.get(event.item_id) ?? '') + event.delta)
    }
    expect([text, summary]).toEqual([thorough.text, thorough.reasoning])
    expect([...calls.values()]).toEqual(thorough.calls!.map(({ input }) => JSON.stringify(input)))
  })
  it.each([
    ['length', 'max_output_tokens'],
    ['content-filter', 'content_filter'],
  ] as const)('that end with %s', async (finish, reason) => {
    expect(await readResponse({ ...plain, finish })).toMatchObject({ status: 'incomplete', incomplete_details: { reason } })
  })
})

describe('the official anthropic client reads messages', () => {
  it('with thinking, text, calls and usage', async () => {
    const message = await readMessage(thorough)
    expect(message).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: thorough.reasoning, signature: 'EqQBCg-sealed' },
        { type: 'text', text: thorough.text },
        ...thorough.calls!.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
      ],
      usage: { input_tokens: 50, cache_creation_input_tokens: 30, cache_read_input_tokens: 40, output_tokens: 60 },
    })
  })
  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content-filter', 'refusal'],
  ] as const)('that end with %s', async (finish, reason) => {
    expect(await readMessage({ ...plain, finish })).toMatchObject({ stop_reason: reason, content: [{ text: 'Sunny.' }] })
  })
})

// There is no official client among the development dependencies: the package that Troupe uses reads it in the suites
// beside this one, and an independent mock speaks it too. Here only what the reference of the format says is held fast.
describe('Gemini', () => {
  const chunks = encodeGemini(thorough)
  const parsed = chunks.map((chunk) => JSON.parse(chunk.replace(/^data: /, '')))
  const parts = parsed.flatMap(({ candidates }) => candidates[0].content.parts)

  it('ends each event with two CRLF and sends nothing but data', () => {
    expect(chunks.filter((chunk) => !/^data: \{[^\r\n]*\}\r\n\r\n$/.test(chunk))).toEqual([])
  })
  it('has thoughts, text and whole calls in order', () => {
    const text = (thought: boolean) => parts.filter((part) => (part.thought ?? false) === thought).map((part) => part.text ?? '')
    expect(text(true).join('')).toBe(thorough.reasoning)
    expect(text(false).join('')).toBe(thorough.text)
    expect(parts.flatMap((part) => (part.functionCall ? [part.functionCall] : []))).toEqual(
      thorough.calls!.map(({ id, name, input }) => ({ id, name, args: input })),
    )
  })
  it('says how it ended and what it took in the last chunk only', () => {
    expect(parsed.slice(0, -1).filter(({ candidates }) => 'finishReason' in candidates[0])).toEqual([])
    expect(parsed.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: 120,
        candidatesTokenCount: 40,
        thoughtsTokenCount: 20,
        cachedContentTokenCount: 40,
        totalTokenCount: 180,
      },
    })
  })
})
