import OpenAI from 'openai'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate, ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { pngBase64 } from '../fixtures/pictures.ts'
import { caught, clerk, said, serveOpenAi, streamed, team, texts, weather, withCalls, withModel } from './openai-support.ts'

// `/v1/responses` with the client `openai`, and with `ai`.

describe('a response', () => {
  it('has reasoning, messages and calls as items, and is the same when it is read later', async () => {
    const { client } = await withModel(team, { tools: ['weather'] })
    const { data, response } = await client.responses
      .create({ model: 'clerk', input: 'Rain?', instructions: 'Be brief.', metadata: { ticket: '7' }, truncation: 'auto' }, withCalls)
      .withResponse()
    expect(data).toMatchObject({
      id: `resp_${response.headers.get('x-session-id')}`,
      object: 'response',
      status: 'completed',
      model: 'clerk',
      error: null,
      incomplete_details: null,
      instructions: 'Be brief.',
      metadata: { ticket: '7' },
      truncation: 'auto',
      previous_response_id: null,
      store: true,
      background: false,
      output_text: 'I look it up.It rains in Oslo.',
      output: [
        { type: 'reasoning', status: 'completed', summary: [{ type: 'summary_text', text: 'They ask for rain.' }] },
        { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'I look it up.' }] },
        { type: 'mcp_call', status: 'completed', name: 'weather', arguments: '{"city":"Oslo"}', output: 'Rain in Oslo.', error: null },
        { type: 'reasoning', summary: [{ text: 'Easy.' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'It rains in Oslo.', annotations: [] }] },
      ],
      usage: {
        input_tokens: 200,
        input_tokens_details: { cached_tokens: 80 },
        output_tokens: 40,
        output_tokens_details: { reasoning_tokens: 10 },
        total_tokens: 240,
      },
    })
    expect(await client.responses.retrieve(data.id)).toEqual(data)
  })

  it('has every field that the Open Responses specification requires, and no calls unless they are asked for', async () => {
    const { client } = await withModel([...team, ...team], { tools: ['weather'], parameters: { topP: 0.9 } })
    const events = await streamed(await client.responses.create({ model: 'clerk', input: 'Rain?', stream: true, prompt_cache_key: 'k' }))
    const [created, completed] = [events[0], events.at(-1)]
    if (created?.type !== 'response.created' || completed?.type !== 'response.completed') throw new Error('not complete')
    const fields = {
      ...{ tools: [], tool_choice: 'auto', truncation: 'disabled', parallel_tool_calls: true, text: { format: { type: 'text' } } },
      ...{ temperature: 1, top_p: 0.9, presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0, service_tier: 'default' },
      ...{ max_output_tokens: null, max_tool_calls: null, safety_identifier: null, prompt_cache_key: 'k', instructions: null },
      ...{ reasoning: { effort: null, summary: null }, metadata: {}, store: true, background: false, error: null },
    }
    expect(created.response).toMatchObject({ ...fields, status: 'in_progress', completed_at: null, usage: null, output: [] })
    expect(completed.response).toMatchObject({ ...fields, status: 'completed', completed_at: expect.any(Number) })
    expect(completed.response.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'reasoning', 'message'])
    expect(events.filter(({ type }) => type.includes('mcp'))).toEqual([])
    const { output } = await client.responses.create({ model: 'clerk', input: 'Rain?' })
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'reasoning', 'message'])
  })

  it('is checked against a schema', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const steps = texts('{"town":1}', '{"city":"Oslo"}')
    const { client, model } = await withModel([...steps, ...steps])
    const asked = {
      model: 'clerk',
      input: 'Where?',
      text: { format: { type: 'json_schema' as const, name: 'place', schema, strict: true } },
    }
    const whole = await client.responses.parse(asked)
    expect(whole).toMatchObject({
      output_text: '{"city":"Oslo"}',
      output: [{ type: 'message' }],
      text: { format: { type: 'json_schema' } },
    })
    expect(model.requests[0]?.output).toEqual({ schema })
    const final = await client.responses.stream(asked).finalResponse()
    expect(final.output_text).toBe('{"city":"Oslo"}')
    expect(await client.responses.retrieve(final.id)).toMatchObject({ output: final.output.map(({ type, id }) => ({ type, id })) })
  })

  it('has the work of children as one call, and not their texts', async () => {
    const model = new ScriptedModel([
      { calls: [{ tool: 'agent__scout', input: { prompt: 'Rain?' } }] },
      { text: 'I look.', calls: [{ tool: 'weather', input: { city: 'Oslo' } }] },
      { text: 'Rain in Oslo.' },
      { text: 'It rains.' },
    ])
    const scout = { ...clerk, name: 'scout', tools: ['weather'] }
    const { client } = await serveOpenAi({ model, agents: [{ ...clerk, agents: ['scout'] }, scout], tools: [weather] })
    const { output } = await client.responses.create({ model: 'clerk', input: 'Rain?' }, withCalls)
    expect(output).toMatchObject([
      { type: 'mcp_call', status: 'completed', name: 'agent__scout', output: expect.stringContaining('Rain in Oslo.') },
      { type: 'message', content: [{ text: 'It rains.' }] },
    ])
    model.assertDone()
  })

  it('is incomplete after a limit, and reports a failed call', async () => {
    const steps: ScriptedStepSource[] = [
      { calls: [{ tool: 'weather', input: { city: 'Nowhere' } }] },
      { calls: [{ tool: 'weather', input: { city: 'Rome' } }] },
      { text: 'I do not know.' },
    ]
    const { client } = await withModel(steps, { tools: ['weather'], limits: { maxToolTurns: 2 } })
    const asked = client.responses.create({ model: 'clerk', input: 'Rain?' }, withCalls)
    const { status, incomplete_details, output, output_text } = await asked
    expect({ status, incomplete_details, output_text }).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens', limit: 'steps' },
      output_text: 'I do not know.',
    })
    expect(output[0]).toMatchObject({ type: 'mcp_call', status: 'failed', output: null, error: { type: 'mcp_tool_execution_error' } })
  })

  it('is incomplete if the provider withholds it', async () => {
    const { client } = await withModel([{ text: 'Half', finish: 'content-filter' }], { limits: { maxRetries: 0 } })
    const response = await client.responses.create({ model: 'clerk', input: 'Go!' })
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output_text: '' })
    expect(await client.responses.retrieve(response.id)).toEqual(response)
  })

  it('takes items as input, also those of earlier answers', async () => {
    const { client, model } = await withModel([...team, ...texts('Yes.')], { tools: ['weather'] })
    const first = await client.responses.create({ model: 'clerk', input: 'Rain?' }, withCalls)
    await client.responses.create({
      model: 'clerk',
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: 'Rain?' },
        ...(first.output as ResponseInputItem[]),
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'And this?' },
            { type: 'input_image', image_url: `data:image/png;base64,${pngBase64}`, detail: 'auto' },
            { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-1.7')}` },
          ],
        },
      ],
    })
    expect(model.requests.at(-1)?.system).toBe('You are a clerk.\n\nBe brief.\n\nBe kind.')
    expect(said(model)).toEqual([
      'user: Rain?',
      'assistant: I look it up.',
      'assistant: call',
      'tool: Rain in Oslo.',
      'assistant: It rains in Oslo.',
      'user: And this?,image,file',
    ])
  })

  it('takes calls of functions of the client as history, and lists its input', async () => {
    const { client, model } = await withModel(texts('Both.', 'Still.'))
    const call = (call_id: string) => ({ type: 'function_call', call_id, name: 'look', arguments: `{"at":"${call_id}"}` }) as const
    const result = (call_id: string, output: string | { type: 'input_text'; text: string }[]) =>
      ({ type: 'function_call_output', call_id, output }) as const
    const image_url = `data:image/png;base64,${pngBase64}`
    const { id } = await client.responses.create({
      model: 'clerk',
      input: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: 'Look!' },
        { role: 'assistant', content: 'I look.' },
        ...[call('a'), call('b')],
        ...[result('b', 'B.'), result('a', [{ type: 'input_text', text: 'A.' }])],
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'And?' },
            { type: 'input_image', image_url, detail: 'auto' },
          ],
        },
      ],
    })
    expect(said(model)).toEqual(['user: Look!', 'assistant: I look.,call,call', 'tool: B.,A.', 'user: And?,image'])
    const items = await streamed(client.responses.inputItems.list(id, { order: 'asc', limit: 2 }))
    const done = { id: expect.any(String), status: 'completed' }
    expect(items).toEqual([
      { ...done, type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look!' }] },
      { ...done, type: 'message', role: 'assistant', content: [expect.objectContaining({ type: 'output_text', text: 'I look.' })] },
      { ...done, ...call('a') },
      { ...done, ...call('b') },
      { ...done, ...result('b', 'B.') },
      { ...done, ...result('a', 'A.') },
      {
        ...done,
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'And?' },
          { type: 'input_image', image_url, detail: 'auto' },
        ],
      },
    ])
    const ids = items.map((item) => item.id ?? '')
    expect(new Set(ids).size).toBe(7)
    const page = await client.responses.inputItems.list(id, { after: ids[5] ?? '', limit: 2 })
    expect(page).toMatchObject({ data: [{ id: ids[4] }, { id: ids[3] }], has_more: true })
    const next = await client.responses.create({ model: 'clerk', input: 'Sure?', previous_response_id: id })
    expect((await client.responses.inputItems.list(next.id)).data).toMatchObject([{ content: [{ text: 'Sure?' }] }])
  })
})

