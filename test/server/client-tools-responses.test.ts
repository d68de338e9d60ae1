import type { APIError, OpenAI } from 'openai'
import type { Response, ResponseInputItem, Tool } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { gate, type ScriptedStepSource } from '../../src/testing/index.ts'
import { resultsIn } from '../acceptance/support.ts'
import { pngBase64 } from '../fixtures/pictures.ts'
import { caught, type OpenAiServed, said, streamed, withModel } from './openai-support.ts'

// Tools of a client in `/v1/responses`, with the official SDK.

const edit: Tool = {
  type: 'function',
  name: 'Edit',
  description: 'Edits a file',
  strict: false,
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
}
const patch: Tool = { type: 'custom', name: 'patch', description: 'Applies a patch.', format: { type: 'text' } }

const editCall = { calls: [{ tool: 'Edit', input: { path: 'a.ts' } }] }
const user = (content: string) => ({ role: 'user', content }) as const
const output = (call_id: string | undefined, text: unknown) =>
  ({ type: 'function_call_output', call_id: call_id ?? '', output: text }) as ResponseInputItem

interface Asking {
  readonly tools?: Tool[]
  readonly more?: object
  readonly from?: OpenAI
}

const ask = ({ client }: Pick<OpenAiServed, 'client'>, input: readonly ResponseInputItem[], asking: Asking = {}): Promise<Response> => {
  const { tools = [edit], more = {}, from = client } = asking
  return from.responses.create({ model: 'clerk', input: [...input], tools, ...more }, { maxRetries: 0 }) as Promise<Response>
}

const callIds = (response: Response): string[] => response.output.flatMap((item) => ('call_id' in item ? [item.call_id as string] : []))
const sessionOf = (response: Response): string => (response as unknown as { readonly session_id: string }).session_id

/** A conversation that ends in the calls of the first response. */
async function called(steps: readonly ScriptedStepSource[], agent: object = {}, asking: Asking = {}) {
  const served = await withModel(steps, agent)
  const first = await ask(served, [user('fix it')], asking)
  return { ...served, first, ids: callIds(first), input: [user('fix it'), ...(first.output as ResponseInputItem[])] as const }
}

