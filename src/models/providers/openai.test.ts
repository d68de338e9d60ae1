import { describe, expect, it } from 'vitest'
import { bare, calls, chat, collect, cut, history, look, modelOn, named, wire } from '../../../test/fixtures/provider-wire.ts'
import type { Json, ModelRequest } from '../../contracts/index.ts'

const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 3 },
  output_tokens: 4,
  output_tokens_details: { reasoning_tokens: 2 },
}
const created = { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt-5-mini' } }
const completed = { type: 'response.completed', response: { id: 'resp_1', created_at: 1, model: 'gpt-5-mini', usage } }
const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [] }
const spoken = [
  { type: 'response.output_item.added', output_index: 0, item: message },
  { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hi' },
  { type: 'response.output_item.done', output_index: 0, item: { ...message, status: 'completed' } },
]
const hi = named([created, ...spoken, completed])

const sentBy = async (request: ModelRequest, model = 'gpt-5-mini'): Promise<Json> => {
  const line = wire(hi)
  await collect(await modelOn(line, { kind: 'openai', model }), request)
  return line.sent[0]!.body
}

const always = {
  model: 'gpt-5-mini',
  store: false,
  include: ['reasoning.encrypted_content'],
  stream: true,
}
const developer = { role: 'developer', content: 'Be brief.' }
const hello = { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }
const lookTool = { type: 'function', name: 'look', description: look.description, parameters: look.inputSchema, strict: false }

describe('a request to the Responses API', () => {
  it('keeps nothing on the server', async () => {
    expect(await sentBy(bare)).toEqual({ ...always, input: [developer, hello] })
  })

  it('repeats thoughts, calls and results as they came', async () => {
    const messages = history([
      { type: 'reasoning', text: 'Hm', metadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'enc1' } } },
      { type: 'reasoning', text: '', metadata: { openai: { itemId: 'rs_2', reasoningEncryptedContent: 'enc2' } } },
      { type: 'reasoning', text: 'of another provider', metadata: { anthropic: { signature: 'sig' } } },
      { type: 'text', text: 'Let me look.', metadata: { openai: { itemId: 'msg_0', phase: 'commentary' } } },
      ...calls,
    ])
    expect(await sentBy({ ...bare, messages, tools: [look] })).toEqual({
      ...always,
      input: [
        developer,
        { role: 'user', content: [{ type: 'input_text', text: 'Look for a and b' }] },
        { type: 'reasoning', id: 'rs_1', encrypted_content: 'enc1', summary: [{ type: 'summary_text', text: 'Hm' }] },
        { type: 'reasoning', id: 'rs_2', encrypted_content: 'enc2', summary: [] },
        { role: 'assistant', content: 'Let me look.', phase: 'commentary' },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{ "what": "a" }' },
        { type: 'function_call', call_id: 'call_2', name: 'look', arguments: '{"unreadable_arguments":"{\\"what\\": "}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'found a' },
        { type: 'function_call_output', call_id: 'call_2', output: '{"error":"invalid arguments"}' },
      ],
      tools: [lookTool],
      tool_choice: 'auto',
    })
  })

  it('leaves the tools in place where they must not be used', async () => {
    expect(await sentBy({ ...bare, tools: [look], toolChoice: 'none' })).toEqual({
      ...always,
      input: [developer, hello],
      tools: [lookTool],
      tool_choice: 'none',
    })
  })

  it('carries images and files', async () => {
    const parts = [
      { type: 'text', text: '' },
      { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'image', mediaType: 'image/png', data: 'https://example.com/a.png' },
      { type: 'file', mediaType: 'application/octet-stream', data: 'data:application/pdf;base64,JVBERi0=', name: 'a.pdf' },
      { type: 'file', mediaType: 'text/markdown', data: 'IyBUaXRsZQ==', name: 'n.md' },
    ] as const
    expect(await sentBy({ ...bare, messages: [{ role: 'user', parts }] })).toEqual({
      ...always,
      input: [
        developer,
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
            { type: 'input_image', image_url: 'https://example.com/a.png' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
            { type: 'input_text', text: 'File "n.md" (text/markdown):\n\n# Title' },
          ],
        },
      ],
    })
  })

  it('asks for the schema, strictly where the schema allows it', async () => {
    const open = { type: 'object', properties: { a: { type: 'string' } } }
    const format = { type: 'json_schema', name: 'answer' }
    expect(await sentBy({ ...bare, tools: [look], output: { schema: look.inputSchema } })).toEqual({
      ...always,
      input: [developer, hello],
      text: { format: { ...format, strict: true, schema: look.inputSchema } },
      tools: [lookTool],
      tool_choice: 'auto',
    })
    expect(await sentBy({ ...bare, output: { schema: open } })).toEqual({
      ...always,
      input: [developer, hello],
      text: { format: { ...format, strict: false, schema: open } },
    })
  })

  it('asks in words for JSON that is not an object', async () => {
    const schema = { type: 'array', items: { type: 'string' } }
    const words = 'Give your final answer as JSON only: no words before or after it, no code fence.'
    const withSchema = `${words}\nThe JSON must be valid against this JSON Schema:\n${JSON.stringify(schema)}`
    expect(await sentBy({ ...bare, output: { schema } })).toEqual({
      ...always,
      input: [{ role: 'developer', content: `Be brief.\n\n${withSchema}` }, hello],
    })
    expect(await sentBy({ ...bare, output: {} })).toEqual({
      ...always,
      input: [{ role: 'developer', content: `Be brief.\n\n${words}` }, hello],
    })
  })

  it('passes parameters on, and says which have no effect', async () => {
    const parameters = { temperature: 0.5, topP: 0.9, maxOutputTokens: 100, seed: 7, reasoning: 'low' } as const
    const line = wire(hi)
    const parts = await collect(await modelOn(line, { kind: 'openai', model: 'gpt-5-mini' }), { ...bare, parameters })
    expect(line.sent[0]!.body).toEqual({ ...always, input: [developer, hello], max_output_tokens: 100, reasoning: { effort: 'low' } })
    expect(parts.filter(({ type }) => type === 'notice')).toEqual([
      { type: 'notice', message: 'Not supported: seed' },
      { type: 'notice', message: 'Not supported: temperature. temperature is not supported for reasoning models' },
      { type: 'notice', message: 'Not supported: topP. topP is not supported for reasoning models' },
    ])
    const { temperature, topP } = parameters
    expect(await sentBy({ ...bare, parameters: { temperature, topP } }, 'gpt-4o')).toEqual({
      model: 'gpt-4o',
      input: [{ role: 'system', content: 'Be brief.' }, hello],
      store: false,
      stream: true,
      temperature: 0.5,
      top_p: 0.9,
    })
  })
})

