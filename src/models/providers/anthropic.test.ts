import { describe, expect, it } from 'vitest'
import { bare, calls, collect, cut, history, json, look, modelOn, named, wire } from '../../../test/fixtures/provider-wire.ts'
import type { Json, ModelParameters, ModelRequest } from '../../contracts/index.ts'

const start = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'claude-sonnet-4-5',
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 4, cache_read_input_tokens: 6 },
  },
}
const stop = (reason: string) => [
  { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 20 } },
  { type: 'message_stop' },
]
const block = (index: number, content: Json, ...deltas: readonly Json[]) => [
  { type: 'content_block_start', index, content_block: content },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const text = (index: number, said: string) => block(index, { type: 'text', text: '' }, { type: 'text_delta', text: said })
const hi = named([start, ...text(0, 'Hi'), ...stop('end_turn')])

const sentBy = async (request: ModelRequest, model = 'claude-sonnet-4-5'): Promise<Json> => {
  const line = wire(hi)
  await collect(await modelOn(line, { kind: 'anthropic', model }), request)
  return line.sent[0]!.body
}

const mark = { cache_control: { type: 'ephemeral' } }
const always = { model: 'claude-sonnet-4-5', max_tokens: 64_000, stream: true }
const system = [{ type: 'text', text: 'Be brief.', ...mark }]
const hello = { role: 'user', content: [{ type: 'text', text: 'Hello', ...mark }] }
const lookTool = { name: 'look', description: look.description, input_schema: look.inputSchema, eager_input_streaming: true }

describe('a request to Anthropic', () => {
  it('marks system text and message for the cache', async () => {
    expect(await sentBy(bare)).toEqual({ ...always, system, messages: [hello] })
  })

  it('marks nothing where no cache is wanted', async () => {
    expect(await sentBy({ ...bare, tools: [look], parameters: { cache: false } })).toEqual({
      ...always,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      tools: [lookTool],
      tool_choice: { type: 'auto' },
    })
  })

  it('marks the last tool if there is no system text', async () => {
    expect(await sentBy({ ...bare, system: '', tools: [look, { ...look, name: 'find' }], toolChoice: 'none' })).toEqual({
      ...always,
      messages: [hello],
      tools: [lookTool, { ...lookTool, name: 'find', ...mark }],
      tool_choice: { type: 'none' },
    })
  })

  it('repeats thoughts, calls and results as they came, and marks where the last request ended', async () => {
    const messages = [
      { role: 'user', parts: [{ type: 'text', text: 'Earlier' }] } as const,
      { role: 'assistant', parts: [{ type: 'text', text: 'Yes.' }] } as const,
      ...history([
        { type: 'reasoning', text: 'Hm', metadata: { anthropic: { signature: 'sig' } } },
        { type: 'reasoning', text: '', metadata: { anthropic: { redactedData: 'hidden' } } },
        { type: 'reasoning', text: 'of another provider', metadata: { openai: { itemId: 'rs_1' } } },
        { type: 'reasoning', text: 'of nobody' },
        { type: 'text', text: 'Let me look.' },
        ...calls,
      ]),
    ]
    expect(await sentBy({ ...bare, messages, tools: [look] })).toEqual({
      ...always,
      system,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Earlier' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
        { role: 'user', content: [{ type: 'text', text: 'Look for a and b', ...mark }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'sig' },
            { type: 'redacted_thinking', data: 'hidden' },
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'call_1', name: 'look', input: { what: 'a' } },
            { type: 'tool_use', id: 'call_2', name: 'look', input: { unreadable_arguments: '{"what": ' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: 'found a' },
            { type: 'tool_result', tool_use_id: 'call_2', content: 'invalid arguments', is_error: true, ...mark },
          ],
        },
      ],
      tools: [lookTool],
      tool_choice: { type: 'auto' },
    })
  })

  it('renames calls whose ids Anthropic would refuse', async () => {
    const id = 'functions.look:0'
    const messages = [
      { role: 'user', parts: [{ type: 'text', text: 'Go' }] } as const,
      { role: 'assistant', parts: [{ type: 'call', id, name: 'look', input: '' }] } as const,
      { role: 'tool', results: [{ id, name: 'look', ok: true, content: 'x' }] } as const,
    ]
    const renamed = expect.stringMatching(/^functions_look_0_\w+$/)
    expect(await sentBy({ ...bare, messages, parameters: { cache: false } })).toMatchObject({
      messages: [
        {},
        { content: [{ type: 'tool_use', id: renamed, name: 'look', input: {} }] },
        { content: [{ type: 'tool_result', tool_use_id: renamed, content: 'x' }] },
      ],
    })
  })

  it('carries images and files', async () => {
    const parts = [
      { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'image', mediaType: 'image/png', data: 'https://example.com/a.png' },
      { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=', name: 'a.pdf' },
      { type: 'file', mediaType: 'text/csv', data: 'data:text/csv,a%2Cb', name: 't.csv' },
    ] as const
    expect(await sentBy({ ...bare, messages: [{ role: 'user', parts }] })).toEqual({
      ...always,
      system,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }, title: 'a.pdf' },
            { type: 'text', text: 'File "t.csv" (text/csv):\n\na,b', ...mark },
          ],
        },
      ],
    })
  })

  it('asks for the schema beside the tools', async () => {
    expect(await sentBy({ ...bare, tools: [look], output: { schema: look.inputSchema } })).toEqual({
      ...always,
      system,
      messages: [hello],
      output_config: { format: { type: 'json_schema', schema: look.inputSchema } },
      tools: [lookTool],
      tool_choice: { type: 'auto' },
    })
  })

  it.each([
    ['claude-sonnet-4-5', { type: 'object', properties: { map: { type: 'object' } } }],
    ['claude-3-haiku-20240307', look.inputSchema],
    ['claude-sonnet-4-20250514', look.inputSchema],
  ])('asks %s in words for %j, and never by a tool of its own', async (model, schema) => {
    const body = (await sentBy({ ...bare, output: { schema } }, model)) as { [key: string]: Json }
    expect(Object.keys(body).toSorted()).toEqual(['max_tokens', 'messages', 'model', 'stream', 'system'])
    expect(body.system).toEqual([{ type: 'text', text: expect.stringContaining(JSON.stringify(schema)), ...mark }])
  })

  it.each<[ModelParameters, Json]>([
    [
      { temperature: 0.5, maxOutputTokens: 100 },
      { max_tokens: 100, temperature: 0.5 },
    ],
    [{ reasoning: 'low' }, { max_tokens: 64_000, thinking: { type: 'enabled', budget_tokens: 6400 } }],
    [
      { reasoning: 'low', maxOutputTokens: 10_000 },
      { max_tokens: 10_000, thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    [
      { reasoning: 'high', maxOutputTokens: 100 },
      { max_tokens: 100, thinking: { type: 'disabled' } },
    ],
    [{ reasoning: 'none' }, { max_tokens: 64_000, thinking: { type: 'disabled' } }],
  ])('passes %j on', async (parameters, expected) => {
    expect(await sentBy({ ...bare, parameters })).toEqual({ ...always, system, messages: [hello], ...(expected as object) })
  })

  it('leaves the effort to models that think as they see fit', async () => {
    expect(await sentBy({ ...bare, parameters: { reasoning: 'high', maxOutputTokens: 100 } }, 'claude-opus-4-6')).toEqual({
      model: 'claude-opus-4-6',
      max_tokens: 100,
      stream: true,
      system,
      messages: [hello],
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'high' },
    })
  })
})