describe('a call', () => {
  it('is an item of a complete response, and its output continues the same session', async () => {
    const steps = [
      { reasoning: 'Hm.', text: 'I edit it.', ...editCall, usage: { input: 10, output: 5 } },
      { text: 'Done.', usage: { input: 20, output: 7 } },
    ]
    const { first, ids, input, client, runtime, model } = await called(steps)
    expect(first).toMatchObject({
      status: 'completed',
      tools: [edit],
      tool_choice: 'auto',
      usage: { input_tokens: 10, output_tokens: 5 },
      output: [
        { type: 'reasoning' },
        { type: 'message', content: [{ text: 'I edit it.' }] },
        { type: 'function_call', status: 'completed', call_id: ids[0], name: 'Edit', arguments: '{"path":"a.ts"}' },
      ],
    })
    expect(first.output[2]!.id).toMatch(/^fc_[\w-]+$/)
    expect(ids[0]).toMatch(/^[\w-]{1,64}$/)
    expect(await client.responses.retrieve(first.id)).toEqual(first)
    const second = await ask({ client }, [...input, output(ids[0], 'ok')])
    expect(second).toMatchObject({ status: 'completed', output_text: 'Done.', usage: { input_tokens: 20, output_tokens: 7 } })
    expect(second.id).not.toBe(first.id)
    for (const each of [first, second]) expect(await client.responses.retrieve(each.id)).toEqual(each)
    const { data } = await client.responses.inputItems.list(second.id)
    expect(data).toMatchObject([{ type: 'function_call_output', call_id: ids[0], output: 'ok' }])
    expect(await runtime.sessions.list()).toHaveLength(1)
    expect(resultsIn(model.requests[1])).toMatchObject([{ content: 'ok' }])
  })

  it('is streamed, and streamed again', async () => {
    const { client } = await withModel([{ text: 'Both.', calls: [...editCall.calls, { tool: 'patch', input: { input: '*** Begin' } }] }])
    const asked = { model: 'clerk', input: 'go', tools: [edit, patch] }
    const stream = client.responses.stream(asked)
    const events: { readonly type: string }[] = []
    stream.on('event', (event) => events.push(event))
    const final = await stream.finalResponse()
    const [fc, ctc] = final.output.slice(1).map(({ id }) => id)
    expect(events.map(({ type }) => type.replace('response.', '')).slice(-9)).toEqual([
      ...['output_item.added', 'function_call_arguments.delta', 'function_call_arguments.done', 'output_item.done'],
      ...['output_item.added', 'custom_tool_call_input.delta', 'custom_tool_call_input.done', 'output_item.done'],
      'completed',
    ])
    expect(events.slice(-9)).toMatchObject([
      { output_index: 1, item: { id: fc, status: 'in_progress', arguments: '' } },
      { item_id: fc, output_index: 1, delta: '{"path":"a.ts"}' },
      { item_id: fc, name: 'Edit', arguments: '{"path":"a.ts"}' },
      { item: { id: fc, status: 'completed', arguments: '{"path":"a.ts"}' } },
      { output_index: 2, item: { id: ctc, type: 'custom_tool_call', input: '' } },
      { item_id: ctc, delta: '*** Begin' },
      { item_id: ctc, input: '*** Begin' },
      { item: { id: ctc, input: '*** Begin' } },
      { response: { status: 'completed', output: [{}, { type: 'function_call' }, { type: 'custom_tool_call' }] } },
    ])
    expect(await streamed(await client.responses.retrieve(final.id, { stream: true }))).toMatchObject(events)
    const { output: again } = await client.responses.retrieve(final.id)
    expect(again).toMatchObject([{ type: 'message' }, { id: fc }, { id: ctc, name: 'patch', input: '*** Begin' }])
  })

  it('of a custom tool is answered with custom_tool_call_output', async () => {
    const steps = [{ calls: [{ tool: 'patch', input: { input: '*** Begin' } }] }, { text: 'Done.' }]
    const { ids, input, client, model, first } = await called(steps, {}, { tools: [patch] })
    expect(first.tools).toEqual([patch])
    const item = { type: 'custom_tool_call_output', call_id: ids[0]!, output: 'Success.' } as const
    expect((await ask({ client }, [...input, item], { tools: [patch] })).output_text).toBe('Done.')
    expect(resultsIn(model.requests[1])).toMatchObject([{ name: 'patch', content: 'Success.' }])
  })

  it('is parsed by the SDK', async () => {
    const { client } = await withModel([editCall])
    const strict = { ...edit, strict: true } as const
    const { output: items } = await client.responses.parse({ model: 'clerk', input: 'go', tools: [strict as never] })
    expect(items[0]).toMatchObject({ type: 'function_call', parsed_arguments: { path: 'a.ts' } })
  })

  it('waits for its client, which has left as soon as the response was complete', async () => {
    const served = await withModel([editCall, { text: 'Done.' }])
    let first: Response | undefined
    for await (const event of await served.client.responses.create({ model: 'clerk', input: 'go', tools: [edit], stream: true })) {
      if (event.type !== 'response.completed') continue
      first = event.response
      break
    }
    const next = await ask(served, [user('go'), ...(first!.output as ResponseInputItem[]), output(callIds(first!)[0], 'ok')])
    expect(next.output_text).toBe('Done.')
  })

  it('may come in the background', async () => {
    const { client, runtime, model } = await withModel([editCall, { text: 'Done.' }])
    const begun = await ask({ client }, [user('go')], { more: { background: true } })
    const sessionId = sessionOf(begun)
    await runtime.sessions.outcome(sessionId)
    const ended = await client.responses.retrieve(begun.id)
    expect(ended).toMatchObject({ status: 'completed', output: [{ type: 'function_call' }] })
    const next = await ask({ client }, [output(callIds(ended)[0], 'ok')], { more: { background: true, previous_response_id: begun.id } })
    await expect.poll(async () => (await client.responses.retrieve(next.id)).status).toBe('completed')
    expect((await client.responses.retrieve(next.id)).output_text).toBe('Done.')
    expect(model.requests).toHaveLength(2)
  })
})

