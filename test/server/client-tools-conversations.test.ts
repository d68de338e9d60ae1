import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic from '@anthropic-ai/sdk'
import { generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { createServer } from '../../src/server/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate, ScriptedModel } from '../../src/testing/index.ts'
import { until } from '../acceptance/support.ts'
import { ask, callsOf, resultOf, returning, textOf, toolOf, toolScene } from './anthropic-tools-scene.ts'
import { clerk } from './openai-support.ts'
import { localToken } from './support.ts'

// Conversations with tools of a client of Anthropic's Messages API: repeated and unexpected requests, agents with tools of their own.

const scene = toolScene()
const { script, count } = scene

const errorOf = async (work: PromiseLike<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> => {
  const error = await Promise.resolve(work).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Anthropic.APIError)
  return error as InstanceType<typeof Anthropic.APIError>
}
const create = (more: object, client = scene.client): Promise<Anthropic.Message> =>
  client.messages.create({ ...ask, ...more } as Anthropic.MessageCreateParamsNonStreaming)
/** `call_SESSION_t1-s1-1`. */
const sessionOf = (message: Anthropic.Message): string => callsOf(message)[0]?.id.split('_')[1] ?? ''
/** Interrupts the turn while the request waits for its answer. */
async function interrupted(first: Anthropic.Message, request: Promise<unknown>, isRunning: () => boolean): Promise<void> {
  const refused = errorOf(request)
  await until('the step runs', isRunning)
  await scene.served.runtime.sessions.cancel(sessionOf(first), 'interrupt')
  expect(await refused).toMatchObject({ status: 422 })
}
const sessionsSince = (before: number): Promise<number> => count().then((now) => now - before)

describe('the same request again', () => {
  it('has the same answer, and asks no model', async () => {
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { text: 'More.', calls: [{ tool: 'Bash' }] })
    const first = await create({})
    const [call] = callsOf(first)
    const second = await create({ messages: returning(first, [resultOf(call, 'ok')]) })
    const marked = returning(first, [
      resultOf(call, [{ type: 'text', text: 'ok' }], { cache_control: { type: 'ephemeral' }, is_error: false }),
    ])
    const again = await create({ messages: marked })
    expect([again.content, again.stop_reason, again.usage]).toEqual([second.content, second.stop_reason, second.usage])
    expect((await scene.client.messages.stream({ ...ask, messages: marked }).finalMessage()).content).toEqual(second.content)
    expect(requests).toHaveLength(2)
  })

  it('follows the turn while it runs', async () => {
    const open = gate()
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { wait: open.promise, text: 'Done.' })
    const messages = await create({}).then((first) => returning(first, [resultOf(callsOf(first)[0])]))
    const answers = [create({ messages }), create({ messages })]
    await until('the next step runs', () => requests.length === 2)
    answers.push(create({ messages }))
    open.open()
    expect((await Promise.all(answers)).map(textOf)).toEqual(['Done.', 'Done.', 'Done.'])
    expect(requests).toHaveLength(2)
  })

  it('begins a new session from the history if the turn was interrupted since', async () => {
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { text: 'Half of', fault: 'silence' }, { text: 'All of it.' })
    const sessions = await count()
    const first = await create({})
    const messages = returning(first, [resultOf(callsOf(first)[0], 'edited')])
    await interrupted(first, create({ messages }), () => requests.length === 2)
    expect(textOf(await create({ messages }))).toBe('All of it.')
    expect(await sessionsSince(sessions)).toBe(2)
    expect(requests[2]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', results: [{ content: 'edited' }] },
      { role: 'user' },
    ])
  })

  it('finds the calls if the client left while it received them', async () => {
    script({ calls: [{ tool: 'Edit' }, { tool: 'Bash' }] }, { text: 'Done.' })
    const { served } = scene
    const body = JSON.stringify({ ...ask, stream: true })
    const headers = { 'x-api-key': localToken, 'content-type': 'application/json', host: '127.0.0.1' }
    const response = await served.headends.fetch(new Request(`${served.url}/v1/messages`, { method: 'POST', headers, body }), { cut() {} })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (!text.includes('input_json_delta')) text += Buffer.from((await reader.read()).value ?? []).toString()
    await reader.cancel()
    const ids = [/call_\w+-[\w-]+/.exec(text)?.[0] ?? '', /call_\w+-[\w-]+/.exec(text)?.[0].replace(/1$/, '2') ?? '']
    const content = ids.map((id, index) => ({ type: 'tool_use', id, name: ['Edit', 'Bash'][index], input: {} }))
    const messages = returning(
      { content } as never,
      ids.map((id) => resultOf({ id })),
    )
    expect(textOf(await create({ messages }))).toBe('Done.')
  })
})