describe('a reply of the Responses API', () => {
  const read = async (answer: () => Response) => collect(await modelOn(wire(answer), { kind: 'openai', model: 'gpt-5-mini' }))

  it('comes with its thoughts, its calls and what they cost', async () => {
    const reasoning = { id: 'rs_1', type: 'reasoning', encrypted_content: 'early' }
    const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'look', arguments: '' }
    const answer = named([
      created,
      { type: 'response.output_item.added', output_index: 0, item: reasoning },
      { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', output_index: 0, summary_index: 0 },
      { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', output_index: 0, summary_index: 0, delta: 'One' },
      { type: 'response.reasoning_summary_part.done', item_id: 'rs_1', output_index: 0, summary_index: 0 },
      { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', output_index: 0, summary_index: 1 },
      { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', output_index: 0, summary_index: 1, delta: 'Two' },
      { type: 'response.reasoning_summary_part.done', item_id: 'rs_1', output_index: 0, summary_index: 1 },
      { type: 'response.output_item.done', output_index: 0, item: { ...reasoning, encrypted_content: 'late', summary: [] } },
      { type: 'response.output_item.added', output_index: 1, item: call },
      { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{"what":"a"}' },
      { type: 'response.output_item.done', output_index: 1, item: { ...call, arguments: '{"what":"a"}', status: 'completed' } },
      completed,
    ])
    const first = 'reasoning:rs_1:0'
    const second = 'reasoning:rs_1:1'
    expect(await read(answer)).toEqual([
      { type: 'reasoning', text: 'One', block: first },
      { type: 'reasoning', text: '', block: first, metadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'early' } } },
      { type: 'reasoning', text: 'Two', block: second },
      { type: 'reasoning', text: '', block: second, metadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'late' } } },
      { type: 'working' },
      { type: 'working', characters: 12 },
      { type: 'call', id: 'call_1', name: 'look', input: '{"what":"a"}', metadata: { openai: { itemId: 'fc_1' } } },
      {
        type: 'finish',
        reason: 'tool-calls',
        usage: { input: 10, output: 4, cacheRead: 3, cacheWrite: 0, reasoning: 2 },
        metadata: { responseId: 'resp_1', model: 'gpt-5-mini' },
      },
    ])
  })

  it('is no reply where it was cut', async () => {
    expect((await read(named([created, ...spoken]))).at(-1)).toEqual(cut)
    expect((await read(named([created]))).at(-1)).toEqual(cut)
    expect((await read(named([]))).at(-1)).toEqual(cut)
  })

  it('fails as the server says within the stream', async () => {
    const error = {
      type: 'error',
      sequence_number: 1,
      error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'You are out.' },
    }
    expect(await read(named([created, error]))).toEqual([
      {
        type: 'error',
        failure: { class: 'quota', message: 'You are out. (HTTP 429)' },
      },
    ])
    const late = { type: 'response.failed', sequence_number: 9, response: { error: { code: 'server_error', message: 'It broke.' } } }
    expect((await read(named([created, ...spoken, late]))).at(-1)).toEqual({
      type: 'error',
      failure: { class: 'model', message: 'It broke.' },
    })
  })
})

describe('a request to the chat API', () => {
  const chunk = (delta: Json, finish: Json = null): Json => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-4o',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const counted: Json = { id: 'c1', created: 1, model: 'gpt-4o', choices: [], usage: { prompt_tokens: 9, completion_tokens: 2 } }

  it('says the same in its own words', async () => {
    const line = wire(chat([chunk({ role: 'assistant', content: 'Hi' }), chunk({}, 'stop'), counted]))
    const model = await modelOn(line, { kind: 'openai', model: 'gpt-4o', settings: { apiKey: 'sk-test-0123456789', api: 'chat' } })
    const parts = await collect(model, { ...bare, tools: [look], output: { schema: look.inputSchema }, messages: history(calls) })
    expect(line.sent[0]).toMatchObject({ url: 'https://api.openai.com/v1/chat/completions' })
    expect(line.sent[0]!.body).toEqual({
      model: 'gpt-4o',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Look for a and b' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{ "what": "a" }' } },
            { id: 'call_2', type: 'function', function: { name: 'look', arguments: '{"unreadable_arguments":"{\\"what\\": "}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'found a' },
        { role: 'tool', tool_call_id: 'call_2', content: '{"error":"invalid arguments"}' },
      ],
      response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: look.inputSchema } },
      tools: [{ type: 'function', function: { name: 'look', description: look.description, parameters: look.inputSchema } }],
      tool_choice: 'auto',
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(parts).toEqual([
      { type: 'text', text: 'Hi' },
      {
        type: 'finish',
        reason: 'stop',
        usage: { input: 9, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
        metadata: { responseId: 'c1', model: 'gpt-4o' },
      },
    ])
  })
})
