import { AIMessage, AIMessageChunk, coerceMessageLikeToMessage, ToolMessage } from '@langchain/core/messages'
import { FakeListChatModel, FakeStreamingChatModel } from '@langchain/core/utils/testing'
import { describe, expect, it } from 'vitest'
import type { Message, ModelPart, ModelRequest } from '../../contracts/index.ts'
import { type ModelBehaviour, modelContract } from '../../testing/index.ts'
import { fromLangChain } from './index.ts'
import type { LangChainChatModel, LangChainMessage } from './langchain-messages.ts'

const basic: ModelRequest = {
  system: 'You are a clerk.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Go.' }] }],
  tools: [],
  toolChoice: 'auto',
  parameters: {},
}
const lookTool = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }

interface Asked {
  readonly messages: readonly LangChainMessage[]
  readonly options: { readonly [name: string]: unknown }
  readonly bound?: { readonly tools: readonly unknown[]; readonly options: object }
}
/** A model that brings these chunks and notes what it was asked. */
function chat(chunks: readonly unknown[], more: object = {}): { model: LangChainChatModel; asked: Asked[] } {
  const asked: Asked[] = []
  const stream =
    (bound?: Asked['bound']) => async (messages: readonly LangChainMessage[], options: { readonly [name: string]: unknown }) => {
      const { signal: _, ...rest } = options
      asked.push({ messages, options: rest, ...(bound && { bound }) })
      return (async function* () {
        yield* chunks
      })()
    }
  const bindTools = (tools: readonly unknown[], options: object) => ({ stream: stream({ tools, options }) })
  return { asked, model: { stream: stream(), bindTools, ...more } as unknown as LangChainChatModel }
}
async function partsOf(model: LangChainChatModel, request: Partial<ModelRequest> = {}, id = 'lang/chain'): Promise<readonly ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of fromLangChain(model, { id }).stream({ ...basic, ...request }, { signal: new AbortController().signal }))
    parts.push(part)
  return parts
}
const told = (parts: readonly ModelPart[]) => parts.filter(({ type }) => type !== 'working')
const stop = { response_metadata: { finish_reason: 'stop' } }

describe('metadata of a LangChain model', () => {
  it('comes from the model', () => {
    const { model } = chat([], { model: 'gpt 5', profile: { maxInputTokens: 1000, imageInputs: false, pdfInputs: true } })
    expect(fromLangChain(model)).toMatchObject({
      id: 'langchain/gpt-5',
      abilities: ['tools', 'files', 'reasoning'],
      contextTokens: 1000,
    })
  })
  it('is overridden by options', () => {
    const costOf = () => 1
    const options = { id: 'a/b', abilities: ['tools'], contextTokens: 5, costOf } as const
    expect(fromLangChain(chat([]).model, options)).toMatchObject(options)
  })
  it('has no tools where none can be bound', () => {
    const { model } = chat([], { bindTools: undefined, modelName: 'm' })
    expect(fromLangChain(model)).toMatchObject({ id: 'langchain/m', abilities: ['images', 'files', 'reasoning'] })
  })
})

