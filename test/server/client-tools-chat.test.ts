import type { APIError, OpenAI } from 'openai'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate, type ScriptedStepSource } from '../../src/testing/index.ts'
import { resultsIn } from '../acceptance/support.ts'
import { pngBase64 } from '../fixtures/pictures.ts'
import { caught, type OpenAiServed, said, withModel } from './openai-support.ts'

// Tools of a client in chat completions, with the official SDK.

const edit = {
  type: 'function',
  function: { name: 'Edit', description: 'Edits a file', parameters: { type: 'object', properties: { path: { type: 'string' } } } },
} as const

const editCall = { calls: [{ tool: 'Edit', input: { path: 'a.ts' } }] }
const user = (content: string) => ({ role: 'user', content }) as const
const result = (id: string | undefined, content: string) => ({ role: 'tool', tool_call_id: id ?? '', content }) as const

interface Asking {
  readonly tools?: ChatCompletionTool[]
  readonly more?: object
  readonly from?: OpenAI
}

const ask = ({ client }: Pick<OpenAiServed, 'client'>, messages: readonly ChatCompletionMessageParam[], asking: Asking = {}) => {
  const { tools = [edit], more = {}, from = client } = asking
  return from.chat.completions.create({ model: 'clerk', messages: [...messages], tools, ...more }, { maxRetries: 0 })
}

/** A conversation that ends in the calls of the first answer. */
async function called(steps: readonly ScriptedStepSource[], agent: object = {}, asking: Asking = {}) {
  const served = await withModel(steps, agent)
  const first = await ask(served, [user('fix it')], asking)
  const message = first.choices[0]!.message
  const ids = (message.tool_calls ?? []).map(({ id }) => id)
  return { ...served, first, ids, messages: [user('fix it'), message] as const }
}

const textOf = ({ choices }: OpenAI.ChatCompletion) => choices[0]?.message.content

describe('a call', () => {
  it('comes back as a tool call, and its result continues the same session', async () => {
    const steps = [
      { text: 'I edit it.', ...editCall, usage: { input: 10, output: 5 } },
      { text: 'Done.', usage: { input: 20, output: 7 } },
    ]
    const { first, ids, messages, model, runtime, client } = await called(steps)
    const [choice] = first.choices
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'I edit it.' } })
    expect(choice!.message.tool_calls).toMatchObject([{ type: 'function', function: { name: 'Edit', arguments: '{"path":"a.ts"}' } }])
    expect(ids[0]).toMatch(/^[\w-]{1,64}$/)
    expect(first.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 })
    const second = await ask({ client }, [...messages, result(ids[0], 'ok')])
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Done.' } })
    expect(second.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 7 })
    expect(second.id).not.toBe(first.id)
    expect(await runtime.sessions.list()).toHaveLength(1)
    expect(model.requests).toHaveLength(2)
  })

  it('is streamed after the texts; a client may leave as soon as it has it', async () => {
    const steps = [{ text: 'Both.', calls: ['a', 'b'].map((path) => ({ tool: 'Edit', input: { path } })) }]
    const served = await withModel([...steps, { text: 'Done.' }])
    const { client } = served
    const stream = client.chat.completions.stream({ model: 'clerk', messages: [user('go')], tools: [edit] })
    const deltas: string[] = []
    stream.on('tool_calls.function.arguments.delta', ({ arguments_delta }) => deltas.push(arguments_delta))
    const { choices } = await stream.finalChatCompletion()
    const calls = [{ function: { arguments: '{"path":"a"}' } }, { function: { arguments: '{"path":"b"}' } }]
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Both.', tool_calls: calls } })
    expect(deltas).toEqual(['{"path":"a"}', '{"path":"b"}'])
    const ids = choices[0]!.message.tool_calls!.map(({ id }) => id)
    const rest = await client.chat.completions.create({
      model: 'clerk',
      stream: true,
      tools: [edit],
      messages: [user('go'), choices[0]!.message, ...ids.map((id) => result(id, 'ok'))],
    })
    let text = ''
    for await (const { choices: pieces } of rest) text += pieces[0]?.delta.content ?? ''
    expect(text).toBe('Done.')
  })

  it('waits for its client, which has left with the last chunk that it needs', async () => {
    const served = await withModel([editCall, { text: 'Done.' }])
    const stream = await served.client.chat.completions.create({ model: 'clerk', stream: true, tools: [edit], messages: [user('go')] })
    let id = ''
    for await (const { choices } of stream) {
      id = choices[0]?.delta.tool_calls?.[0]?.id ?? ''
      if (id !== '') break
    }
    const call = { id, type: 'function', function: { name: 'Edit', arguments: '{}' } } as const
    const next = await ask(served, [user('go'), { role: 'assistant', tool_calls: [call] }, result(id, 'ok')])
    expect(textOf(next)).toBe('Done.')
  })

  it('of a custom tool has a text; its result comes back like any other', async () => {
    const tools: ChatCompletionTool[] = [
      {
        type: 'custom',
        custom: {
          name: 'patch',
          description: 'Applies.',
          format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } },
        },
      },
    ]
    const steps = [{ calls: [{ tool: 'patch', input: { input: '*** Begin' } }] }, { text: 'Done.' }]
    const { first, ids, messages, model, client } = await called(steps, {}, { tools })
    expect(first.choices[0]!.message.tool_calls).toEqual([{ id: ids[0], type: 'custom', custom: { name: 'patch', input: '*** Begin' } }])
    expect(model.requests[0]?.tools).toMatchObject([
      { name: 'patch', description: expect.stringContaining('start: \\"a\\"'), inputSchema: { required: ['input'] } },
    ])
    expect(textOf(await ask({ client }, [...messages, result(ids[0], 'ok')], { tools }))).toBe('Done.')
  })

  it('of a tool with the name of an own one keeps its name', async () => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }] as const
    const steps = [
      {
        calls: [
          { tool: 'client__weather', input: {} },
          { tool: 'weather', input: { city: 'Oslo' } },
        ],
      },
      { text: 'Done.' },
    ]
    const agent = { tools: ['weather'], clientTools: 'allow' }
    const { first, ids, messages, client, model } = await called(steps, agent, { tools: [...tools] })
    expect(first.choices[0]!.message.tool_calls).toMatchObject([{ function: { name: 'weather' } }])
    expect(textOf(await ask({ client }, [...messages, result(ids[0], 'Sun.')], { tools: [...tools] }))).toBe('Done.')
    expect(resultsIn(model.requests[1]).map(({ content }) => content)).toEqual(['Sun.', 'Rain in Oslo.'])
  })
})

