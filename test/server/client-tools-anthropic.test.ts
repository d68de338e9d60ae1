import { describe, expect, it } from 'vitest'
import { pngBase64 } from '../fixtures/pictures.ts'
import { ask, callsOf, edit, resultOf, returning, textOf, toolOf, toolScene } from './anthropic-tools-scene.ts'

// Tools of a client of Anthropic's Messages API, with the official client.

const scene = toolScene()
const { script, count } = scene

describe('calls of the client', () => {
  it('are tool_use blocks, and the results continue the same session', async () => {
    const { requests } = script(
      { text: 'I edit it.', calls: [{ tool: 'Edit', input: { path: 'a.ts' } }], usage: { input: 10, output: 5 } },
      { text: 'Done.', usage: { input: 20, output: 7 } },
    )
    const sessions = await count()
    const first = await scene.client.messages.create(ask)
    expect(first).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'I edit it.' },
        { type: 'tool_use', id: expect.stringMatching(/^[\w-]{1,64}$/), name: 'Edit', input: { path: 'a.ts' } },
      ],
      usage: { input_tokens: 10, output_tokens: 5 },
    })
    const [call] = callsOf(first)
    const second = await scene.client.messages.create({ ...ask, messages: returning(first, [resultOf(call)]) })
    expect(second).toMatchObject({ stop_reason: 'end_turn', content: [{ text: 'Done.' }], usage: { input_tokens: 20, output_tokens: 7 } })
    expect(second.id).not.toBe(first.id)
    expect(await count()).toBe(sessions + 1)
    expect(requests[0]?.tools).toContainEqual({ name: 'Edit', description: 'Does Edit.', inputSchema: edit.input_schema })
    expect(requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', results: [{ name: 'Edit', ok: true, content: 'ok' }] })
  })

  it('stream after the texts, each as a block with its input', async () => {
    script({ text: 'Both.', chunks: 2, calls: [{ tool: 'Edit', input: { path: 'a' } }, { tool: 'Bash' }] })
    const stream = scene.client.messages.stream(ask)
    const events: string[] = []
    stream.on('streamEvent', (event) => {
      events.push(event.type === 'content_block_delta' ? `${event.index} ${event.delta.type}` : event.type)
    })
    const message = await stream.finalMessage()
    expect(message).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ text: 'Both.' }, { name: 'Edit', input: { path: 'a' } }, { name: 'Bash', input: {} }],
    })
    expect(events.slice(-8)).toEqual([
      'content_block_start',
      '1 input_json_delta',
      'content_block_stop',
      'content_block_start',
      '2 input_json_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  it('leave the text before them whole', async () => {
    const text = 'word '.repeat(40).trim()
    script({ text, calls: [{ tool: 'Edit' }] }, { text, calls: [{ tool: 'Edit' }] })
    const limited = { ...ask, max_tokens: 10 }
    for (const message of [await scene.client.messages.create(limited), await scene.client.messages.stream(limited).finalMessage()])
      expect([textOf(message), message.stop_reason]).toEqual([text, 'tool_use'])
  })

  it('come one in each answer if the client wants it so', async () => {
    const { requests } = script({ calls: [{ tool: 'Edit' }, { tool: 'Bash' }] }, { text: 'Done.' })
    const serial = { ...ask, tool_choice: { type: 'auto', disable_parallel_tool_use: true } } as const
    const first = await scene.client.messages.create(serial)
    expect(callsOf(first)).toMatchObject([{ name: 'Edit' }])
    const messages = returning(first, [resultOf(callsOf(first)[0], 'one')])
    const second = await scene.client.messages.create({ ...serial, messages })
    expect([second.stop_reason, callsOf(second)]).toMatchObject(['tool_use', [{ name: 'Bash' }]])
    const again = await scene.client.messages.create({ ...serial, messages })
    expect(callsOf(again)).toEqual(callsOf(second))
    const last = returning(second, [resultOf(callsOf(second)[0], 'two')], messages)
    expect(textOf(await scene.client.messages.create({ ...serial, messages: last }))).toBe('Done.')
    expect(requests).toHaveLength(2)
    expect(requests[1]?.messages.at(-1)).toMatchObject({ results: [{ content: 'one' }, { content: 'two' }] })
  })

  it('are run by the tool runner of the client; streamed and not', async () => {
    const task = [
      {
        text: 'I look.',
        calls: [
          { tool: 'Edit', input: { path: 'a' } },
          { tool: 'Edit', input: { path: 'b' } },
        ],
      },
      { text: 'Done.' },
    ]
    for (const stream of [false, true]) {
      const { requests } = script(...task)
      const paths: unknown[] = []
      const run = (input: unknown): string => `edited ${paths.push((input as { readonly path: string }).path)}`
      const tools = [{ ...edit, run, parse: (input: unknown) => input }]
      const runner = scene.client.beta.messages.toolRunner({ ...ask, tools: tools as never, stream: stream as never })
      expect((await runner.runUntilDone()).content).toMatchObject([{ type: 'text', text: 'Done.' }])
      expect(paths).toEqual(['a', 'b'])
      expect(requests[1]?.messages.at(-1)).toMatchObject({ results: [{ content: 'edited 1' }, { content: 'edited 2' }] })
    }
  })
})

