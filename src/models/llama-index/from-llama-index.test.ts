import { describe, expect, it } from 'vitest'
import type { Message, ModelPart, ModelRequest } from '../../contracts/index.ts'
import { type ModelBehaviour, modelContract } from '../../testing/index.ts'
import { fromLlamaIndex } from './index.ts'

const basic: ModelRequest = {
  system: 'You are a clerk.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
  tools: [],
  toolChoice: 'auto',
  parameters: {},
}

/** Stands in for an LLM: brings these chunks and notes what it was asked. */
function standIn(chunks: readonly unknown[], more: object = {}) {
  const asked: unknown[] = []
  return {
    asked,
    supportToolCall: true,
    metadata: { model: 'gpt-5-mini', contextWindow: 400_000 },
    async chat(params: object): Promise<unknown> {
      asked.push(params)
      return (async function* () {
        yield* chunks
      })()
    },
    ...more,
  }
}
async function partsOf(
  llm: ReturnType<typeof standIn>,
  request: Partial<ModelRequest> = {},
  id = 'llama/index',
): Promise<readonly ModelPart[]> {
  return (await allPartsOf(llm, request, id)).filter(({ type }) => type !== 'working')
}
async function allPartsOf(llm: ReturnType<typeof standIn>, request: Partial<ModelRequest>, id: string): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of fromLlamaIndex(llm, { id }).stream({ ...basic, ...request }, { signal: new AbortController().signal }))
    parts.push(part)
  return parts
}
const ended = (word: string | null) => ({ delta: '', raw: { choices: [{ finish_reason: word }] } })

describe('metadata of a LlamaIndex LLM', () => {
  it('comes from its metadata', () => {
    expect(fromLlamaIndex(standIn([]))).toMatchObject({
      id: 'llama-index/gpt-5-mini',
      abilities: ['tools', 'images', 'files', 'reasoning'],
      contextTokens: 400_000,
    })
    expect(fromLlamaIndex(standIn([], { supportToolCall: false })).abilities).not.toContain('tools')
  })
})

describe('what a LlamaIndex LLM is asked', () => {
  const messages: readonly Message[] = [
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'See.' },
        { type: 'image', mediaType: 'image/png', data: 'AAAA' },
        { type: 'file', mediaType: 'application/pdf', data: 'data:application/pdf;base64,BBBB' },
        { type: 'file', mediaType: 'application/pdf', data: 'https://example.test/a.pdf', name: 'a.pdf' },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'Hm…', metadata: { llamaIndex: { from: 'llama/index', signature: 's1' } } },
        { type: 'text', text: 'I look.' },
        { type: 'call', id: 'c1', name: 'look', input: '{"q":1}' },
      ],
    },
    { role: 'tool', results: [{ id: 'c1', name: 'look', ok: false, content: 'no' }] },
  ]
  it('is the whole conversation, with the tools', async () => {
    const llm = standIn([{ delta: 'x' }])
    const parts = await partsOf(llm, { messages, tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }] })
    expect(llm.asked).toEqual([
      {
        messages: [
          { role: 'system', content: 'You are a clerk.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'See.' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
              { type: 'file', mimeType: 'application/pdf', data: 'BBBB' },
              { type: 'text', text: 'The file a.pdf is at https://example.test/a.pdf' },
            ],
          },
          {
            role: 'assistant',
            content: 'I look.',
            options: { toolCall: [{ id: 'c1', name: 'look', input: { q: 1 } }], thinking: 'Hm…', thinking_signature: 's1' },
          },
          { role: 'user', content: 'no', options: { toolResult: { id: 'c1', result: 'no', isError: true } } },
        ],
        tools: [{ metadata: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } }],
        stream: true,
      },
    ])
    expect(parts[0]).toEqual({ type: 'notice', message: expect.stringContaining('URL') })
  })
  it('keeps its seals to itself', async () => {
    const llm = standIn([{ delta: 'x' }])
    await partsOf(llm, { messages }, 'another/model')
    expect(JSON.stringify(llm.asked)).not.toContain('s1')
  })
  it('has no tools if there is nothing to choose, JSON as an instruction, and a notice about each setting', async () => {
    const llm = standIn([{ delta: 'x' }])
    const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }]
    const parts = await partsOf(llm, {
      tools,
      toolChoice: 'none',
      output: { schema: { title: 'Sky' } },
      parameters: { seed: 1, cache: false },
    })
    expect(llm.asked).toEqual([
      {
        messages: [
          { role: 'system', content: expect.stringContaining('"Sky"') },
          { role: 'user', content: 'Go.' },
        ],
        stream: true,
      },
    ])
    expect(parts.filter(({ type }) => type === 'notice')).toEqual([{ type: 'notice', message: expect.stringContaining('"seed"') }])
  })
})

describe('arguments while they come in', () => {
  it('are counted as they grow', async () => {
    const chunk = (input: unknown, delta = '') => ({ delta, options: { toolCall: [{ id: 'a', name: 'look', input }] } })
    const whole = { q: 1 }
    const chunks = [chunk('', 'I look.'), chunk('{"q"'), chunk('{"q"'), chunk(whole), chunk(whole), ended('tool_calls')]
    const parts = await allPartsOf(standIn(chunks), {}, 'llama/index')
    expect(parts.slice(0, 6)).toEqual([
      { type: 'text', text: 'I look.' },
      { type: 'working', characters: 4 },
      { type: 'working' },
      { type: 'working', characters: 3 },
      { type: 'working' },
      { type: 'working' },
    ])
  })
})