describe('tools', () => {
  it('may have every kind of schema, or none, and be 500', async () => {
    const schemas = [
      undefined,
      {},
      {
        $schema: 'http://json-schema.org/draft-04/schema#',
        type: 'object',
        properties: { n: { type: 'number', exclusiveMinimum: true, minimum: 0 } },
      },
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { a: { type: 'string' } },
        properties: { a: { $ref: '#/definitions/a' } },
      },
      { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', $defs: { a: { type: ['integer', 'null'] } } },
    ]
    const tools = Array.from({ length: 500 }, (_, index): ChatCompletionTool => {
      const parameters = schemas[index % schemas.length]
      return { type: 'function', function: { name: `tool-${index}`, ...(parameters && { parameters }) } }
    })
    const served = await withModel([{ calls: [{ tool: 'tool-499', input: { any: [1] } }] }])
    const { choices } = await ask(served, [user('go')], { tools })
    expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'tool-499', arguments: '{"any":[1]}' } }])
    const offered = new Map(served.model.requests[0]?.tools.map(({ name, inputSchema }) => [name, inputSchema]))
    expect(offered.size).toBe(500)
    expect(offered.get('tool-0')).toEqual({ type: 'object', properties: {} })
    for (const index of [1, 2, 3, 4]) expect(offered.get(`tool-${index}`)).toEqual({ ...schemas[index], type: 'object' })
  })

  it('of other types are left out and named; allowed_tools leaves out more', async () => {
    const served = await withModel([{ text: 'Hi.' }])
    const tools = [edit, { type: 'function', function: { name: 'Bash' } }, { type: 'web_search' }] as never
    const { response } = await served.client.chat.completions
      .create({
        model: 'clerk',
        messages: [user('go')],
        tools,
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'Edit' } }] },
        },
      })
      .withResponse()
    expect(response.headers.get('x-troupe-ignored-parameters')).toBe('tools.web_search')
    expect(served.model.requests[0]).toMatchObject({ tools: [{ name: 'Edit' }], toolChoice: 'required' })
  })

  it('that are forced apply to one step', async () => {
    const more = { tool_choice: { type: 'function', function: { name: 'Edit' } } }
    const { ids, messages, client, model } = await called([editCall, { text: 'Done.' }], {}, { more })
    await ask({ client }, [...messages, result(ids[0], 'ok')])
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([{ tool: 'Edit' }, 'auto'])
  })

  it('are refused by an agent with its own, and in a continuation too, before anything is stored', async () => {
    const own = await withModel([], { tools: ['weather'] })
    expect(await caught(ask(own, [user('go')]))).toMatchObject({ status: 400, message: expect.stringContaining('no `clientTools`') })
    expect(await own.runtime.sessions.list()).toEqual([])
    const { ids, messages, client, events } = await called([editCall, { text: 'Done.' }], { clientTools: ['Edit'] })
    const before = await events()
    const bash: ChatCompletionTool = { type: 'function', function: { name: 'Bash' } }
    const answered = [...messages, result(ids[0], 'ok')]
    for (const after of [[], [user('and this')]])
      expect(await caught(ask({ client }, [...answered, ...after], { tools: [bash] }))).toMatchObject({
        status: 400,
        message: expect.stringContaining('named Bash'),
      })
    expect(await events()).toEqual(before)
    expect(textOf(await ask({ client }, answered))).toBe('Done.')
  })
})