it('results continue the turn on another server of the same store, also after the first one has ended', async () => {
  const store = memoryStore()
  const model = new ScriptedModel([{ calls: [{ tool: 'Edit' }] }, { calls: [{ tool: 'Bash' }] }, { text: 'Done.' }])
  const start = async () => {
    const runtime = createAgentRuntime({ config: { agents: [clerk] }, adapter: model, store, origin: { workspace: '/work' } })
    const server = await createServer({ runtime, store })
    const { url } = await server.listen({ port: 0 })
    const close = async () => void (await Promise.all([server.close({ drain: 0 }), runtime.close()]))
    onTestFinished(close)
    return { close, client: new Anthropic({ apiKey: server.token.token, baseURL: url, maxRetries: 0 }) }
  }
  const [here, there] = [await start(), await start()]
  const first = await create({}, here.client)
  // Claude Code adds reminders.
  const messages = returning(first, [resultOf(callsOf(first)[0], 'one'), { type: 'text', text: 'Remember.' }])
  const second = await create({ messages }, there.client)
  await Promise.all([here.close(), there.close()])
  const last = returning(second, [resultOf(callsOf(second)[0], 'two')], messages)
  expect(textOf(await create({ messages: last }, (await start()).client))).toBe('Done.')
  expect(model.requests[2]?.messages.filter(({ role }) => role === 'tool')).toMatchObject([
    { results: [{ content: 'one' }] },
    { results: [{ content: 'two' }] },
  ])
})

describe('known results with another message', () => {
  const more = { type: 'text', text: 'Respond with text only.' } as const

  it('say that the client has dropped the calls after them', async () => {
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { calls: [{ tool: 'Bash' }] }, { text: 'A summary.' })
    const sessions = await count()
    const first = await create({})
    await create({ messages: returning(first, [resultOf(callsOf(first)[0])]) })
    const messages = returning(first, [resultOf(callsOf(first)[0]), more])
    expect(textOf(await create({ messages }))).toBe('A summary.')
    expect(textOf(await create({ messages }))).toBe('A summary.')
    expect(requests[2]?.messages.slice(-2)).toMatchObject([{ results: [{ ok: false }] }, { parts: [more] }])
    expect(await sessionsSince(sessions)).toBe(1)
  })

  it('begin a new session if the session has gone on without a call: the client has gone back', async () => {
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { calls: [{ tool: 'Bash' }] }, { text: 'Done.' }, { text: 'Once more.' })
    const sessions = await count()
    const first = await create({})
    const messages = returning(first, [resultOf(callsOf(first)[0])])
    const second = await create({ messages })
    await create({ messages: returning(second, [resultOf(callsOf(second)[0])], messages) })
    expect(textOf(await create({ messages: returning(first, [resultOf(callsOf(first)[0]), more]) }))).toBe('Once more.')
    expect(requests[3]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(await sessionsSince(sessions)).toBe(2)
  })

  it('begin a new session beside a turn that runs', async () => {
    const open = gate()
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { wait: open.promise, calls: [{ tool: 'Bash' }] }, { text: 'Beside.' })
    const first = await create({})
    const next = create({ messages: returning(first, [resultOf(callsOf(first)[0])]) })
    await until('the next step runs', () => requests.length === 2)
    expect(textOf(await create({ messages: returning(first, [resultOf(callsOf(first)[0]), more]) }))).toBe('Beside.')
    open.open()
    expect(callsOf(await next)).toMatchObject([{ name: 'Bash' }])
  })

  it('begin the next turn if the turn was interrupted before its reply', async () => {
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { fault: 'silence' }, { text: 'Hello again.' })
    const sessions = await count()
    const first = await create({})
    await interrupted(first, create({ messages: returning(first, [resultOf(callsOf(first)[0])]) }), () => requests.length === 2)
    expect(textOf(await create({ messages: returning(first, [resultOf(callsOf(first)[0]), more]) }))).toBe('Hello again.')
    expect(requests[2]?.messages.at(-1)).toMatchObject({ role: 'user', parts: [more] })
    expect(await sessionsSince(sessions)).toBe(1)
  })
})