describe('previous_response_id', () => {
  it('continues the session, with its own instructions and format', async () => {
    const { client, model, runtime } = await withModel(texts('One.', '{"n":2}', 'Three.'))
    const one = await client.responses.create({ model: 'clerk', input: 'One?', instructions: 'Be brief.' })
    const two = await client.responses.create({
      model: 'clerk',
      input: 'Two?',
      previous_response_id: one.id,
      text: { format: { type: 'json_object' } },
    })
    const three = await client.responses.stream({ model: 'clerk', input: 'Three?', previous_response_id: two.id }).finalResponse()
    expect(said(model)).toEqual(['user: One?', 'assistant: One.', 'user: Two?', 'assistant: {"n":2}', 'user: Three?'])
    expect(model.requests.map(({ system }) => system.split('\n\n')[1])).toEqual(['Be brief.', undefined, undefined])
    expect([one, two, three].map(({ output_text }) => output_text)).toEqual(['One.', '{"n":2}', 'Three.'])
    expect(await runtime.sessions.list()).toHaveLength(1)
    for (const each of [one, two, three]) expect((await client.responses.retrieve(each.id)).output_text).toBe(each.output_text)
    expect(await client.responses.retrieve(three.id)).toMatchObject({ previous_response_id: two.id })
  })

  it('continues twice from the same response, in a copy, also at the same time', async () => {
    const answer: ScriptedStepSource = ({ messages }) => {
      const last = messages.at(-1)
      return { text: last?.role === 'user' && last.parts[0]?.type === 'text' ? `To ${last.parts[0].text}` : '' }
    }
    const { client, model, runtime } = await withModel(Array.from({ length: 5 }, () => answer))
    const root = await client.responses.create({ model: 'clerk', input: 'root' })
    const next = (input: string, previous_response_id: string) => client.responses.create({ model: 'clerk', input, previous_response_id })
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((input) => next(input, root.id)))
    expect([a, b, c].map((each) => each?.output_text)).toEqual(['To a', 'To b', 'To c'])
    const histories = model.requests.slice(1).map((_, index) => said(model, index + 1))
    expect(histories.toSorted()).toEqual(['a', 'b', 'c'].map((input) => ['user: root', 'assistant: To root', `user: ${input}`]))
    expect(await runtime.sessions.list()).toHaveLength(3)
    expect((await next('d', b?.id ?? '')).output_text).toBe('To d')
    expect(said(model)).toEqual(['user: root', 'assistant: To root', 'user: b', 'assistant: To b', 'user: d'])
  })

  it('is refused if it is unknown, of another owner, of another agent, or not complete', async () => {
    const hold = gate()
    const { client, clientOf, token } = await withModel([...texts('One.'), { text: 'Two.', wait: hold.promise }])
    const one = await client.responses.create({ model: 'clerk', input: 'One?' })
    const running = await client.responses.create({ model: 'clerk', input: 'Two?', background: true })
    const other = clientOf(await token({ name: 'other' }))
    const next = (from: OpenAI, id: string, more: object = {}) =>
      caught(from.responses.create({ model: 'clerk', input: 'Next?', previous_response_id: id, ...more }, { maxRetries: 0 }))
    for (const [from, id] of [
      [client, 'resp_none'],
      [client, 'x'],
      [other, one.id],
    ] as const)
      expect(await next(from, id)).toMatchObject({ status: 404, code: 'response_not_found' })
    const reference = [
      { type: 'item_reference' as const, id: one.output[0]?.id ?? '' },
      { role: 'user' as const, content: 'Next?' },
    ]
    expect(await caught(other.responses.create({ model: 'clerk', input: reference }))).toMatchObject({ status: 400, param: 'input.0' })
    expect(await next(client, running.id)).toMatchObject({ status: 409, param: 'previous_response_id' })
    const assistant = {
      input: [
        { role: 'assistant', content: 'a' },
        { role: 'user', content: 'b' },
      ],
    }
    expect(await next(client, one.id, assistant)).toMatchObject({ status: 400, param: 'input' })
    for (const ask of [
      other.responses.retrieve(one.id),
      other.responses.retrieve(one.id, { stream: true }),
      other.responses.inputItems.list(one.id),
      other.responses.delete(one.id),
      other.responses.cancel(one.id),
    ])
      expect(await caught(ask)).toBeInstanceOf(OpenAI.NotFoundError)
    hold.open()
  })
})