describe('the reply of a LlamaIndex LLM', () => {
  const call = (id: string, input: unknown) => ({ delta: '', options: { toolCall: [{ id, name: 'look', input }] } })
  const called = (input: string) => ({ type: 'call', id: 'a', name: 'look', input })
  it.each<[what: string, chunks: readonly unknown[], parts: readonly object[]]>([
    [
      'text, nobody tells why it ended',
      [{ delta: 'a' }, { delta: 'b' }],
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
        { type: 'finish', reason: 'stop' },
      ],
    ],
    [
      'calls that grow',
      [call('a', ''), call('a', '{"q"'), call('a', { q: 1 }), call('b', '{}'), ended('tool_calls')],
      [called('{"q":1}'), { type: 'call', id: 'b', name: 'look', input: '{}' }, { type: 'finish', reason: 'tool-calls' }],
    ],
    ['arguments that stay a text', [call('a', '{"q":1}')], [called('{"q":1}'), { type: 'finish', reason: 'tool-calls' }]],
    ['arguments that were cut', [call('a', '{"q":')], []],
    [
      'broken arguments of a whole reply',
      [call('a', '{"q":'), ended('tool_calls')],
      [called('{"q":'), { type: 'finish', reason: 'tool-calls' }],
    ],
    ['choices without a reason: cut', [{ delta: 'a', raw: { choices: [{ finish_reason: null }] } }], [{ type: 'text', text: 'a' }]],
    [
      'Anthropic at its limit',
      [{ delta: 'a', raw: { type: 'message_delta', delta: { stop_reason: 'max_tokens' } } }],
      [
        { type: 'text', text: 'a' },
        { type: 'finish', reason: 'length' },
      ],
    ],
    [
      'Gemini withholds',
      [{ delta: 'a', raw: { candidates: [{ finishReason: 'SAFETY' }] } }],
      [
        { type: 'text', text: 'a' },
        { type: 'finish', reason: 'content-filter' },
      ],
    ],
    [
      'thinking with its seal',
      [{ delta: '', options: { thinking: 'Hm' } }, { delta: '', options: { thinking_signature: 's' } }, { delta: 'a' }],
      [
        { type: 'reasoning', text: 'Hm' },
        { type: 'reasoning', text: '', metadata: { llamaIndex: { from: 'llama/index', signature: 's' } } },
        { type: 'text', text: 'a' },
        { type: 'finish', reason: 'stop' },
      ],
    ],
    ['what is no chunk', [undefined, 'x', 1, { delta: 5, options: 'x', raw: 'y' }], [{ type: 'finish', reason: 'stop' }]],
  ])('%s', async (_, chunks, parts) => expect(await partsOf(standIn(chunks))).toEqual(parts))

  it.each<[what: string, raw: object, usage: object]>([
    [
      'OpenAI',
      {
        usage: {
          prompt_tokens: 9,
          completion_tokens: 5,
          prompt_tokens_details: { cached_tokens: 4 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
      { input: 9, output: 5, cacheRead: 4, cacheWrite: 0, reasoning: 2 },
    ],
    [
      'Anthropic',
      { message: { usage: { input_tokens: 3, output_tokens: 5, cache_read_input_tokens: 4, cache_creation_input_tokens: 2 } } },
      { input: 9, output: 5, cacheRead: 4, cacheWrite: 2, reasoning: 0 },
    ],
    [
      'Gemini',
      { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5 } },
      { input: 9, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    ],
    ['Ollama', { done: true, prompt_eval_count: 9, eval_count: 5 }, { input: 9, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 }],
  ])('is counted as %s counts', async (_, raw, usage) => {
    expect((await partsOf(standIn([{ delta: 'a', raw }]))).at(-1)).toEqual({ type: 'finish', reason: 'stop', usage })
  })

  it('has to be a stream', async () => {
    const llm = standIn([], { chat: async () => ({ message: { content: 'a' } }) })
    expect(await partsOf(llm)).toEqual([{ type: 'error', failure: { class: 'model', message: 'The model did not answer with a stream.' } }])
  })
})

describe('the contract of models', () => {
  const behaviours: { readonly [Name in ModelBehaviour]: () => ReturnType<typeof standIn> } = {
    text: () => standIn([{ delta: 'Blue.' }]),
    calls: () =>
      standIn([
        { delta: '', options: { toolCall: [{ name: 'look', input: {} }] } },
        { delta: '', options: { toolCall: [{ name: 'look', input: '' }] } },
      ]),
    fault: () => standIn([], { chat: () => Promise.reject(new Error('no')) }),
    silence: () => standIn([], { chat: () => new Promise(() => {}) }),
  }
  for (const { name, run } of modelContract((behaviour) => fromLlamaIndex(behaviours[behaviour]()))) it(name, run)
})