describe('what a LangChain model is asked', () => {
  const messages: readonly Message[] = [
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'See.' },
        { type: 'image', mediaType: 'image/png', data: 'AAAA' },
        { type: 'image', mediaType: 'image/png', data: 'https://example.test/a.png' },
        { type: 'file', mediaType: 'application/pdf', data: 'BBBB', name: 'a.pdf' },
        { type: 'file', mediaType: 'application/pdf', data: 'https://example.test/a.pdf' },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'of another model' },
        { type: 'text', text: 'I look.' },
        { type: 'call', id: 'c1', name: 'look', input: '{"q":1}' },
        { type: 'call', id: 'c2', name: 'look', input: '{"q":' },
      ],
    },
    {
      role: 'tool',
      results: [
        { id: 'c1', name: 'look', ok: true, content: 'found' },
        { id: 'c2', name: 'look', ok: false, content: 'no' },
      ],
    },
  ]
  const plain = [
    { role: 'system', content: 'You are a clerk.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See.' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'image_url', image_url: { url: 'https://example.test/a.png' } },
        { type: 'file', source_type: 'base64', mime_type: 'application/pdf', data: 'BBBB', metadata: { filename: 'a.pdf' } },
        {
          type: 'file',
          source_type: 'url',
          mime_type: 'application/pdf',
          url: 'https://example.test/a.pdf',
          metadata: { filename: 'file' },
        },
      ],
    },
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [
        { type: 'tool_call', id: 'c1', name: 'look', args: { q: 1 } },
        { type: 'tool_call', id: 'c2', name: 'look', args: { unreadable_arguments: '{"q":' } },
      ],
    },
    { role: 'tool', content: 'found', tool_call_id: 'c1', name: 'look', status: 'success' },
    { role: 'tool', content: 'no', tool_call_id: 'c2', name: 'look', status: 'error' },
  ]

  it('is the whole conversation, in the plain form', async () => {
    const { model, asked } = chat([{ content: 'x', ...stop }])
    await partsOf(model, { messages })
    expect(asked).toEqual([{ messages: plain, options: {} }])
  })
  it('is a form that LangChain turns into its own', () => {
    const own = plain.map((message) => coerceMessageLikeToMessage(message as never))
    expect(own.map(({ type }) => type)).toEqual(['system', 'human', 'ai', 'tool', 'tool'])
    expect(own[2]).toBeInstanceOf(AIMessage)
    expect((own[2] as AIMessage).tool_calls?.map(({ id, args }) => [id, args])).toEqual([
      ['c1', { q: 1 }],
      ['c2', { unreadable_arguments: '{"q":' }],
    ])
    expect(own[4]).toBeInstanceOf(ToolMessage)
    expect(own[4]).toMatchObject({ tool_call_id: 'c2', status: 'error', name: 'look' })
  })
  it('has tools bound, and disabled if there is nothing to choose', async () => {
    const { model, asked } = chat([{ content: 'x', ...stop }])
    await partsOf(model, { tools: [lookTool] })
    await partsOf(model, { tools: [lookTool], toolChoice: 'none' })
    const tools = [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } }]
    expect(asked.map(({ bound }) => bound)).toEqual([
      { tools, options: {} },
      { tools, options: { tool_choice: 'none' } },
    ])
  })
  it('has the JSON instruction in its system message, and no system message without instructions', async () => {
    const { model, asked } = chat([{ content: '{}', ...stop }])
    await partsOf(model, { output: { schema: { type: 'object', title: 'Sky' } } })
    await partsOf(model, { system: '', output: {} })
    await partsOf(model, { system: '' })
    expect(asked.map(({ messages: [first] }) => first)).toEqual([
      { role: 'system', content: expect.stringMatching(/^You are a clerk\.\n\n.*JSON Schema:\n\{"type":"object","title":"Sky"\}$/s) },
      { role: 'system', content: expect.stringMatching(/^Give your final answer as JSON/) },
      { role: 'user', content: 'Go.' },
    ])
  })
  it('has the settings that it takes with a call, and a notice about each other one', async () => {
    const parameters = { temperature: 0.5, topP: 0.9, maxOutputTokens: 10, seed: 7, reasoning: 'low', cache: true } as const
    const { model, asked } = chat([{ content: 'x', ...stop }], { callKeys: ['stop', 'seed', 'reasoning', 'maxTokens'] })
    const parts = await partsOf(model, { parameters })
    expect(asked[0]?.options).toEqual({ seed: 7, reasoning: { effort: 'low' }, maxTokens: 10 })
    const notices = parts.flatMap((part) => (part.type === 'notice' ? [/"(\w+)"/.exec(part.message)?.[1]] : []))
    expect(notices).toEqual(['temperature', 'topP', 'cache'])
    expect(await partsOf(model, { parameters: { cache: false } })).not.toContainEqual(expect.objectContaining({ type: 'notice' }))
  })
})

describe('arguments while they come in', () => {
  const piece = (args: string, content = '') => ({ content, tool_call_chunks: [{ id: 'c1', name: 'look', args, index: 0 }] })
  it('are counted, beside words too, and only once', async () => {
    const parts = await partsOf(chat([piece('{"q":', 'I look.'), piece('1}'), { content: '', ...stop }]).model)
    expect(parts.slice(0, 4)).toEqual([
      { type: 'text', text: 'I look.' },
      { type: 'working', characters: 5 },
      { type: 'working', characters: 2 },
      { type: 'working' },
    ])
  })
  it('are counted where they come whole', async () => {
    const parts = await partsOf(chat([{ tool_calls: [{ id: 'c1', name: 'look', args: { q: 1 } }], ...stop }]).model)
    expect(parts[0]).toEqual({ type: 'working', characters: 7 })
  })
})