describe('storage', () => {
  it('ends with the answer for store: false, also in a conversation', async () => {
    const { client, runtime, model, store } = await withModel(texts('One.', 'Two.', 'Three.'))
    const gone = await client.responses.create({ model: 'clerk', input: 'One?', store: false })
    expect(gone).toMatchObject({ output_text: 'One.', store: false })
    expect(await caught(client.responses.retrieve(gone.id))).toBeInstanceOf(OpenAI.NotFoundError)
    expect(await runtime.sessions.list()).toEqual([])
    const kept = await client.responses.create({ model: 'clerk', input: 'Two?' })
    const branch = { model: 'clerk', input: 'Three?', previous_response_id: kept.id, store: false }
    expect((await client.responses.stream(branch).finalResponse()).output_text).toBe('Three.')
    expect(said(model)).toEqual(['user: Two?', 'assistant: Two.', 'user: Three?'])
    expect(await runtime.sessions.list()).toHaveLength(1)
    expect(await store.records.list('response')).toHaveLength(1)
  })

  it('is all in the store: another process reads it, and continues a copy', async () => {
    const shared = memoryStore()
    const store = { ...shared, close: async () => {} }
    const options = { store, agents: [clerk] }
    const before = await serveOpenAi({ ...options, model: new ScriptedModel(texts('One.', 'Two.')) })
    const one = await before.client.responses.create({ model: 'clerk', input: 'One?', metadata: { ticket: '7' } })
    await before.client.responses.create({ model: 'clerk', input: 'Two?', previous_response_id: one.id })
    await before.runtime.close()
    const model = new ScriptedModel(texts('Three.'))
    const { client } = await serveOpenAi({ ...options, model })
    expect(await client.responses.retrieve(one.id)).toEqual(one)
    const three = await client.responses.create({ model: 'clerk', input: 'Three?', previous_response_id: one.id })
    expect(three.output_text).toBe('Three.')
    expect(said(model)).toEqual(['user: One?', 'assistant: One.', 'user: Three?'])
  })

  it('says so if no process can continue the session itself', async () => {
    const shared = memoryStore()
    const store = { ...shared, close: async () => {} }
    const before = await serveOpenAi({ store, agents: [clerk], model: new ScriptedModel(texts('One.')) })
    const one = await before.client.responses.create({ model: 'clerk', input: 'One?' })
    await before.runtime.close()
    const { client } = await serveOpenAi({ store, agents: [clerk], model: new ScriptedModel([]) })
    const next = client.responses.create({ model: 'clerk', input: 'Two?', previous_response_id: one.id })
    expect(await caught(next)).toMatchObject({ status: 422, type: 'turn_failed' })
  })

  it('is deleted with the last response of a session', async () => {
    const { client, runtime, store } = await withModel(texts('One.', 'Two.'))
    const one = await client.responses.create({ model: 'clerk', input: 'One?' })
    const two = await client.responses.create({ model: 'clerk', input: 'Two?', previous_response_id: one.id })
    await client.responses.delete(one.id)
    expect(await caught(client.responses.retrieve(one.id))).toBeInstanceOf(OpenAI.NotFoundError)
    expect((await client.responses.retrieve(two.id)).output_text).toBe('Two.')
    await client.responses.delete(two.id)
    expect(await runtime.sessions.list()).toEqual([])
    expect(await store.records.list('response')).toEqual([])
  })
})

