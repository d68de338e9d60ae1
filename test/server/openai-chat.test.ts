import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { gate, type ScriptedStepSource } from '../../src/testing/index.ts'
import { pngBase64 } from '../fixtures/pictures.ts'
import { clerk, gatedModel, half, serveOpenAi, team, texts, withModel } from './openai-support.ts'

// `POST /v1/chat/completions` and `GET /v1/models`, with the clients `openai` and `ai`.

const ask = (content: string) => ({ model: 'clerk', messages: [{ role: 'user' as const, content }] })

describe('models', () => {
  it('are the agents that the token may use', async () => {
    const { client, clientOf, token } = await withModel([])
    const { data } = await client.models.list()
    expect(data).toMatchObject([{ id: 'clerk', object: 'model', owned_by: 'troupe', description: 'Answers.' }])
    expect(await client.models.retrieve('clerk')).toMatchObject({ id: 'clerk' })
    const error = await client.models.retrieve('cook').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.NotFoundError)
    expect(error).toMatchObject({ code: 'model_not_found', param: 'model', error: { agents: ['clerk'] } })
    const other = clientOf(await token({ name: 'other', agents: ['cook'] }))
    expect((await other.models.list()).data).toEqual([])
  })
})

describe('an answer', () => {
  it('has the texts of all steps, the reasoning and the usage of the turn', async () => {
    const { client } = await withModel(team, { tools: ['weather'] })
    const { data, response } = await client.chat.completions.create(ask('Rain?')).withResponse()
    const sessionId = response.headers.get('x-session-id')
    expect(data).toEqual({
      id: `chatcmpl-${sessionId}`,
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'clerk',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'I look it up.\n\nIt rains in Oslo.',
            refusal: null,
            reasoning_content: 'They ask for rain.\n\nEasy.',
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 200,
        completion_tokens: 40,
        total_tokens: 240,
        prompt_tokens_details: { cached_tokens: 80 },
        completion_tokens_details: { reasoning_tokens: 10 },
      },
    })
    expect(response.headers.get('x-troupe-ignored-parameters')).toBeNull()
  })

  it('is the same when it is streamed', async () => {
    const { client } = await withModel([...team, ...team], { tools: ['weather'] })
    const whole = await client.chat.completions.create(ask('Rain?'))
    const chunks = []
    for await (const chunk of await client.chat.completions.create({
      ...ask('Rain?'),
      stream: true,
      stream_options: { include_usage: true },
    }))
      chunks.push(chunk)
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta as typeof delta & { reasoning_content?: string }))
    expect(deltas[0]).toMatchObject({ role: 'assistant' })
    expect(deltas.filter(({ role }) => role !== undefined)).toHaveLength(1)
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe(whole.choices[0]?.message.content)
    expect(deltas.map(({ reasoning_content }) => reasoning_content ?? '').join('')).toBe('They ask for rain.\n\nEasy.')
    expect(chunks.at(-2)?.choices).toMatchObject([{ delta: {}, finish_reason: 'stop' }])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage })
    expect(chunks.slice(0, -1).every(({ usage: none }) => none === null)).toBe(true)
  })

  it('arrives while the model still writes', async () => {
    const hold = gate()
    const { client } = await serveOpenAi({ model: gatedModel(half, hold), agents: [clerk] })
    const contents: (string | null | undefined)[] = []
    for await (const { choices } of await client.chat.completions.create({ ...ask('Count!'), stream: true })) {
      contents.push(choices[0]?.delta.content)
      hold.open()
    }
    expect(contents).toEqual(['One, ', 'two.', undefined])
  })

  it('reports calls and progress as comments, which clients skip', async () => {
    const { fetch } = await withModel(team, { tools: ['weather'] })
    const response = await fetch('/v1/chat/completions', { json: { ...ask('Rain?'), stream: true } })
    const frames = (await response.text()).split('\n\n')
    expect(frames.filter((frame) => frame.startsWith(':'))).toEqual([expect.stringMatching(/^: root: \S/)])
    expect(frames.at(-2)).toBe('data: [DONE]')
    expect(frames.filter((frame) => frame.includes('"usage"'))).toEqual([])
  })

  it('ends with length if a limit cut it', async () => {
    const steps: ScriptedStepSource[] = [
      { text: 'I look.', calls: [{ tool: 'weather', input: { city: 'Oslo' } }] },
      { calls: [{ tool: 'weather', input: { city: 'Rome' } }] },
      { text: 'Rain.' },
    ]
    const { client } = await withModel(steps, { tools: ['weather'], limits: { maxToolTurns: 2 } })
    const { choices } = await client.chat.completions.create(ask('Rain?'))
    expect(choices).toMatchObject([{ message: { content: 'I look.\n\nRain.' }, finish_reason: 'length' }])
  })

  it('ends with content_filter if the provider withholds it', async () => {
    const step: ScriptedStepSource = { text: 'Half', finish: 'content-filter' }
    const { client } = await withModel([step, step], { limits: { maxRetries: 0 } })
    const { choices } = await client.chat.completions.create(ask('Go!'))
    expect(choices).toMatchObject([{ message: { content: '' }, finish_reason: 'content_filter' }])
    const reasons: unknown[] = []
    for await (const chunk of await client.chat.completions.create({ ...ask('Go!'), stream: true }))
      reasons.push(chunk.choices[0]?.finish_reason)
    expect(reasons.at(-1)).toBe('content_filter')
  })

  it('follows a failed call', async () => {
    const { client, model } = await withModel(
      [{ calls: [{ tool: 'weather', input: { city: 'Nowhere' } }] }, { text: 'There is no such city.' }],
      { tools: ['weather'] },
    )
    const { choices } = await client.chat.completions.create(ask('Rain?'))
    expect(choices).toMatchObject([{ message: { content: 'There is no such city.' }, finish_reason: 'stop' }])
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', results: [{ ok: false }] })
  })

  it('is checked against a schema, and sent when it is valid', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const steps: ScriptedStepSource[] = [
      { text: '{"town":1}', chunks: 3 },
      { text: '{"city":"Oslo"}', chunks: 3 },
    ]
    const { client, model } = await withModel([...steps, ...steps, { text: '{"any":1}' }])
    const asked = {
      ...ask('Where?'),
      response_format: { type: 'json_schema' as const, json_schema: { name: 'place', schema, strict: true } },
    }
    const { choices } = await client.chat.completions.create(asked)
    expect(choices[0]?.message.content).toBe('{"city":"Oslo"}')
    const stream = client.chat.completions.stream(asked)
    expect((await stream.finalChatCompletion()).choices[0]?.message).toMatchObject({ content: '{"city":"Oslo"}' })
    expect(model.requests[0]?.output).toEqual({ schema })
    const object = await client.chat.completions.create({ ...ask('Where?'), response_format: { type: 'json_object' } })
    expect(object.choices[0]?.message.content).toBe('{"any":1}')
    expect(model.requests.at(-1)?.output).toEqual({ schema: { type: 'object' } })
  })
})