describe('results that do not fit', () => {
  it('are refused if they differ from those that were given', async () => {
    script({ calls: [{ tool: 'Edit' }] }, { text: 'Done.' })
    const first = await create({})
    const give = (content: string, more = {}) => create({ messages: returning(first, [resultOf(callsOf(first)[0], content, more)]) })
    await give('one')
    for (const other of [give('two'), give('one', { is_error: true })]) {
      const error = await errorOf(other)
      expect(error).toMatchObject({ status: 409, type: 'invalid_request_error', details: { error_code: 'approval_answered' } })
      expect(error.headers?.get('x-should-retry')).toBe('false')
    }
    expect(textOf(await give('one'))).toBe('Done.')
  })

  it('are refused if their session never made the call, if one is there twice, and if they are of several turns', async () => {
    script({ calls: [{ tool: 'Edit' }] }, { calls: [{ tool: 'Edit' }] }, { text: 'Done.' })
    const [first, second] = [await create({}), await create({})]
    const [[call], [other]] = [callsOf(first), callsOf(second)]
    const madeUp = { ...call, id: `${call?.id.slice(0, -1)}7` } as Anthropic.ToolUseBlock
    const refused = async (calls: readonly (Anthropic.ToolUseBlock | undefined)[], given = calls) => {
      const error = await errorOf(
        create({
          messages: returning(
            { content: calls } as never,
            given.map((each) => resultOf(each)),
          ),
        }),
      )
      expect([error.status, error.type]).toEqual([400, 'invalid_request_error'])
      return error.apiMessage
    }
    expect(await refused([madeUp])).toContain('a call that its session never made')
    expect(await refused([call, madeUp])).toContain('a call that its session never made')
    expect(await refused([call], [call, call])).toContain('belongs to no tool_use block')
    expect(await refused([call, other])).toContain('several turns')
    expect(textOf(await create({ messages: returning(first, [resultOf(call)]) }))).toBe('Done.')
  })

  it('begin a new session from the history if they are of another owner, another agent, another provider, or of a deleted session', async () => {
    const texts = ['One.', 'Two.', 'Three.', 'Four.'].map((text) => ({ text }))
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, ...texts, { text: 'Done.' })
    const first = await create({})
    const messages = returning(first, [resultOf(callsOf(first)[0], 'edited')])
    const sessions = await count()
    const foreign = returning({ content: [{ ...callsOf(first)[0], id: 'toolu_1' }] } as never, [resultOf({ id: 'toolu_1' }, 'edited')])
    expect(textOf(await create({ messages }, scene.clientOf(await scene.served.token({ name: 'other' }))))).toBe('One.')
    expect(textOf(await create({ messages, model: 'mixed' }))).toBe('Two.')
    expect(textOf(await create({ messages: foreign }))).toBe('Three.')
    expect(await scene.served.runtime.sessions.clientCalls(sessionOf(first))).toHaveLength(1)
    await scene.served.runtime.sessions.delete(sessionOf(first))
    expect(textOf(await create({ messages }))).toBe('Four.')
    expect(await sessionsSince(sessions)).toBe(3)
    for (const request of requests.slice(1, 5))
      expect(request.messages).toMatchObject([{}, {}, { role: 'tool', results: [{ content: 'edited' }] }, { role: 'user' }])
  })

  it('are refused after the turn has ended; with a message of the user, they begin a new session', async () => {
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { text: 'From the start.' })
    const first = await create({})
    await scene.served.runtime.sessions.cancel(sessionOf(first), 'interrupt')
    await scene.served.runtime.sessions.outcome(sessionOf(first))
    const result = resultOf(callsOf(first)[0], 'edited')
    const error = await errorOf(create({ messages: returning(first, [result]) }))
    expect([error.status, error.headers?.get('x-should-retry')]).toEqual([409, 'false'])
    expect(error.apiMessage).toContain('The turn has ended')
    const messages = returning(first, [result, { type: 'text', text: 'Go on.' }])
    expect(textOf(await create({ messages }))).toBe('From the start.')
    expect(requests[1]?.messages).toMatchObject([{}, {}, { results: [{ content: 'edited' }] }, { parts: [{ text: 'Go on.' }] }])
  })
})