describe('results', () => {
  it('reach the model in one step with the messages that follow them, also images', async () => {
    const steps = [
      {
        calls: [
          { tool: 'Edit', input: { path: 'a' } },
          { tool: 'Edit', input: { path: 'b' } },
        ],
      },
      { text: 'A dot.' },
    ]
    const { ids, messages, client, model } = await called(steps)
    const url = `data:image/png;base64,${pngBase64}`
    const image = {
      role: 'user',
      content: [
        { type: 'text', text: 'Attached:' },
        { type: 'image_url', image_url: { url } },
      ],
    } as const
    // In another order than the calls, and in parts.
    const parts = { role: 'tool' as const, tool_call_id: ids[0]!, content: [{ type: 'text' as const, text: 'one' }] }
    const { choices } = await ask({ client }, [...messages, result(ids[1], 'two'), parts, image as never])
    expect(choices[0]?.message.content).toBe('A dot.')
    expect(model.requests).toHaveLength(2)
    expect(resultsIn(model.requests[1]).map(({ content }) => content)).toEqual(['one', 'two'])
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'user',
      parts: [{ text: 'Attached:' }, { type: 'image', data: pngBase64 }],
    })
  })

  it('are followed by system messages as texts; those before the turn are the instructions, also if they change', async () => {
    const served = await withModel([editCall, editCall, editCall, { text: 'Done.' }])
    const messages: ChatCompletionMessageParam[] = [user('fix it')]
    const next = async (system: string, ...after: ChatCompletionMessageParam[]) => {
      messages.push(...after)
      const { choices } = await ask(served, [{ role: 'system', content: system }, ...messages])
      const { message } = choices[0]!
      const [call] = message.tool_calls ?? []
      messages.push(message, ...(call ? [result(call.id, 'ok')] : []))
    }
    await next('One.')
    await next('One.', { role: 'system', content: 'Hooked.' })
    await next('One.')
    await next('Two.')
    expect(served.model.requests.map(({ system }) => system.split('\n\n')[1])).toEqual(['One.', 'One.', 'One.', 'Two.'])
    expect(said(served.model)).toEqual([
      ...['user: fix it', 'assistant: call', 'tool: ok', 'user: Hooked.'],
      ...['assistant: call', 'tool: ok', 'assistant: call', 'tool: ok'],
    ])
  })

  it('that come again follow the turn, and others for the same call are refused for good', async () => {
    const { ids, messages, client, model } = await called([editCall, { text: 'Done.' }])
    const answered = [...messages, result(ids[0], 'ok')]
    const answers = await Promise.all([ask({ client }, answered), ask({ client }, answered)])
    answers.push(await ask({ client }, answered))
    expect(answers.map(textOf)).toEqual(['Done.', 'Done.', 'Done.'])
    const changed = [...messages, result(ids[0], 'other')]
    const error = (await caught(ask({ client }, changed))) as APIError
    expect(error).toMatchObject({ status: 409, type: 'conflict_error', code: 'approval_answered' })
    expect(error.headers?.get('x-should-retry')).toBe('false')
    expect(model.requests).toHaveLength(2)
  })

  it('that are known, with a new message, say that the client has dropped the calls after them', async () => {
    const { ids, messages, client, model } = await called([editCall, editCall, { text: 'Summary.' }])
    const answered = [...messages, result(ids[0], 'ok')]
    const [second, again] = [await ask({ client }, answered), await ask({ client }, answered)]
    expect(again.choices[0]!.message.tool_calls).toEqual(second.choices[0]!.message.tool_calls)
    expect(textOf(await ask({ client }, [...answered, user('Summarise.')]))).toBe('Summary.')
    expect(resultsIn(model.requests[2]).at(-1)).toMatchObject({ ok: false, content: expect.stringContaining('went on without') })
  })

  it('with a message follow its answer when they come again; the last result for a call applies', async () => {
    const { ids, messages, client, model } = await called([editCall, { text: 'Done.' }])
    const answered = [...messages, result(ids[0], 'broken'), result(ids[0], 'ok'), user('Be quick.')]
    for (const _ of [1, 2]) expect(textOf(await ask({ client }, answered))).toBe('Done.')
    expect(said(model)).toEqual(['user: fix it', 'assistant: call', 'tool: ok', 'user: Be quick.'])
    expect(model.requests).toHaveLength(2)
  })

  it('that come again after the client had left in the middle of the answer follow the turn', async () => {
    const hold = gate()
    const { ids, messages, client, runtime, model } = await called([editCall, { text: 'Done.', wait: hold.promise }])
    const answered = [...messages, result(ids[0], 'ok')]
    const controller = new AbortController()
    const asked = { model: 'clerk', messages: [...answered], tools: [edit] }
    const left = caught(client.chat.completions.create(asked, { signal: controller.signal }))
    await expect.poll(() => model.requests.length).toBe(2)
    controller.abort()
    await left
    const again = ask({ client }, answered)
    hold.open()
    expect(textOf(await again)).toBe('Done.')
    expect(model.requests).toHaveLength(2)
    expect(await runtime.sessions.list()).toHaveLength(1)
  })

  it('before the text of an answer that broke off continue the turn', async () => {
    const { ids, messages, client, model } = await called([editCall, { text: 'Done.' }])
    const broken = { role: 'assistant', content: 'Do' } as const
    expect(textOf(await ask({ client }, [...messages, result(ids[0], 'ok'), broken]))).toBe('Done.')
    expect(resultsIn(model.requests[1])).toMatchObject([{ content: 'ok' }])
  })

  it('of some calls only get the others again', async () => {
    const steps = [
      {
        calls: [
          { tool: 'Edit', input: { path: 'a' } },
          { tool: 'Edit', input: { path: 'b' } },
        ],
      },
      { text: 'Done.' },
    ]
    const { first, ids, client, model } = await called(steps)
    const [one, two] = first.choices[0]!.message.tool_calls!
    const some: ChatCompletionMessageParam[] = [user('fix it'), { role: 'assistant', tool_calls: [one!] }, result(ids[0], 'ok')]
    const again = await ask({ client }, some)
    expect(again).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }], usage: { total_tokens: 0 } })
    expect(again.choices[0]!.message.tool_calls).toEqual([two])
    expect(textOf(await ask({ client }, [...some, again.choices[0]!.message, result(ids[1], 'ok')]))).toBe('Done.')
    expect(model.requests).toHaveLength(2)
  })

  it('of calls that were never made, or of several turns, are refused', async () => {
    const { ids, messages, client } = await called([editCall, editCall])
    const other = await ask({ client }, [user('more')])
    const [theirs] = other.choices[0]!.message.tool_calls!
    const madeUp = ids[0]!.replace(/\d+$/, '9')
    const [, message] = messages
    const withId = (id: string) => ({ ...message, tool_calls: [{ ...message.tool_calls![0]!, id }] })
    expect(await caught(ask({ client }, [user('go'), withId(madeUp), result(madeUp, 'ok')]))).toMatchObject({
      status: 400,
      message: expect.stringContaining('never made'),
    })
    const both = { ...message, tool_calls: [...message.tool_calls!, theirs!] }
    expect(await caught(ask({ client }, [user('go'), both, result(ids[0], 'ok'), result(theirs!.id, 'ok')]))).toMatchObject({
      status: 400,
      message: expect.stringContaining('several turns'),
    })
  })

  it('of another owner, of another service or of a deleted session begin a new session from the history', async () => {
    const answer: ScriptedStepSource = ({ messages }) => ({ text: `After ${messages.length}.` })
    const { ids, messages, client, clientOf, token, model, runtime, first } = await called([editCall, answer, answer, answer])
    const answered = [...messages, result(ids[0], 'ok')]
    const other = clientOf(await token({ name: 'other' }))
    expect(textOf(await ask({ client }, answered, { from: other }))).toBe('After 4.')
    expect(said(model)).toEqual(['user: fix it', 'assistant: call', 'tool: ok', 'user: Continue with these results.'])
    const foreign = { ...messages[1], tool_calls: [{ ...messages[1].tool_calls![0]!, id: 'toolu_1' }] }
    expect(textOf(await ask({ client }, [messages[0], foreign, result('toolu_1', 'ok')]))).toBe('After 4.')
    await runtime.sessions.delete(first.id.slice('chatcmpl-'.length))
    expect(textOf(await ask({ client }, answered))).toBe('After 4.')
    expect(await runtime.sessions.list()).toHaveLength(3)
  })

  it('after the turn was ended are refused; with a message they begin a new session', async () => {
    const { ids, messages, client, runtime, first, model } = await called([editCall, { text: 'Other.' }])
    const sessionId = first.id.slice('chatcmpl-'.length)
    await runtime.sessions.cancel(sessionId, 'interrupt')
    await runtime.sessions.outcome(sessionId)
    const answered = [...messages, result(ids[0], 'ok')]
    const error = await caught(ask({ client }, answered))
    expect(error).toMatchObject({ status: 409, message: expect.stringContaining('ended without the results') })
    expect(textOf(await ask({ client }, [...answered, user('Go on.')]))).toBe('Other.')
    expect(said(model)).toEqual(['user: fix it', 'assistant: call', 'tool: ok', 'user: Go on.'])
    expect(await runtime.sessions.list()).toHaveLength(2)
  })

  it('continue on another server of the same store', async () => {
    const shared = memoryStore()
    const store = { ...shared, close: async () => {} }
    const before = await withModel([editCall], {}, { store })
    const first = await ask(before, [user('fix it')])
    await before.runtime.close()
    const after = await withModel([{ text: 'Done.' }], {}, { store })
    await after.runtime.open(first.id.slice('chatcmpl-'.length))
    const { message } = first.choices[0]!
    const next = await ask(after, [user('fix it'), message, result(message.tool_calls![0]!.id, 'ok')])
    expect(textOf(next)).toBe('Done.')
    expect(await after.runtime.sessions.list()).toHaveLength(1)
  })
})