describe('the end of a reply', () => {
  const whole = { tool_call_chunks: [{ id: 'c1', name: 'look', args: '{"q":1}', index: 0 }] }
  const part = { tool_call_chunks: [{ id: 'c1', name: 'look', args: '{"q":', index: 0 }] }
  const call = (input: string) => ({ type: 'call', id: 'c1', name: 'look', input })
  it.each<[what: string, chunks: readonly object[], ending: readonly object[]]>([
    ['nobody tells, text', [{ content: 'a' }], [{ type: 'finish', reason: 'stop' }]],
    ['nobody tells, whole calls', [whole], [call('{"q":1}'), { type: 'finish', reason: 'tool-calls' }]],
    ['nobody tells, a call that is not whole: cut', [part], []],
    ['an integration that always tells has not told: cut', [{ content: 'a', response_metadata: { model_provider: 'openai' } }], []],
    [
      'it tells, and the arguments are broken',
      [part, { response_metadata: { finish_reason: 'tool_calls' } }],
      [call('{"q":'), { type: 'finish', reason: 'tool-calls' }],
    ],
    [
      'Gemini says STOP for calls too',
      [whole, { response_metadata: { finishReason: 'STOP' } }],
      [call('{"q":1}'), { type: 'finish', reason: 'tool-calls' }],
    ],
    [
      'Anthropic tells beside the content',
      [{ content: 'a' }, { additional_kwargs: { stop_reason: 'max_tokens' } }],
      [{ type: 'finish', reason: 'length' }],
    ],
    ['Ollama', [{ content: 'a' }, { response_metadata: { done_reason: 'length' } }], [{ type: 'finish', reason: 'length' }]],
    [
      'Bedrock',
      [{ content: 'a' }, { response_metadata: { messageStop: { stopReason: 'guardrail_intervened' } } }],
      [{ type: 'finish', reason: 'content-filter' }],
    ],
    [
      'OpenAI responses',
      [{ content: 'a' }, { response_metadata: { status: 'completed', model_provider: 'openai' } }],
      [{ type: 'finish', reason: 'stop' }],
    ],
    [
      'OpenAI responses, cut at its limit',
      [{ content: 'a' }, { response_metadata: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } }],
      [{ type: 'finish', reason: 'length' }],
    ],
    ['a refusal', [{ content: 'a', additional_kwargs: { refusal: 'no' } }], [{ type: 'finish', reason: 'content-filter' }]],
    [
      'a word that nobody knows',
      [{ content: 'a' }, { response_metadata: { finish_reason: 'bored' } }],
      [{ type: 'finish', reason: 'other' }],
    ],
  ])('%s', async (_, chunks, ending) => {
    expect(told(await partsOf(chat(chunks).model)).filter(({ type }) => type !== 'text')).toEqual(ending)
  })

  it('has the sum of the usage of all chunks', async () => {
    const counts = (input: number, output: number, more: object) => ({
      usage_metadata: { input_tokens: input, output_tokens: output, ...more },
    })
    const parts = await partsOf(
      chat([
        { content: 'a', ...counts(100, 1, { input_token_details: { cache_read: 60, cache_creation: 20 } }) },
        { ...stop, ...counts(0, 9, { output_token_details: { reasoning: 4 } }) },
      ]).model,
    )
    expect(parts.at(-1)).toMatchObject({ usage: { input: 100, output: 10, cacheRead: 60, cacheWrite: 20, reasoning: 4 } })
  })
})