describe('tools', () => {
  it('of other types are left out and named; a choice is repeated', async () => {
    const { client, model } = await withModel([{ text: 'Hi.' }])
    const { data, response } = await client.responses
      .create({
        model: 'clerk',
        input: 'go',
        tools: [edit, { type: 'web_search' }, { type: 'namespace', name: 'agents', tools: [] } as never],
        tool_choice: { type: 'function', name: 'Edit' },
      })
      .withResponse()
    expect(response.headers.get('x-troupe-ignored-parameters')).toBe('tools.web_search, tools.namespace')
    expect(data).toMatchObject({ tools: [edit], tool_choice: { type: 'function', name: 'Edit' } })
    expect(model.requests[0]).toMatchObject({ tools: [{ name: 'Edit' }], toolChoice: { tool: 'Edit' } })
  })

  it('and a format of the answer go together', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const more = { text: { format: { type: 'json_schema', name: 'n', strict: true, schema } } }
    const steps = [{ text: 'I look.', ...editCall }, { text: '{"n":1}' }]
    const { ids, input, client } = await called(steps, {}, { more })
    expect((await ask({ client }, [...input, output(ids[0], 'ok')], { more })).output_text).toBe('{"n":1}')
  })

  it('belong to one response; a turn keeps its format', async () => {
    const more = { text: { format: { type: 'json_object' } } }
    const steps = [editCall, { text: '{"n":1}' }, { text: 'Hi.' }]
    const { ids, first, client, model } = await called(steps, {}, { more })
    const second = await ask({ client }, [output(ids[0], 'ok')], { more: { previous_response_id: first.id } })
    expect(second.output).toMatchObject([{ type: 'message', content: [{ text: '{"n":1}' }] }])
    const third = await client.responses.create({ model: 'clerk', input: 'And?', previous_response_id: second.id })
    expect(third).toMatchObject({ output_text: 'Hi.', tools: [] })
    expect(model.requests.map(({ tools, output: format }) => [tools.length, format !== undefined])).toEqual([
      [1, true],
      [1, true],
      [0, false],
    ])
  })
})