describe('an own call that waits for approval', () => {
  it('does not hold the calls of the client back; their results then wait for it', async () => {
    const agent = { tools: ['pay', 'weather'], clientTools: 'allow' }
    const steps = [
      { calls: [{ tool: 'Edit', input: {} }, { tool: 'pay' }, { tool: 'weather', input: { city: 'Oslo' } }] },
      { text: 'Paid.' },
    ]
    const { first, ids, messages, client, runtime, model } = await called(steps, agent)
    expect(first.choices[0]!.message.tool_calls).toHaveLength(1)
    const sessionId = first.id.slice('chatcmpl-'.length)
    const answered = [...messages, result(ids[0], 'ok')]
    for (const _ of [1, 2])
      expect(await caught(ask({ client }, answered))).toMatchObject({
        status: 403,
        code: 'approval_required',
        error: { session_id: sessionId, approvals: [{ summary: 'Pay 5 euros' }] },
      })
    const [request] = await runtime.sessions.requests(sessionId)
    await runtime.sessions.approve(sessionId, { approvalId: request!.id, decision: { kind: 'approve', breadth: 'once' } })
    expect(textOf(await ask({ client }, answered))).toBe('Paid.')
    expect(resultsIn(model.requests[1]).map(({ content }) => content)).toEqual(['ok', 'Paid.', 'Rain in Oslo.'])
  })
})