describe('calls', () => {
  const calls = async (chunks: readonly object[]) =>
    (await partsOf(chat([...chunks, { response_metadata: { finish_reason: 'tool_calls' } }]).model)).flatMap((part) =>
      part.type === 'call' ? [[part.id, part.name, part.input]] : [],
    )
  it('are put together by id and place', async () => {
    const piece = (fields: object) => ({ tool_call_chunks: [fields] })
    expect(
      await calls([
        piece({ id: 'a', name: 'look', args: '', index: 0 }),
        piece({ id: 'b', name: 'find', args: '{"b"', index: 1 }),
        piece({ args: '{"a":1', index: 0 }),
        piece({ id: 'b', args: ':2}', index: 1 }),
        piece({ args: '}', index: 0 }),
        piece({ id: 'c', name: 'look', args: '{}', index: 0 }),
      ]),
    ).toEqual([
      ['a', 'look', '{"a":1}'],
      ['b', 'find', '{"b":2}'],
      ['c', 'look', '{}'],
    ])
  })
  it('get an id where they have none, and arguments where there are none', async () => {
    expect(
      await calls([{ tool_call_chunks: [{ name: 'look', args: '' }] }, { tool_call_chunks: [{ name: 'look', args: '{"q":1}' }] }]),
    ).toEqual([
      ['call_1', 'look', '{}'],
      ['call_2', 'look', '{"q":1}'],
    ])
  })
  it('come ready from a model that does not stream, the unreadable ones as they were written', async () => {
    const message = new AIMessage({
      content: 'I look.',
      tool_calls: [{ id: 'a', name: 'look', args: { q: 1 } }],
      invalid_tool_calls: [{ id: 'b', name: 'look', args: '{"q":' }],
    })
    expect(await calls([message])).toEqual([
      ['a', 'look', '{"q":1}'],
      ['b', 'look', '{"q":'],
    ])
  })
  it('are not closed as LangChain closes them: what was cut is no call', async () => {
    const chunk = new AIMessageChunk({ content: '', tool_call_chunks: [{ id: 'a', name: 'pay', args: '{"amount":1', index: 0 }] })
    expect(chunk.tool_calls, 'LangChain would pay').toMatchObject([{ args: { amount: 1 } }])
    expect(told(await partsOf(chat([chunk]).model))).toEqual([])
  })
})