describe('in the background', () => {
  it('a response is read when it is complete', async () => {
    const hold = gate()
    const { client, runtime } = await withModel([{ text: 'Done.', wait: hold.promise }])
    const begun = await client.responses.create({ model: 'clerk', input: 'Go!', background: true })
    expect(['queued', 'in_progress']).toContain(begun.status)
    expect((await client.responses.retrieve(begun.id)).status).toBe('in_progress')
    hold.open()
    await runtime.sessions.outcome(begun.id.slice('resp_'.length))
    expect(await client.responses.retrieve(begun.id)).toMatchObject({ status: 'completed', output_text: 'Done.', background: true })
  })

  it('a response continues when its reader leaves', async () => {
    const hold = gate()
    const { client, runtime } = await withModel([{ text: 'Done.', wait: hold.promise }])
    let id = ''
    for await (const event of await client.responses.create({ model: 'clerk', input: 'Go!', background: true, stream: true })) {
      if (event.type === 'response.created') id = event.response.id
      break
    }
    hold.open()
    expect(await runtime.sessions.outcome(id.slice('resp_'.length))).toMatchObject({ status: 'completed' })
    expect((await client.responses.retrieve(id)).output_text).toBe('Done.')
  })

  it('a response is cancelled', async () => {
    const { client } = await withModel([{ text: 'Never.', wait: new Promise(() => {}) }])
    const begun = await client.responses.create({ model: 'clerk', input: 'Go!', background: true })
    expect(await client.responses.cancel(begun.id)).toMatchObject({ status: 'cancelled' })
    expect(await client.responses.cancel(begun.id)).toMatchObject({ status: 'cancelled' })
  })
})