describe('tools', () => {
  it('are passed on as they are: 500 of them, with schemas of every draft', async () => {
    const schemas = [
      {},
      { type: 'object' },
      { $schema: 'http://json-schema.org/draft-03/schema#', properties: { a: { type: 'string', required: true } } },
      { $schema: 'http://json-schema.org/draft-04/schema#', id: 'x', properties: { a: { minimum: 1, exclusiveMinimum: true } } },
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { n: { const: 1 } },
        properties: { a: { $ref: '#/definitions/n' } },
      },
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $defs: { n: {} },
        prefixItems: [{ $dynamicRef: '#n' }],
        type: ['object', 'null'],
      },
    ]
    const tools = Array.from({ length: 500 }, (_, index) => toolOf(`tool_${index}`, { input_schema: schemas[index % schemas.length] }))
    const { requests } = script({ calls: [{ tool: 'tool_499', input: { any: [1] } }] }, { text: 'Done.' })
    const first = await create({ tools })
    expect(callsOf(first)).toMatchObject([{ name: 'tool_499', input: { any: [1] } }])
    expect(textOf(await create({ tools, messages: returning(first, [resultOf(callsOf(first)[0])]) }))).toBe('Done.')
    for (const { tools: offered } of requests)
      expect(new Map(offered.map(({ name, inputSchema }) => [name, inputSchema]))).toEqual(
        new Map(tools.map(({ name, input_schema }) => [name, { ...input_schema, type: 'object' }])),
      )
  })

  it('that the provider runs or defines are left out and named; unknown fields change nothing', async () => {
    const { requests } = script({ text: 'Hi.' })
    const tools = [
      { type: 'web_search_20250305', name: 'web_search' },
      { type: 'bash_20250124', name: 'bash' },
      toolOf('Edit', {
        type: 'custom',
        strict: true,
        cache_control: { type: 'ephemeral' },
        defer_loading: true,
        eager_input_streaming: true,
      }),
    ]
    const { response } = await scene.client.messages.create({ ...ask, tools } as never).withResponse()
    expect(response.headers.get('x-troupe-ignored-parameters')).toBe('tools.web_search_20250305, tools.bash_20250124')
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['Edit'])
  })

  it.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'tool', name: 'Bash' }, { tool: 'Bash' }],
    [{ type: 'none' }, 'none'],
  ])('are chosen by %j', async (tool_choice, expected) => {
    const { requests } = script({ text: 'Hi.' })
    await create({ tool_choice })
    expect(requests[0]?.toolChoice).toEqual(expected)
  })

  it('are refused by an agent with tools of its own, with the reason', async () => {
    const sessions = await count()
    const error = await errorOf(create({ model: 'closed' }))
    expect([error.status, error.type]).toEqual([400, 'invalid_request_error'])
    expect(error.apiMessage).toContain('it has tools or agents of its own, and no `clientTools`')
    expect(await sessionsSince(sessions)).toBe(0)
  })

  it('may have the names of those of the agent', async () => {
    const { requests } = script({ calls: [{ tool: 'weather', input: { city: 'Oslo' } }, { tool: 'client__weather' }] }, { text: 'Rain.' })
    const named = { model: 'mixed', tools: [toolOf('weather')], tool_choice: { type: 'tool', name: 'weather' } }
    const first = await create(named)
    expect(callsOf(first)).toMatchObject([{ name: 'weather', input: {} }])
    expect(requests[0]?.toolChoice).toEqual({ tool: 'client__weather' })
    expect(textOf(await create({ ...named, messages: returning(first, [resultOf(callsOf(first)[0], 'sun')]) }))).toBe('Rain.')
    expect(requests[1]?.messages.at(-1)).toMatchObject({ results: [{ content: 'Rain in Oslo.' }, { content: 'sun' }] })
  })

  it('wait together with an approval: the calls come first, then the approval is asked for', async () => {
    const calls = [{ tool: 'Edit' }, { tool: 'pay' }, { tool: 'weather', input: { city: 'Oslo' } }, { tool: 'Bash' }]
    const { requests } = script({ calls }, { text: 'All done.' })
    const first = await create({ model: 'mixed' })
    expect(callsOf(first).map(({ name }) => name)).toEqual(['Edit', 'Bash'])
    const messages = returning(
      first,
      callsOf(first).map((call) => resultOf(call, call.name)),
    )
    const error = await errorOf(create({ model: 'mixed', messages }))
    expect(error).toMatchObject({ status: 403, errorCode: 'approval_required', details: { session_id: sessionOf(first) } })
    const impatient = returning(first, [...callsOf(first).map((call) => resultOf(call, call.name)), { type: 'text', text: 'Go on.' }])
    expect(await errorOf(create({ model: 'mixed', messages: impatient }))).toMatchObject({ errorCode: 'approval_required' })
    const { sessions } = scene.served.runtime
    const [request] = await sessions.requests(sessionOf(first))
    await sessions.approve(sessionOf(first), { approvalId: request?.id ?? '', decision: { kind: 'approve', breadth: 'once' } })
    expect(textOf(await create({ model: 'mixed', messages }))).toBe('All done.')
    expect(textOf(await create({ model: 'mixed', messages: impatient }))).toBe('All done.')
    expect(requests[1]?.messages.at(-1)).toMatchObject({ role: 'user', parts: [{ text: 'Go on.' }] })
    expect(requests[1]?.messages.at(-2)).toMatchObject({
      results: ['Edit', 'Paid.', 'Rain in Oslo.', 'Bash'].map((content) => ({ content, ok: true })),
    })
  })
})

