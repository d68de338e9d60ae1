import { describe, expect, it } from 'vitest'
import { bare, calls, chat, collect, cut, events, history, look, modelOn, wire } from '../../../test/fixtures/provider-wire.ts'
import type { Json, ModelRequest } from '../../contracts/index.ts'

const chunk = (delta: Json, finish: Json = null): Json => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm-1-served',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const counted = (usage: Json): Json => ({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm-1', choices: [], usage })
const hi = chat([chunk({ role: 'assistant', content: 'Hi' }), chunk({}, 'stop'), counted({ prompt_tokens: 9, completion_tokens: 2 })])

const sentBy = async (request: ModelRequest, provider = 'house'): Promise<Json> => {
  const line = wire(hi)
  await collect(await modelOn(line, { kind: 'openai-compatible', model: 'm-1', provider }), request)
  return line.sent[0]!.body
}

const always = { model: 'm-1', stream: true, stream_options: { include_usage: true } }
const system = { role: 'system', content: 'Be brief.' }
const hello = { role: 'user', content: 'Hello' }
const tools = [{ type: 'function', function: { name: 'look', description: look.description, parameters: look.inputSchema } }]
const words = `Give your final answer as JSON only: no words before or after it, no code fence.\nThe JSON must be valid against this JSON Schema:\n${JSON.stringify(look.inputSchema)}`

describe('a request in the format of OpenAI', () => {
  it('asks for the usage', async () => {
    expect(await sentBy(bare)).toEqual({ ...always, messages: [system, hello] })
  })

  it('repeats calls and results as they came', async () => {
    const messages = history([
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning', text: 'of another provider', metadata: { anthropic: { signature: 'sig' } } },
      { type: 'text', text: 'Let me look.' },
      ...calls,
    ])
    expect(await sentBy({ ...bare, messages, tools: [look] })).toEqual({
      ...always,
      messages: [
        system,
        { role: 'user', content: 'Look for a and b' },
        {
          role: 'assistant',
          content: 'Let me look.',
          reasoning_content: 'Hm',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{ "what": "a" }' } },
            { id: 'call_2', type: 'function', function: { name: 'look', arguments: '{"unreadable_arguments":"{\\"what\\": "}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'found a' },
        { role: 'tool', tool_call_id: 'call_2', content: 'invalid arguments' },
      ],
      tools,
      tool_choice: 'auto',
    })
  })

  it('joins messages of the user that follow each other', async () => {
    const said = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] }) as const
    expect(await sentBy({ ...bare, system: '', messages: [said('One'), said(''), said('Two')] })).toEqual({
      ...always,
      messages: [{ role: 'user', content: 'One\n\nTwo' }],
    })
  })

  it('carries images and files', async () => {
    const parts = [
      { type: 'text', text: 'See' },
      { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'image', mediaType: 'image/png', data: 'https://example.com/a.png' },
      { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=', name: 'a.pdf' },
    ] as const
    expect(await sentBy({ ...bare, messages: [{ role: 'user', parts }] })).toEqual({
      ...always,
      messages: [
        system,
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          ],
        },
      ],
    })
  })

  it('has the schema in words, and as a setting where the server is known to take it and no tool can suffer', async () => {
    const output = { schema: look.inputSchema }
    const messages = [{ role: 'system', content: `Be brief.\n\n${words}` }, hello]
    const format = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: look.inputSchema } }
    expect(await sentBy({ ...bare, output })).toEqual({ ...always, messages })
    expect(await sentBy({ ...bare, output }, 'ollama')).toEqual({ ...always, messages, response_format: format })
    expect(await sentBy({ ...bare, output, tools: [look] }, 'ollama')).toEqual({ ...always, messages, tools, tool_choice: 'auto' })
    expect(await sentBy({ ...bare, output, tools: [look], toolChoice: 'none' }, 'ollama')).toEqual({
      ...always,
      messages,
      response_format: format,
      tools,
      tool_choice: 'none',
    })
    const open = { type: 'object' }
    expect(await sentBy({ ...bare, system: '', output: { schema: open } }, 'lmstudio')).toMatchObject({
      response_format: { json_schema: { strict: false, schema: open } },
    })
  })

  it('passes parameters on', async () => {
    const parameters = { temperature: 0.5, topP: 0.9, maxOutputTokens: 100, seed: 7, reasoning: 'xhigh' } as const
    const passed = { ...always, messages: [system, hello], max_tokens: 100, temperature: 0.5, top_p: 0.9, seed: 7 }
    expect(await sentBy({ ...bare, parameters })).toEqual({ ...passed, reasoning_effort: 'xhigh' })
    expect(await sentBy({ ...bare, parameters }, 'ollama')).toEqual({ ...passed, reasoning_effort: 'high' })
    expect(await sentBy({ ...bare, parameters }, 'openrouter')).toEqual({
      ...passed,
      reasoning: { effort: 'xhigh' },
      usage: { include: true },
    })
  })
})