describe('errors', () => {
  it('of the model have a status, and are an event of a stream', async () => {
    const fault = { class: 'auth', message: 'The key was refused.' } as const
    const { client, model } = await withModel([{ fault }, { fault }], { limits: { maxRetries: 0 } })
    const asked = { model: 'clerk', input: 'Go!' }
    expect(await caught(client.responses.create(asked))).toMatchObject({ status: 422, type: 'turn_failed' })
    const failed = await streamed(await client.responses.create({ ...asked, stream: true }))
    expect(failed.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } })
    expect(model.requests).toHaveLength(2)
  })

  it('name the open requests and the response that continues after the answer', async () => {
    const steps: ScriptedStepSource[] = [{ calls: [{ tool: 'pay' }] }]
    const { client, runtime } = await withModel([...steps, ...steps, ...texts('Paid.')], { tools: ['pay'] })
    const asked = { model: 'clerk', input: 'Pay!' }
    const error = (await caught(client.responses.create(asked))) as {
      readonly error: { readonly response_id: string; readonly session_id: string }
    }
    expect(error).toMatchObject({ status: 403, code: 'approval_required', error: { approvals: [{ summary: 'Pay 5 euros' }] } })
    expect(await caught(client.responses.stream(asked).finalResponse())).toMatchObject({ code: 'approval_required' })
    const { response_id, session_id } = error.error
    const [request] = await runtime.sessions.requests(session_id)
    await runtime.sessions.approve(session_id, { approvalId: request?.id ?? '', decision: { kind: 'approve', breadth: 'once' } })
    await runtime.sessions.outcome(session_id)
    expect((await client.responses.retrieve(response_id)).output_text).toBe('Paid.')
  })

  it.each<[name: string, body: object]>([
    ['input', { input: [{ role: 'assistant', content: 'a' }] }],
    ['input.0', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['input.0.type', { input: [{ type: 'computer_call', call_id: 'c' }] }],
    ['input.0.call_id', { input: [{ type: 'function_call_output', call_id: 'c', output: 'a' }] }],
    ['input.0.arguments', { input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }],
    ['input.0', { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }] }],
    ['input.0.role', { input: [{ role: 'critic', content: 'a' }] }],
    ['input.0.content', { input: [{ role: 'user' }] }],
    ['tools.0.name', { tools: [{ type: 'function' }] }],
    ['tool_choice', { tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'function', name: 'g' } }],
    ['n', { n: 2 }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['conversation', { conversation: 'conv_1' }],
    ['prompt', { prompt: { id: 'p' } }],
    ['top_logprobs', { include: ['message.output_text.logprobs'], top_logprobs: 5 }],
    ['background', { background: true, store: false }],
    ['reasoning.effort', { reasoning: { effort: 5 } }],
    ['max_output_tokens', { max_output_tokens: 0 }],
    ['truncation', { truncation: 'some' }],
    ['text.format.schema', { text: { format: { type: 'json_schema', name: 'a' } } }],
  ])('name a parameter that is wrong: %s', async (param, body) => {
    const { client, runtime } = await withModel([])
    const error = await caught(client.responses.create({ model: 'clerk', input: 'Go!', ...body } as never))
    expect(error).toBeInstanceOf(OpenAI.BadRequestError)
    expect(error).toMatchObject({ param, type: 'invalid_request_error' })
    expect(await runtime.sessions.list()).toEqual([])
  })
})