describe('outputs', () => {
  it('may have images, come in any order, and be followed by messages of the same step', async () => {
    const steps = [{ calls: ['a', 'b'].map((path) => ({ tool: 'Edit', input: { path } })) }, { text: 'Done.' }]
    const { ids, input, client, model } = await called(steps)
    const image = { type: 'input_image', image_url: `data:image/png;base64,${pngBase64}`, detail: 'auto' }
    const parts = [{ type: 'input_text', text: 'one' }, image, { ...image, image_url: 'https://example.com/a.png' }]
    const answered = [
      ...input,
      output(ids[1], 'two'),
      output(ids[0], parts),
      user('<notification>'),
      { role: 'developer', content: 'Mode.' } as const,
    ]
    const done = await ask({ client }, answered)
    expect(done.output_text).toBe('Done.')
    expect(resultsIn(model.requests[1])).toMatchObject([
      { content: expect.stringContaining('one\n[image: https://example.com/a.png]'), parts: [{ type: 'image', data: pngBase64 }] },
      { content: 'two' },
    ])
    expect(said(model).at(-1)).toBe('user: <notification>,Mode.')
    expect((await client.responses.inputItems.list(done.id, { order: 'asc' })).data).toMatchObject([
      { type: 'function_call_output', call_id: ids[1], output: 'two' },
      { type: 'function_call_output', call_id: ids[0], output: [{ text: expect.stringContaining('one') }, image] },
      { type: 'message', content: [{ text: '<notification>' }, { text: 'Mode.' }] },
    ])
    expect(model.requests).toHaveLength(2)
  })

  it('follow previous_response_id, and references to items', async () => {
    const { ids, first, client, model, runtime } = await called([editCall, editCall, { text: 'Done.' }, { text: 'More.' }])
    const second = await ask({ client }, [output(ids[0], 'one')], { more: { previous_response_id: first.id } })
    expect(second).toMatchObject({ previous_response_id: first.id, output: [{ type: 'function_call' }] })
    const references = [...first.output, ...second.output].map(({ id }) => ({ type: 'item_reference' as const, id: id! }))
    const third = await ask({ client }, [
      user('fix it'),
      references[0]!,
      output(ids[0], 'one'),
      references[1]!,
      output(callIds(second)[0], 'two'),
    ])
    expect(third.output_text).toBe('Done.')
    const fourth = await ask({ client }, [user('And?')], { more: { previous_response_id: third.id } })
    expect(fourth.output_text).toBe('More.')
    expect(said(model)).toEqual([
      'user: fix it',
      'assistant: call',
      'tool: one',
      'assistant: call',
      'tool: two',
      'assistant: Done.',
      'user: And?',
    ])
    expect(await runtime.sessions.list()).toHaveLength(1)
    for (const each of [first, second, third, fourth]) expect(await client.responses.retrieve(each.id)).toEqual(each)
  })

  it('keep the instructions of previous_response_id, unless the request has others', async () => {
    const served = await withModel([editCall, editCall, editCall, { text: 'Done.' }])
    const system = { role: 'system', content: 'Kind.' } as const
    let last = await ask(served, [system, user('go')], { more: { instructions: 'One.' } })
    for (const more of [{}, { instructions: 'One.' }, { instructions: 'Two.' }])
      last = await ask(served, [output(callIds(last)[0], 'ok')], { more: { previous_response_id: last.id, ...more } })
    const prompts = served.model.requests.map((request) => request.system.split('\n\n').slice(1).join())
    expect(prompts).toEqual(['One.,Kind.', 'One.,Kind.', 'One.,Kind.', 'Two.,Kind.'])
  })

  it('that are missing, or of other calls, are refused', async () => {
    const steps = [{ calls: ['a', 'b'].map((path) => ({ tool: 'Edit', input: { path } })) }]
    const { ids, first, client, events } = await called(steps)
    const before = await events()
    const next = (...input: ResponseInputItem[]) => caught(ask({ client }, input, { more: { previous_response_id: first.id } }))
    for (const input of [[user('And?')], [output(ids[0], 'ok')], ids.concat('call_x').map((id) => output(id, 'ok'))])
      expect(await next(...input)).toMatchObject({ status: 400, param: 'input' })
    expect(await caught(ask({ client }, [user('go'), output(ids[0], 'ok')]))).toMatchObject({ status: 400, param: 'input.1.call_id' })
    expect(await events()).toEqual(before)
  })

  it('that come again are answered again, and others for the same call are refused for good', async () => {
    const { ids, input, first, client, model } = await called([editCall, { text: 'Done.' }])
    const answered = [...input, output(ids[0], 'ok')]
    const [one, two] = [await ask({ client }, answered), await ask({ client }, answered)]
    const three = await ask({ client }, [output(ids[0], 'ok')], { more: { previous_response_id: first.id } })
    expect([one, two, three].map(({ output_text }) => output_text)).toEqual(['Done.', 'Done.', 'Done.'])
    expect(new Set([one, two, three].map(({ id }) => id)).size).toBe(3)
    for (const each of [one, two, three]) {
      expect(await client.responses.retrieve(each.id)).toEqual(each)
      expect((await client.responses.inputItems.list(each.id)).data).toMatchObject([{ call_id: ids[0], output: 'ok' }])
    }
    const error = (await caught(ask({ client }, [...input, output(ids[0], 'other')]))) as APIError
    expect(error).toMatchObject({ status: 409, code: 'approval_answered' })
    expect(error.headers?.get('x-should-retry')).toBe('false')
    expect(model.requests).toHaveLength(2)
  })

  it('of some calls only get the others again', async () => {
    const steps = [{ calls: ['a', 'b'].map((path) => ({ tool: 'Edit', input: { path } })) }, { text: 'Done.' }]
    const { ids, input, first, client, model } = await called(steps)
    const some = [...input.slice(0, 2), output(ids[0], 'ok')]
    const again = await ask({ client }, some)
    expect(again).toMatchObject({ status: 'completed', output: [first.output[1]], usage: { total_tokens: 0 } })
    expect(await client.responses.retrieve(again.id)).toEqual(again)
    const more = { previous_response_id: again.id }
    expect((await ask({ client }, [output(ids[1], 'ok')], { more })).output_text).toBe('Done.')
    expect(model.requests).toHaveLength(2)
  })

  it('before the text of an answer that broke off follow the turn', async () => {
    const hold = gate()
    const { ids, input, client, runtime, model } = await called([editCall, { text: 'Done.', wait: hold.promise }])
    const answered: ResponseInputItem[] = [...input, output(ids[0], 'ok')]
    const controller = new AbortController()
    const asked = { model: 'clerk', input: answered, tools: [edit], stream: true as const }
    const left = caught(client.responses.create(asked, { signal: controller.signal }).then(streamed))
    await expect.poll(() => model.requests.length).toBe(2)
    controller.abort()
    await left
    const broken = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Do' }] } as never
    const again = ask({ client }, [...answered, broken])
    hold.open()
    const done = await again
    expect(done.output_text).toBe('Done.')
    expect(await client.responses.retrieve(done.id)).toEqual(done)
    expect(model.requests).toHaveLength(2)
    expect(await runtime.sessions.list()).toHaveLength(1)
  })

  it('of another owner, of another service or of a deleted session begin a new session from the history', async () => {
    const answer: ScriptedStepSource = ({ messages }) => ({ text: `After ${messages.length}.` })
    const { ids, input, first, client, clientOf, token, runtime, model } = await called([editCall, answer, answer, answer])
    const answered = [...input, output(ids[0], [{ type: 'input_image', image_url: `data:image/png;base64,${pngBase64}` }])]
    const other = clientOf(await token({ name: 'other' }))
    expect((await ask({ client }, answered, { from: other })).output_text).toBe('After 4.')
    expect(model.requests[1]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', parts: [{ type: 'call', name: 'Edit' }] },
      { role: 'tool', results: [{ parts: [{ type: 'image', data: pngBase64 }] }] },
      { role: 'user', parts: [{ text: 'Continue with these results.' }] },
    ])
    const foreign = { type: 'function_call', call_id: 'c|1', name: 'Edit', arguments: '{}' } as const
    const searched = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } } as never
    const theirs = [user('go'), { type: 'reasoning' as const, id: 'rs_1', summary: [] }, searched, foreign, output('c|1', 'ok')]
    expect((await ask({ client }, theirs)).output_text).toBe('After 4.')
    await client.responses.delete(first.id)
    expect((await ask({ client }, answered)).output_text).toBe('After 4.')
    expect(await runtime.sessions.list()).toHaveLength(3)
  })

  it('after the turn was ended are refused; with a message they begin a new session', async () => {
    const { ids, input, first, client, runtime } = await called([editCall, { text: 'Other.' }])
    await runtime.sessions.cancel(sessionOf(first), 'interrupt')
    await runtime.sessions.outcome(sessionOf(first))
    const answered = [...input, output(ids[0], 'ok')]
    expect(await caught(ask({ client }, answered))).toMatchObject({
      status: 409,
      message: expect.stringContaining('ended without the results'),
    })
    const next = await ask({ client }, [...answered, user('Go on.')])
    expect(next.output_text).toBe('Other.')
    expect(await client.responses.retrieve(next.id)).toEqual(next)
  })
})