describe('results', () => {
  it('are matched by id; texts, images and system messages after them belong to the same step', async () => {
    const { requests } = script({ calls: [{ tool: 'Edit' }, { tool: 'Bash' }] }, { text: 'Seen.' })
    const first = await scene.client.messages.create({ ...ask, system: 'Be brief.' })
    const [one, two] = callsOf(first)
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pngBase64 } } as const
    const messages = [
      ...returning(first, [
        resultOf(two, 'exit 1', { is_error: true }),
        resultOf(one, [{ type: 'text', text: 'A picture:' }, image], { cache_control: { type: 'ephemeral' } }),
        { type: 'text', text: 'Look at it.' },
        image,
      ]),
      { role: 'system', content: [{ type: 'text', text: 'A hook says hello.' }] } as never,
    ]
    expect(textOf(await scene.client.messages.create({ ...ask, system: 'Be brief.', messages }))).toBe('Seen.')
    expect(requests[1]?.messages.slice(-2)).toMatchObject([
      {
        role: 'tool',
        results: [
          { name: 'Edit', ok: true, content: expect.stringContaining('A picture:'), parts: [{ type: 'image', data: pngBase64 }] },
          { name: 'Bash', ok: false, content: expect.stringContaining('exit 1') },
        ],
      },
      {
        role: 'user',
        parts: [{ text: 'Look at it.' }, { type: 'image', data: pngBase64 }, { text: 'A hook says hello.' }],
      },
    ])
  })

  it.each([
    ['nothing', undefined, { ok: true, content: '' }],
    ['an empty list', [], { ok: true, content: '' }],
    ['a loaded tool', [{ type: 'tool_reference', tool_name: 'WebFetch' }], { content: 'Loaded: WebFetch' }],
    [
      'a search result',
      [{ type: 'search_result', source: 'https://a', title: 'A', content: [{ type: 'text', text: 'b' }] }],
      { content: 'A (https://a)\n\nb' },
    ],
    [
      'a document of text',
      [{ type: 'document', title: 'notes', source: { type: 'text', media_type: 'text/plain', data: 'grüezi' } }],
      { content: 'notes\n\ngrüezi' },
    ],
  ])('may be %s', async (_, content, expected) => {
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { text: 'Seen.' })
    const first = await scene.client.messages.create(ask)
    const result = { type: 'tool_result', tool_use_id: callsOf(first)[0]?.id, ...(content && { content }) }
    await scene.client.messages.create({ ...ask, messages: returning(first, [result as never]) })
    expect(requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', results: [expected] })
  })

  it('may bring documents, and images by address', async () => {
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { text: 'Seen.' })
    const first = await scene.client.messages.create(ask)
    const data = Buffer.from('%PDF-1.4 …').toString('base64')
    const content = [
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ] as const
    await scene.client.messages.create({ ...ask, messages: returning(first, [resultOf(callsOf(first)[0], [...content])]) })
    expect(requests[1]?.messages.slice(-2)).toMatchObject([
      { role: 'tool', results: [{ parts: [{ type: 'file', mediaType: 'application/pdf' }] }] },
      { role: 'user', parts: [{ type: 'image', data: 'https://example.com/a.png' }] },
    ])
  })

  it('may bring other tools, and another choice', async () => {
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { calls: [{ tool: 'WebFetch' }] })
    const first = await scene.client.messages.create(ask)
    const messages = returning(first, [resultOf(callsOf(first)[0])])
    const second = await scene.client.messages.create({
      ...ask,
      messages,
      tools: [edit, toolOf('WebFetch', { defer_loading: true })],
      tool_choice: { type: 'tool', name: 'WebFetch' },
    })
    expect(callsOf(second)).toMatchObject([{ name: 'WebFetch' }])
    expect(requests.map(({ tools, toolChoice }) => [tools.map(({ name }) => name).toSorted(), toolChoice])).toEqual([
      [['Bash', 'Edit'], 'auto'],
      [['Edit', 'WebFetch'], { tool: 'WebFetch' }],
    ])
  })

  it('without tools end the turn with a text', async () => {
    const { requests } = script({ calls: [{ tool: 'Edit' }] }, { text: 'A summary.' })
    const { tools: _, ...bare } = ask
    const first = await scene.client.messages.create(ask)
    const messages = returning(first, [resultOf(callsOf(first)[0]), { type: 'text', text: 'Sum up.' }])
    expect(textOf(await scene.client.messages.create({ ...bare, messages }))).toBe('A summary.')
    expect(requests[1]?.tools).toEqual([])
  })

  it('are counted', async () => {
    script({ calls: [{ tool: 'Edit' }] })
    const first = await scene.client.messages.create(ask)
    const { input_tokens: few } = await scene.client.messages.countTokens({ model: 'clerk', messages: ask.messages })
    const messages = returning(first, [resultOf(callsOf(first)[0], 'x'.repeat(400))])
    const { input_tokens: more } = await scene.client.messages.countTokens({ model: 'clerk', messages, tools: [edit] })
    expect(more - few).toBeGreaterThan(100)
  })
})