describe('a reply of Anthropic', () => {
  const read = async (answer: () => Response) => collect(await modelOn(wire(answer), { kind: 'anthropic', model: 'claude-sonnet-4-5' }))

  it('comes with each thought signed for itself', async () => {
    const answer = named([
      start,
      { type: 'ping' },
      ...block(
        0,
        { type: 'thinking', thinking: '' },
        { type: 'thinking_delta', thinking: 'Hm' },
        { type: 'signature_delta', signature: 'one' },
      ),
      ...block(1, { type: 'redacted_thinking', data: 'hidden' }),
      ...block(
        2,
        { type: 'thinking', thinking: '' },
        { type: 'thinking_delta', thinking: 'Ah' },
        { type: 'signature_delta', signature: 'two' },
      ),
      ...text(3, 'Let me look.'),
      ...block(4, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }, { type: 'input_json_delta', partial_json: '{"what":"a"}' }),
      ...stop('tool_use'),
    ])
    expect(await read(answer)).toEqual([
      { type: 'working' },
      { type: 'reasoning', text: 'Hm', block: 'reasoning:0' },
      { type: 'reasoning', text: '', block: 'reasoning:0', metadata: { anthropic: { signature: 'one' } } },
      { type: 'reasoning', text: '', block: 'reasoning:1', metadata: { anthropic: { redactedData: 'hidden' } } },
      { type: 'reasoning', text: 'Ah', block: 'reasoning:2' },
      { type: 'reasoning', text: '', block: 'reasoning:2', metadata: { anthropic: { signature: 'two' } } },
      { type: 'text', text: 'Let me look.' },
      { type: 'working' },
      { type: 'working', characters: 12 },
      { type: 'call', id: 'toolu_1', name: 'look', input: '{"what":"a"}' },
      {
        type: 'finish',
        reason: 'tool-calls',
        usage: { input: 20, output: 20, cacheRead: 6, cacheWrite: 4, reasoning: 0 },
        metadata: { responseId: 'msg_1', model: 'claude-sonnet-4-5' },
      },
    ])
  })

  it.each([
    ['max_tokens', 'length'],
    ['refusal', 'content-filter'],
    ['model_context_window_exceeded', 'length'],
    ['something_new', 'other'],
  ])('that stopped for %s ends with %s', async (raw, reason) => {
    expect((await read(named([start, ...text(0, 'Hi'), ...stop(raw)]))).at(-1)).toMatchObject({ type: 'finish', reason })
  })

  it('is no reply where it was cut', async () => {
    const [delta] = stop('end_turn')
    expect((await read(named([start, ...text(0, 'Hi')]))).at(-1)).toEqual(cut)
    expect((await read(named([start, ...text(0, 'Hi'), delta!]))).at(-1)).toEqual(cut)
    expect((await read(named([start, delta!]))).at(-1)).toEqual(cut)
    expect((await read(named([start]))).at(-1)).toEqual(cut)
  })

  it('fails as the server reports, immediately or in the middle', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    const failure = { class: 'rate_limit', message: 'The provider is overloaded: Overloaded (HTTP 529)' }
    expect(await read(json(529, error))).toEqual([{ type: 'error', failure }])
    expect(await read(named([error]))).toEqual([{ type: 'error', failure }])
    expect((await read(named([start, ...text(0, 'Hi'), error]))).at(-1)).toEqual({
      type: 'error',
      failure: { ...failure, message: 'The provider is overloaded: Overloaded' },
    })
  })

  it('fails where it makes no sense', async () => {
    const nonsense = () => new Response('event: ping\ndata: {"type":\n\n', { headers: { 'content-type': 'text/event-stream' } })
    expect(await read(nonsense)).toMatchObject([{ type: 'error', failure: { class: 'invalid_response' } }])
    expect((await read(named([start, { type: 'content_block_start', index: 'x' }]))).at(-1)).toMatchObject({
      type: 'error',
      failure: { class: 'invalid_response' },
    })
  })

  it('says what an empty account is', async () => {
    const body = {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' },
    }
    expect(await read(json(400, body))).toMatchObject([{ type: 'error', failure: { class: 'quota' } }])
  })
})