describe('an own call that waits for approval', () => {
  it('does not hold the calls of the client back; the response that continues is read after the answer', async () => {
    const agent = { tools: ['pay'], clientTools: 'allow' }
    const steps = [{ calls: [...editCall.calls, { tool: 'pay' }] }, { text: 'Paid.' }]
    const { first, ids, input, client, runtime } = await called(steps, agent)
    expect(first).toMatchObject({ status: 'completed', output: [{ type: 'function_call' }] })
    const answered = [...input, output(ids[0], 'ok')]
    const waiting = async () => {
      const error = (await caught(ask({ client }, answered))) as { readonly error: { readonly response_id: string } }
      expect(error).toMatchObject({ status: 403, code: 'approval_required', error: { approvals: [{ summary: 'Pay 5 euros' }] } })
      return error.error.response_id
    }
    const responses = [await waiting(), await waiting()]
    for (const id of responses) expect(await client.responses.retrieve(id)).toMatchObject({ status: 'in_progress' })
    const [request] = await runtime.sessions.requests(sessionOf(first))
    await runtime.sessions.approve(sessionOf(first), { approvalId: request!.id, decision: { kind: 'approve', breadth: 'once' } })
    await runtime.sessions.outcome(sessionOf(first))
    for (const id of responses) expect((await client.responses.retrieve(id)).output_text).toBe('Paid.')
  })
})

describe('store: false', () => {
  const more = { store: false }

  it('hides the response at once, and deletes the session when the turn has ended', async () => {
    const { ids, input, first, client, runtime, store } = await called([editCall, { text: 'Done.' }], {}, { more })
    expect(await caught(client.responses.retrieve(first.id))).toMatchObject({ status: 404 })
    expect(await runtime.sessions.list()).toHaveLength(1)
    expect((await ask({ client }, [...input, output(ids[0], 'ok')], { more })).output_text).toBe('Done.')
    expect(await runtime.sessions.list()).toEqual([])
    expect(await store.records.list('response')).toEqual([])
  })

  it('the same request several times at once has its answer each time', async () => {
    const { ids, input, client, runtime } = await called([editCall, ...Array.from({ length: 3 }, () => ({ text: 'Done.' }))], {}, { more })
    const again = () => ask({ client }, [...input, output(ids[0], 'ok')], { more })
    const answers = await Promise.all([again(), again(), again()])
    expect(answers.map(({ output_text }) => output_text)).toEqual(['Done.', 'Done.', 'Done.'])
    // One that comes after the end begins a new session from its history.
    expect(await runtime.sessions.list()).toEqual([])
  })

  it('keeps the session if the agent says so, or if other responses of it are stored', async () => {
    const kept = await called([{ text: 'Done.' }], { keepSessions: true }, { more })
    expect(await kept.runtime.sessions.list()).toHaveLength(1)
    expect(await caught(kept.client.responses.retrieve(kept.first.id))).toMatchObject({ status: 404 })
    const { ids, input, first, client } = await called([editCall, { text: 'Done.' }])
    await ask({ client }, [...input, output(ids[0], 'ok')], { more })
    expect(await client.responses.retrieve(first.id)).toEqual(first)
  })
})