describe('the conversation of the client', () => {
  it('is the history of the session, with calls, results, images and files', async () => {
    const { client, model, runtime } = await withModel([{ text: 'Done.' }])
    const { response } = await client.chat.completions
      .create({
        model: 'clerk',
        user: 'ann',
        metadata: { ticket: '7', note: `a\nb ${'x'.repeat(200)}` },
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Rain?' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
          },
          { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'Rain.' }] },
          { role: 'assistant', content: 'It rains.' },
          { role: 'developer', content: 'Be kind.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'And here?' },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${pngBase64}`, detail: 'low' } },
              { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
              { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-1.7')}` } },
            ],
          },
        ],
      })
      .withResponse()
    const [request] = model.requests
    expect(request?.system).toBe('You are a clerk.\n\nBe brief.\n\nBe kind.')
    expect(request?.messages).toMatchObject([
      { role: 'user', parts: [{ type: 'text', text: 'Rain?' }] },
      { role: 'assistant', parts: [{ type: 'call', id: 'c1', name: 'weather', input: '{"city":"Oslo"}' }] },
      { role: 'tool', results: [{ id: 'c1', name: 'weather', ok: true, content: 'Rain.' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'It rains.' }] },
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'And here?' },
          { type: 'image', mediaType: 'image/png', data: pngBase64 },
          { type: 'image', data: 'https://example.com/a.png' },
          { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', data: btoa('%PDF-1.7') },
        ],
      },
    ])
    const session = await runtime.sessions.get(response.headers.get('x-session-id') ?? '')
    expect(session).toMatchObject({ agent: 'clerk', labels: ['user:ann', 'ticket=7', `note=a b ${'x'.repeat(55)}`], owner: 'local' })
  })

  it('is kept only for the answer with store: false', async () => {
    const { client, runtime } = await withModel([{ text: 'One.' }, { text: 'Two.' }, { fault: { class: 'config', message: 'No.' } }])
    await client.chat.completions.create({ ...ask('One?'), store: false })
    expect(await client.chat.completions.stream({ ...ask('Two?'), store: false }).finalContent()).toBe('Two.')
    await expect(client.chat.completions.create({ ...ask('Three?'), store: false })).rejects.toThrow('No.')
    expect(await runtime.sessions.list()).toEqual([])
  })
})