describe('parameters', () => {
  it('that have no effect are named; limits can be lower', async () => {
    const steps: ScriptedStepSource[] = [{ calls: [{ tool: 'weather', input: { city: 'Oslo' } }] }, { text: 'No.' }]
    const { client, events } = await withModel(steps, { tools: ['weather'] })
    const { data, response } = await client.responses
      .create({
        model: 'clerk',
        input: 'Rain?',
        temperature: 0.5,
        reasoning: { effort: 'low', summary: 'auto' },
        text: { verbosity: 'low' },
        include: ['reasoning.encrypted_content'],
        context_management: [{ type: 'compaction', compact_threshold: 1000 }],
        prompt_cache_key: 'k',
        ...{ client_metadata: { a: 'b' } },
        max_tool_calls: 0,
        parallel_tool_calls: false,
      })
      .withResponse()
    expect(response.headers.get('x-troupe-ignored-parameters')).toBe(
      'temperature, prompt_cache_key, include, context_management, client_metadata, reasoning.effort, text.verbosity',
    )
    expect(data).toMatchObject({
      status: 'incomplete',
      temperature: 1,
      prompt_cache_key: 'k',
      max_tool_calls: 0,
      parallel_tool_calls: false,
    })
    const [created] = await events()
    expect(created).toMatchObject({ agent: { limits: { maxCalls: 0, parallelToolCalls: 1 } } })
  })
})

describe('a client that leaves', () => {
  it('interrupts the turn', async () => {
    const { client, runtime } = await withModel([{ text: 'Never.', wait: new Promise(() => {}) }])
    for await (const _ of await client.responses.create({ model: 'clerk', input: 'Go!', stream: true })) break
    await expect.poll(async () => (await runtime.sessions.list()).map(({ status }) => status)).toEqual(['interrupted'])
  })
})