describe('what a model wrote beside its words', () => {
  const chunks = [
    { content: [{ type: 'thinking', thinking: 'Hm', index: 0 }], response_metadata: { model_provider: 'anthropic' } },
    { content: [{ type: 'thinking', thinking: '…', index: 0 }] },
    { content: [{ type: 'thinking', signature: 's1', index: 0 }] },
    { content: [{ type: 'redacted_thinking', data: 'xxx', index: 1 }] },
    { content: [{ type: 'text', text: 'I ', index: 2 }] },
    { content: [{ type: 'text', text: 'look.', index: 2 }] },
    {
      content: [{ type: 'tool_use', id: 'c1', name: 'look', input: '', index: 3 }],
      tool_call_chunks: [{ id: 'c1', name: 'look', args: '', index: 3 }],
    },
    { content: [{ type: 'input_json_delta', input: '{"q":1}', index: 3 }], tool_call_chunks: [{ args: '{"q":1}', index: 3 }] },
    { content: [], additional_kwargs: { stop_reason: 'tool_use' } },
  ]
  /** As the loop keeps it: parts of one kind in a row are one. */
  function reply(parts: readonly ModelPart[]): Message {
    const kept: { type: 'text' | 'reasoning'; text: string; metadata?: object }[] = []
    for (const part of parts) {
      if (part.type !== 'text' && part.type !== 'reasoning') continue
      const last = kept.at(-1)
      if (last?.type === part.type) Object.assign(last, { ...part, text: last.text + part.text })
      else kept.push({ ...part })
    }
    return { role: 'assistant', parts: [...kept, ...parts.filter((part) => part.type === 'call')] } as Message
  }
  const again = async (from: readonly object[], to: string) => {
    const history = reply(await partsOf(chat(from).model))
    const { model, asked } = chat([{ content: 'x', ...stop }])
    await partsOf(model, { system: '', messages: [JSON.parse(JSON.stringify(history))] }, to)
    return asked[0]?.messages[0]
  }

  it('is shown as it comes', async () => {
    const words = (await partsOf(chat(chunks).model)).flatMap((part) =>
      'text' in part && part.text !== '' ? [[part.type, part.text]] : [],
    )
    expect(words).toEqual([
      ['reasoning', 'Hm'],
      ['reasoning', '…'],
      ['text', 'I '],
      ['text', 'look.'],
    ])
  })
  it('goes back to it as it was: blocks with their seals, in their order', async () => {
    expect(await again(chunks, 'lang/chain')).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm…', signature: 's1' },
        { type: 'redacted_thinking', data: 'xxx' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'c1', name: 'look', input: { q: 1 } },
      ],
      tool_calls: [{ type: 'tool_call', id: 'c1', name: 'look', args: { q: 1 } }],
      response_metadata: { model_provider: 'anthropic' },
    })
  })
  it('is nothing to any other model', async () => {
    expect(await again(chunks, 'another/model')).toEqual({
      role: 'assistant',
      content: 'I look.',
      tool_calls: [{ type: 'tool_call', id: 'c1', name: 'look', args: { q: 1 } }],
    })
  })
  it('is read beside the content if the integration puts it there', async () => {
    const beside = [
      {
        content: '',
        additional_kwargs: { reasoning: { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'H', index: 0 }] } },
      },
      {
        content: [{ type: 'reasoning', reasoning: 'm' }],
        additional_kwargs: { reasoning: { summary: [{ type: 'summary_text', text: 'm', index: 0 }] } },
      },
      { content: [{ type: 'text', text: 'Blue.', index: 0 }], additional_kwargs: { tool_outputs: ['left out'] } },
      { content: [], response_metadata: { status: 'completed' } },
    ]
    const words = told(await partsOf(chat(beside).model)).flatMap((part) => ('text' in part && part.text !== '' ? [part.text] : []))
    expect(words).toEqual(['H', 'm', 'Blue.'])
    expect(await again(beside, 'lang/chain')).toEqual({
      role: 'assistant',
      content: [
        { type: 'reasoning', reasoning: 'm' },
        { type: 'text', text: 'Blue.' },
      ],
      additional_kwargs: { reasoning: { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm', index: 0 }] } },
    })
  })
  it('is read beside a text, too, and not stored twice', async () => {
    const beside = [
      { content: '', additional_kwargs: { reasoning_content: 'H' } },
      { content: '', additional_kwargs: { reasoning_content: 'm' } },
      { content: 'Blue.', ...stop },
    ]
    const parts = told(await partsOf(chat(beside).model))
    expect(JSON.stringify(parts)).not.toContain('Hm')
    expect(await again(beside, 'lang/chain')).toEqual({
      role: 'assistant',
      content: 'Blue.',
      additional_kwargs: { reasoning_content: 'Hm' },
    })
    expect(await again(beside, 'another/model')).toEqual({ role: 'assistant', content: 'Blue.' })
  })
  it('is left out where it was nothing but words', async () => {
    const parts = await partsOf(
      chat([
        { content: 'Bl', response_metadata: { model_provider: 'openai' } },
        { content: 'ue.', ...stop },
      ]).model,
    )
    expect(told(parts)).toEqual([
      { type: 'text', text: 'Bl' },
      { type: 'text', text: 'ue.' },
      { type: 'finish', reason: 'stop' },
    ])
  })
})

describe('models of @langchain/core', () => {
  it('fit, and speak', async () => {
    const list = new FakeListChatModel({ responses: ['Blue.'] })
    expect(
      told(await partsOf(list))
        .map((part) => ('text' in part ? part.text : part.type))
        .join(''),
    ).toBe('Blue.finish')
    const streaming = new FakeStreamingChatModel({ chunks: [new AIMessageChunk('Bl'), new AIMessageChunk('ack.')] })
    expect(told(await partsOf(streaming))).toEqual([
      { type: 'text', text: 'Bl' },
      { type: 'text', text: 'ack.' },
      { type: 'finish', reason: 'stop' },
    ])
  })
})

describe('the contract of models', () => {
  const behaviours: { readonly [Name in ModelBehaviour]: () => LangChainChatModel } = {
    text: () => chat([{ content: 'Blue.' }, stop]).model,
    calls: () =>
      chat([{ tool_call_chunks: [{ name: 'look', args: '', index: 0 }] }, { tool_call_chunks: [{ name: 'look', args: '{}', index: 1 }] }])
        .model,
    fault: () => chat([], { bindTools: () => ({ stream: () => Promise.reject(Object.assign(new Error('no'), { status: 500 })) }) }).model,
    silence: () => chat([], { bindTools: () => ({ stream: () => new Promise(() => {}) }) }).model,
  }
  for (const { name, run } of modelContract((behaviour) => fromLangChain(behaviours[behaviour]()))) it(name, run)
})