describe('parameters', () => {
  it('replace those of the agent where it allows it; others are ignored and named', async () => {
    const { client, model } = await withModel([{ text: 'One.' }, { text: 'Two.' }], {
      parameters: { temperature: 0.2, maxOutputTokens: 50 },
      overrides: ['topP', 'seed', 'reasoning'],
    })
    const parameters = { temperature: 0.7, top_p: 0.5, seed: 3, reasoning_effort: 'low', max_completion_tokens: 9 } as const
    const { response } = await client.chat.completions.create({ ...ask('One?'), ...parameters, frequency_penalty: 1 }).withResponse()
    expect(response.headers.get('x-troupe-ignored-parameters')).toBe('temperature, max_completion_tokens, frequency_penalty')
    expect(model.requests[0]?.parameters).toMatchObject({ temperature: 0.2, topP: 0.5, seed: 3, reasoning: 'low' })
    const same = await client.chat.completions.create({ ...ask('Two?'), temperature: 0.2, max_tokens: 50 }).withResponse()
    expect(same.response.headers.get('x-troupe-ignored-parameters')).toBeNull()
  })

  it('of reasoning may have names of newer clients: max is the highest, others are refused where they would count', async () => {
    const { fetch, model } = await withModel(texts('One.', 'Two.'), { overrides: ['reasoning'] })
    const effort = { input: 'One?', reasoning: { effort: 'max' } }
    await fetch('/v1/chat/completions', { json: { ...ask('One?'), reasoning_effort: 'max' } })
    await fetch('/v1/responses', { json: { model: 'clerk', ...effort } })
    expect(model.requests.map(({ parameters }) => parameters.reasoning)).toEqual(['xhigh', 'xhigh'])
    const refused = await fetch('/v1/chat/completions', { json: { ...ask('One?'), reasoning_effort: 'enormous' } })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: { param: 'reasoning_effort', message: expect.stringContaining('Use none, minimal') },
    })
    const other = await withModel(texts('One.', 'Two.'))
    const ignored = [
      await other.fetch('/v1/chat/completions', { json: { ...ask('One?'), reasoning_effort: 'enormous' } }),
      await other.fetch('/v1/responses', { json: { model: 'clerk', ...effort } }),
    ]
    expect(ignored.map(({ status, headers }) => [status, headers.get('x-troupe-ignored-parameters')])).toEqual([
      [200, 'reasoning_effort'],
      [200, 'reasoning.effort'],
    ])
  })

  it('of newer clients are ignored and named, safely for a header', async () => {
    const { fetch } = await withModel([{ text: 'One.' }])
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`many_${index}`, index]))
    const newer = {
      top_k: 40,
      safety_identifier: 'u',
      client_metadata: { a: 'b' },
      'na\u00efve\r\nx: y': 1,
      ['long'.repeat(100)]: 1,
      ...many,
    }
    const response = await fetch('/v1/chat/completions?api-version=1', { json: { ...ask('One?'), ...newer } })
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'One.' } }] })
    const named = response.headers.get('x-troupe-ignored-parameters')?.split(', ') ?? []
    expect(named.slice(0, 5)).toEqual(['top_k', 'safety_identifier', 'client_metadata', 'na?ve??x??y', 'long'.repeat(16)])
    expect(named.slice(31)).toEqual(['many_26', 'and 14 more'])
  })

  it('pass with their defaults', async () => {
    const { fetch } = await withModel([{ text: 'One.' }])
    const defaults = {
      n: 1,
      stop: null,
      logprobs: false,
      top_logprobs: 0,
      presence_penalty: 0,
      logit_bias: {},
      tools: [],
      tool_choice: 'none',
      functions: [],
      parallel_tool_calls: true,
      modalities: ['text'],
      audio: null,
      service_tier: 'auto',
      response_format: { type: 'text' },
      stream: false,
      stream_options: null,
      store: true,
      prediction: null,
      web_search_options: null,
      something_new: null,
    }
    const response = await fetch('/v1/chat/completions', { json: { ...ask('One?'), ...defaults } })
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'One.' } }] })
    expect(response.headers.get('x-troupe-ignored-parameters')).toBeNull()
  })

  it.each<[name: string, body: object]>([
    ['n', { n: 2 }],
    ['stop', { stop: ['END'] }],
    ['logprobs', { logprobs: true }],
    ['top_logprobs', { top_logprobs: 3 }],
    ['logit_bias', { logit_bias: { 50256: -100 } }],
    ['audio', { audio: { voice: 'alloy', format: 'wav' } }],
    ['modalities.1', { modalities: ['text', 'audio'] }],
    ['tools.0.function.name', { tools: [{ type: 'function', function: {} }] }],
    ['tools.0.custom', { tools: [{ type: 'custom', custom: 'f' }] }],
    ['tool_choice', { tool_choice: 'required' }],
    ['tool_choice', { tool_choice: 'required' }],
    ['functions', { functions: [{ name: 'f' }] }],
    ['instructions', { instructions: 'Be brief.' }],
    ['web_search_options', { web_search_options: { search_context_size: 'low' } }],
    ['temperature', { temperature: 3 }],
    ['reasoning_effort', { reasoning_effort: 5 }],
    ['max_tokens', { max_tokens: 0 }],
    ['metadata', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, ''])) }],
    ['response_format.type', { response_format: { type: 'xml' } }],
    [
      'messages',
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
        ],
      },
    ],
    ['messages', { messages: [{ role: 'system', content: 'a' }] }],
    ['messages', { messages: [] }],
    ['messages.0.role', { messages: [{ role: 'function', content: 'a' }] }],
    ['messages.0.content', { messages: [{ role: 'user' }] }],
    ['messages.0.content.0.type', { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }],
    [
      'messages.0.content.0.image_url.url',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://a' } }] }] },
    ],
    ['messages.0.content.0.file.file_id', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] }],
    [
      'messages.0.tool_call_id',
      {
        messages: [
          { role: 'tool', tool_call_id: 'c1', content: 'a' },
          { role: 'user', content: 'b' },
        ],
      },
    ],
    [
      'messages.0',
      {
        messages: [
          { role: 'assistant', content: '', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
          { role: 'user', content: 'b' },
        ],
      },
    ],
  ])('are refused by name: %s', async (param, body) => {
    const { client, runtime } = await withModel([])
    const error = await client.chat.completions.create({ ...ask('One?'), ...body } as never).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.BadRequestError)
    expect(error).toMatchObject({ param, type: 'invalid_request_error', error: { message: expect.any(String) } })
    expect(await runtime.sessions.list()).toEqual([])
  })
})