describe('store: false', () => {
  it('deletes the session when the turn has ended, not while it waits', async () => {
    const more = { store: false }
    const { ids, messages, client, runtime } = await called([editCall, { text: 'Done.' }], {}, { more })
    expect(await runtime.sessions.list()).toHaveLength(1)
    expect(textOf(await ask({ client }, [...messages, result(ids[0], 'ok')], { more }))).toBe('Done.')
    expect(await runtime.sessions.list()).toEqual([])
  })

  it('the same request several times at once has its answer each time', async () => {
    const more = { store: false }
    const { ids, messages, client, runtime } = await called(
      [editCall, ...Array.from({ length: 3 }, () => ({ text: 'Done.' }))],
      {},
      { more },
    )
    const again = () => ask({ client }, [...messages, result(ids[0], 'ok')], { more })
    expect((await Promise.all([again(), again(), again()])).map(textOf)).toEqual(['Done.', 'Done.', 'Done.'])
    // One that comes after the end begins a new session from its history.
    expect(await runtime.sessions.list()).toEqual([])
  })

  it('keeps it if the agent says so', async () => {
    const more = { store: false }
    const { runtime } = await called([{ text: 'Done.' }], { keepSessions: true }, { more })
    expect(await runtime.sessions.list()).toHaveLength(1)
  })
})