type Task = Parameters<typeof generateText>[0] & Parameters<typeof streamText>[0]

describe('@ai-sdk/anthropic', () => {
  const model = () => createAnthropic({ baseURL: `${scene.served.url}/v1`, apiKey: localToken })('clerk')
  const tools = { Edit: tool({ inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => `edited ${path}` }) }
  const steps = [{ text: 'I look.', calls: [{ tool: 'Edit', input: { path: 'a' } }] }, { text: 'Done.' }]

  it.each([
    ['whole', async (task: Task) => (await generateText(task)).text],
    ['streamed', async (task: Task) => streamText(task).text],
  ] as const)('runs tools; %s', async (_, answer) => {
    const { requests } = script(...steps)
    expect(await answer({ model: model(), prompt: 'Fix it.', maxOutputTokens: 1000, tools, stopWhen: stepCountIs(3) })).toBe('Done.')
    expect(requests[1]?.messages.at(-1)).toMatchObject({ results: [{ content: 'edited a' }] })
  })

  it('gets objects by a forced tool', async () => {
    const { requests } = script({ calls: [{ tool: 'json', input: { answer: 42 } }] })
    const { output } = await generateText({
      model: model(),
      prompt: 'What?',
      maxOutputTokens: 1000,
      output: Output.object({ schema: z.object({ answer: z.number() }) }),
      providerOptions: { anthropic: { structuredOutputMode: 'jsonTool' } },
    })
    expect(output).toEqual({ answer: 42 })
    expect(requests[0]?.toolChoice).toEqual('required')
  })
})