describe('errors', () => {
  it('name the agents that there are, and refuse a wrong key', async () => {
    const { client, clientOf } = await withModel([])
    const unknown = await client.chat.completions.create({ ...ask('One?'), model: 'cook' }).catch((thrown: unknown) => thrown)
    expect(unknown).toBeInstanceOf(OpenAI.NotFoundError)
    expect(unknown).toMatchObject({ code: 'model_not_found', message: expect.stringContaining('Use one of: clerk.') })
    const wrong = await clientOf('wrong')
      .chat.completions.create(ask('One?'))
      .catch((thrown: unknown) => thrown)
    expect(wrong).toBeInstanceOf(OpenAI.AuthenticationError)
    expect(wrong).toMatchObject({ code: 'invalid_api_key' })
  })

  it('of the model before the first text have a status, streamed or not, and are not repeated', async () => {
    const fault = { class: 'auth', message: 'The key was refused.' } as const
    const { client, model, runtime } = await withModel([{ fault }, { fault }], { limits: { maxRetries: 0 } })
    for (const stream of [false, true]) {
      const error = await client.chat.completions.create({ ...ask('One?'), stream }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(OpenAI.APIError)
      const { error: body, status } = error as { readonly error: object; readonly status: number }
      expect({ status, body }).toMatchObject({
        status: 422,
        body: { type: 'turn_failed', failure: 'auth', session_id: expect.any(String) },
      })
    }
    expect(model.requests).toHaveLength(2)
    expect(await runtime.sessions.list()).toHaveLength(2)
  })

  it('before the first text are invisible if another attempt succeeds', async () => {
    const fault = { class: 'invalid_response', message: 'Cut.' } as const
    const { client } = await withModel([{ fault }, { text: 'Good.', chunks: 2 }])
    expect(await client.chat.completions.stream(ask('One?')).finalContent()).toBe('Good.')
  })

  it('after the first text end a stream', async () => {
    const hold = gate()
    const model = gatedModel(half, hold, { class: 'network', message: 'Lost.' })
    const { client, runtime } = await serveOpenAi({ model, agents: [clerk] })
    const texts: string[] = []
    const read = async () => {
      for await (const { choices } of await client.chat.completions.create({ ...ask('One?'), stream: true })) {
        texts.push(choices[0]?.delta.content ?? '')
        hold.open()
      }
    }
    const error = await read().catch((thrown: unknown) => thrown)
    expect(texts.join('')).toMatch(/^One, (two\.)?$/)
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({ type: 'turn_failed', error: { failure: 'network' } })
    const statuses = async () => (await runtime.sessions.list()).map(({ status }) => status)
    await expect.poll(statuses).toEqual(['interrupted'])
  })

  it('after the first text give a client that waits the next attempt', async () => {
    const { client } = await withModel([{ text: 'Half', fault: { class: 'network', message: 'Lost.' } }, { text: 'A whole answer.' }])
    const { choices } = await client.chat.completions.create(ask('One?'))
    expect(choices[0]?.message.content).toBe('A whole answer.')
  })

  it('name the open requests of a session that waits for a person', async () => {
    const steps: ScriptedStepSource[] = [{ text: 'I pay.', calls: [{ tool: 'pay' }] }]
    const { client, runtime } = await withModel([...steps, ...steps, { text: 'Paid.' }], { tools: ['pay'] })
    const error = await client.chat.completions.create(ask('Pay!')).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError)
    const { error: body } = error as {
      readonly error: { readonly session_id: string; readonly approvals: readonly { readonly id: string }[] }
    }
    expect(body).toMatchObject({ code: 'approval_required', approvals: [{ id: expect.any(String), summary: 'Pay 5 euros' }] })
    const streamed = await client.chat.completions
      .stream(ask('Pay!'))
      .finalContent()
      .catch((thrown: unknown) => thrown)
    expect(streamed).toMatchObject({ code: 'approval_required', error: { session_id: expect.any(String) } })
    const approvalId = body.approvals[0]?.id ?? ''
    await runtime.sessions.approve(body.session_id, { approvalId, decision: { kind: 'approve', breadth: 'once' } })
    expect(await runtime.sessions.outcome(body.session_id)).toMatchObject({ status: 'completed', report: { text: 'Paid.' } })
    expect(await runtime.sessions.list()).toHaveLength(2)
  })
})

describe('a client that leaves', () => {
  it.each([true, false])('interrupts the turn (stream: %s)', async (stream) => {
    const hold = gate()
    const steps: ScriptedStepSource[] = [
      { text: 'I look.', calls: [{ tool: 'weather', input: { city: 'Oslo' } }] },
      { text: 'Never.', wait: hold.promise },
    ]
    const { client, model, runtime } = await withModel(steps, { tools: ['weather'] })
    const leaving = new AbortController()
    const reading = client.chat.completions.create({ ...ask('Rain?'), stream }, { signal: leaving.signal })
    if (stream) {
      for await (const _ of (await reading) as AsyncIterable<unknown>) break
    } else {
      await expect.poll(() => model.requests.length).toBe(2)
      leaving.abort()
      await expect(reading).rejects.toBeInstanceOf(OpenAI.APIUserAbortError)
    }
    await expect.poll(async () => (await runtime.sessions.list()).map(({ status }) => status)).toEqual(['interrupted'])
  })
})