describe('a reply in the format of OpenAI', () => {
  const read = async (answer: () => Response, provider = 'house') =>
    collect(await modelOn(wire(answer), { kind: 'openai-compatible', model: 'm-1', provider }))

  it('comes with its thoughts, its calls and its cost', async () => {
    const call = (index: number, more: { readonly [key: string]: Json }): Json => ({ tool_calls: [{ index, ...more }] })
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 5 },
      cost: 0.0012,
    }
    const answer = chat([
      chunk({ role: 'assistant', content: '', reasoning: 'Hm' }),
      chunk({ content: 'Let me look.' }),
      chunk(call(0, { id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } })),
      chunk(call(0, { function: { arguments: '{"what":' } })),
      chunk(call(0, { function: { arguments: '"a"}' } })),
      chunk({}, 'tool_calls'),
      counted(usage),
    ])
    expect(await read(answer, 'openrouter')).toEqual([
      { type: 'reasoning', text: 'Hm', block: 'reasoning:reasoning-0' },
      { type: 'text', text: 'Let me look.' },
      { type: 'working' },
      { type: 'working', characters: 8 },
      { type: 'working', characters: 4 },
      { type: 'call', id: 'call_1', name: 'look', input: '{"what":"a"}' },
      {
        type: 'finish',
        reason: 'tool-calls',
        usage: { input: 9, output: 7, cacheRead: 4, cacheWrite: 0, reasoning: 5 },
        costUsd: 0.0012,
        metadata: { responseId: 'c1', model: 'm-1-served' },
      },
    ])
  })

  it('adds what the provider bills where the key is its own', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 7, cost: 0.5, is_byok: true, cost_details: { upstream_inference_cost: 2 } }
    const parts = await read(chat([chunk({ content: 'Hi' }), chunk({}, 'stop'), counted(usage)]), 'openrouter')
    expect(parts.at(-1)).toMatchObject({ costUsd: 2.5 })
  })

  it('has no usage if the server reports none', async () => {
    const finish = { type: 'finish', reason: 'stop', metadata: { responseId: 'c1', model: 'm-1-served' } }
    expect((await read(chat([chunk({ content: 'Hi' }), chunk({}, 'stop')]))).at(-1)).toEqual(finish)
    expect((await read(chat([chunk({ content: 'Hi' }), chunk({}, 'stop'), counted({})]))).at(-1)).toEqual(finish)
  })

  it('is no reply where it was cut, whatever calls it seems to have', async () => {
    const half = chunk({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'look', arguments: '{"what":"a"}' } }] })
    for (const answer of [chat([chunk({ content: 'Hi' })]), events([half]), chat([])]) {
      const parts = await read(answer)
      expect(parts.at(-1)).toEqual(cut)
    }
  })

  it('fails as the server says within the stream', async () => {
    const error = { error: { code: 429, message: 'Slow down.' } }
    expect((await read(chat([chunk({ content: 'Hi' }), error]))).at(-1)).toEqual({
      type: 'error',
      failure: { class: 'rate_limit', message: 'Slow down.' },
    })
  })
})
