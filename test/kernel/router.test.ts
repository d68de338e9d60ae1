import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ModelRequest, Store, Tool } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { gate } from '../../src/testing/index.ts'
import { echo, FakeChannel, lastText, message, said, stage } from './router-stage.ts'

const deleteFile: Tool = {
  name: 'delete_file',
  description: 'Deletes a file',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  effect: 'write',
  approval: ({ path }) => ({ summary: `Delete ${path}`, keys: [{ key: `path:${path}`, label: String(path) }] }),
  execute: ({ path }) => `deleted ${path}`,
}
const deletion = (path: string) => ({ calls: [{ tool: 'delete_file', input: { path } }] })

const stores: readonly (readonly [string, () => Promise<() => Store>])[] = [
  [
    'memory',
    async () => {
      const store = memoryStore()
      return () => store
    },
  ],
  [
    'sqlite',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'troupe-router-'))
      const open: Store[] = []
      onTestFinished(async () => {
        for (const store of open) await store.close()
        await rm(folder, { recursive: true })
      })
      return () => {
        const store = sqliteStore({ path: folder })
        open.push(store)
        return store
      }
    },
  ],
]

describe.each(stores)('with a %s store', (_, opened) => {
  it('takes each message once and in order, over restarts', async () => {
    const store = await opened()
    const channel = new FakeChannel()
    const first = await stage(store(), [echo, echo])
    first.router.register('chat', channel)
    await first.router.receive('chat', message('one', '1'))
    await channel.until(1)
    await Promise.all([first.router.receive('chat', message('two', '2')), first.router.receive('chat', message('two', '2'))])
    await channel.until(2)
    await first.stop()
    const second = await stage(store(), [echo])
    second.router.register('chat', channel)
    await second.router.receive('chat', message('two', '2'))
    await second.router.receive('chat', message('three', '3'))
    await channel.until(3)
    expect(channel.lines()).toEqual([said('one'), said('two'), said('three')])
    const sessions = await second.sessions.list()
    expect(sessions).toMatchObject([{ owner: 'chat:ann', key: 'chat/ann#1', labels: ['channel:chat'], agent: 'orchestrator' }])
    await second.stop()
  })

  it('continues after a restart in the middle of a stream, and delivers the answer once', async () => {
    const store = await opened()
    const channel = new FakeChannel()
    const first = await stage(store(), [{ text: 'Half of', fault: 'silence' }])
    first.router.register('chat', channel)
    await first.router.receive('chat', message('Go'))
    await expect.poll(() => channel.pieces.length).toBe(1)
    await first.stop()
    const resumed = gate()
    const second = await stage(store(), [{ text: 'The whole answer.', chunks: 2 }], { afterPiece: resumed.promise })
    second.router.register('chat', channel)
    await expect.poll(() => channel.pieces.length).toBe(2)
    resumed.open()
    await channel.until(1)
    expect(channel.messages).toMatchObject([{ userId: 'ann', message: { kind: 'answer', text: 'The whole answer.', streamed: true } }])
    const { id } = channel.messages[0]?.message ?? {}
    const own = channel.pieces.filter(({ piece }) => piece.id === id)
    expect(own.map(({ piece }) => piece.text).join('')).toBe('The whole answer.')
    expect(channel.pieces.length).toBeGreaterThan(own.length)
    await second.stop()
  })

  it('asks for approval once over restarts, explains other texts, and takes the answer in the next life', async () => {
    const store = await opened()
    const channel = new FakeChannel()
    const first = await stage(store(), [deletion('a.txt')], { tools: [deleteFile] })
    first.router.register('chat', channel)
    await first.router.receive('chat', message('Delete it'))
    await channel.until(1)
    await first.router.receive('chat', message('what is that?'))
    await channel.until(2)
    await first.stop()
    const second = await stage(store(), [{ text: 'Done.' }], { tools: [deleteFile] })
    second.router.register('chat', channel)
    await second.router.receive('chat', message('Yes', 'y'))
    await channel.until(3)
    await second.router.receive('chat', message('Yes', 'y'))
    expect(channel.messages.map(({ message: { kind, text, options } }) => ({ kind, text, options }))).toEqual([
      { kind: 'question', text: 'Approval needed: Delete a.txt\n  path: a.txt', options: ['yes', 'no', 'always'] },
      { kind: 'notice', text: expect.stringContaining('yes, no, or always'), options: undefined },
      { kind: 'answer', text: 'Done.', options: undefined },
    ])
    expect(lastText(second.model.requests[0] as ModelRequest)).toContain('deleted a.txt')
    await second.stop()
  })
})

it('20 conversations that were interrupted are continued and delivered after a restart', async () => {
  const store = memoryStore()
  const people = Array.from({ length: 20 }, (_, index) => `person ${index}`)
  const first = await stage(
    store,
    people.map(() => ({ text: 'x', fault: 'silence' as const })),
  )
  const channel = new FakeChannel({ streams: false })
  first.router.register('chat', channel)
  for (const userId of people) await first.router.receive('chat', { userId, text: `I am ${userId}` })
  await expect.poll(() => first.model.requests.length).toBe(20)
  await first.stop()
  const second = await stage(
    store,
    people.map(() => echo),
  )
  second.router.register('chat', channel)
  await channel.until(20)
  for (const userId of people) expect(channel.lines(userId)).toEqual([said(`I am ${userId}`)])
  await second.stop()
})

it('a message that was stored before the sessions were there is sent when they are', async () => {
  const store = memoryStore()
  const { router, stop } = await stage(store, [])
  await stop()
  await router.receive('chat', message('Early', '1'))
  const next = await stage(store, [echo])
  const channel = new FakeChannel()
  next.router.register('chat', channel)
  await next.router.receive('chat', message('Early', '1'))
  await channel.until(1)
  expect(channel.lines()).toEqual([said('Early')])
  await next.stop()
})

it('a denial with a reason reaches the model; always covers the next call', async () => {
  const script = [deletion('a'), { text: 'Not deleted.' }, deletion('b'), deletion('b'), { text: 'Deleted.' }]
  const { router, model, stop } = await stage(memoryStore(), script, { tools: [deleteFile] })
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Delete a'))
  await channel.until(1)
  await router.receive('chat', message('no because it is mine'))
  await channel.until(2)
  expect(lastText(model.requests[1] as ModelRequest)).toContain('it is mine')
  await router.receive('chat', message('Delete b twice'))
  await channel.until(3)
  await router.receive('chat', message('always'))
  await channel.until(4)
  expect(channel.lines().slice(1)).toEqual([
    'answer orchestrator: Not deleted.',
    'question orchestrator: Approval needed: Delete b\n  path: b',
    'answer orchestrator: Deleted.',
  ])
  model.assertDone()
  await stop()
})

it('an answer that comes after that of somebody else is reported with the first one', async () => {
  const { router, stop } = await stage(memoryStore(), [deletion('a'), { text: 'Not deleted.' }], {
    tools: [deleteFile],
    sessions: (sessions) => ({
      async approve(id, answer) {
        await sessions.approve(id, { ...answer, decision: { kind: 'deny' }, by: 'local' })
        return sessions.approve(id, answer)
      },
    }),
  })
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Delete a'))
  await channel.until(1)
  await router.receive('chat', message('yes'))
  await channel.until(3)
  expect(channel.lines().slice(1).toSorted()).toEqual([
    'answer orchestrator: Not deleted.',
    'notice troupe: Already answered: denied by local.',
  ])
  await stop()
})

it('asks several requests one after the other', async () => {
  const calls = ['a', 'b'].map((path) => ({ tool: 'delete_file', input: { path } }))
  const { router, model, stop } = await stage(memoryStore(), [{ calls }, { text: 'Both.' }], {
    tools: [{ ...deleteFile, concurrency: 'shared' }],
  })
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Delete both'))
  await channel.until(1)
  await router.receive('chat', message('y'))
  await channel.until(2)
  await router.receive('chat', message('y'))
  await channel.until(3)
  expect(channel.lines().map((line) => line.split('\n')[0])).toEqual([
    'question orchestrator: Approval needed: Delete a',
    'question orchestrator: Approval needed: Delete b',
    'answer orchestrator: Both.',
  ])
  model.assertDone()
  await stop()
})

it('questions take a text, the number of an option, or the fields of a form', async () => {
  const form = { type: 'object', properties: { days: { type: 'integer' }, air: { type: 'boolean' } }, required: ['days'] }
  const ask: Tool = {
    name: 'ask',
    description: 'Asks',
    inputSchema: { type: 'object' },
    effect: 'write',
    async execute(_, context) {
      const one = await context.ask({ text: 'Which city?', options: ['Rome', 'Oslo'] })
      const two = await context.ask({ text: 'And?', form })
      return JSON.stringify([one, two])
    },
  }
  const { router, stop } = await stage(memoryStore(), [{ calls: [{ tool: 'ask' }] }, echo], { tools: [ask] })
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Go'))
  await channel.until(1)
  expect(channel.messages[0]?.message).toMatchObject({ kind: 'question', text: 'Which city?', options: ['Rome', 'Oslo'] })
  await router.receive('chat', message('2'))
  await channel.until(2)
  await router.receive('chat', message('days: many'))
  await channel.until(3)
  await router.receive('chat', message('Days: 3\nair: yes'))
  await channel.until(4)
  expect(channel.lines()[2]).toContain('days: expected an integer')
  const { text = '' } = channel.messages[3]?.message ?? {}
  expect(JSON.parse(text.replace('You said: ', ''))).toMatchObject([{ text: 'Oslo' }, { content: { days: 3, air: true } }])
  await stop()
})

it('people, channels and threads have their own conversations', async () => {
  const { router, sessions, stop } = await stage(
    memoryStore(),
    Array.from({ length: 8 }, () => echo),
  )
  const [chat, mail] = [new FakeChannel(), new FakeChannel({ streams: false })]
  router.register('chat', chat)
  router.register('mail', mail)
  await Promise.all([
    router.receive('chat', { userId: 'ann', text: 'A' }),
    router.receive('chat', { userId: 'bob', text: 'B', userName: 'Bob' }),
    router.receive('mail', { userId: 'ann', text: 'C' }),
    router.receive('mail', { userId: 'ann', text: 'D', conversation: 'thread/1' }),
  ])
  await chat.until(2)
  await mail.until(2)
  expect(chat.lines('ann')).toEqual([said('A')])
  expect(chat.lines('bob')).toEqual([said('B')])
  expect(mail.messages.map(({ message: { text, conversation } }) => [text, conversation]).toSorted()).toEqual([
    ['You said: C', undefined],
    ['You said: D', 'thread/1'],
  ])
  expect(mail.messages.filter(({ message: { streamed } }) => streamed)).toEqual([])
  expect(await sessions.list()).toHaveLength(4)
  await stop()
})

it('commands', async () => {
  const held = gate()
  const script = [{ wait: held.promise, text: 'never' }, echo, echo]
  const { router, model, sessions, stop } = await stage(memoryStore(), script)
  const channel = new FakeChannel()
  router.register('chat', channel)
  const say = async (text: string): Promise<string> => {
    const { length } = channel.messages
    await router.receive('chat', message(text))
    await channel.until(length + 1)
    return channel.lines()[length] ?? ''
  }
  expect(await say('/stop')).toBe('notice troupe: No task is running.')
  expect(await say('/who')).toBe('notice troupe: You are talking to orchestrator.')
  expect(await say('/back')).toBe('notice troupe: You are talking to orchestrator already.')
  expect(await say('/HELP')).toContain('/new    begin a new conversation')
  expect(await say('/nwe')).toContain('"/nwe" is not a command. To send it as a message, put a space before it.')
  // Nothing that a person wrote is dropped.
  expect(await say('/new write a poem')).toContain('"/new write a poem" is not a command.')
  await router.receive('chat', message('Work'))
  await expect.poll(() => model.requests.length).toBe(1)
  expect(await say('/stop')).toBe('notice orchestrator: Stopped.')
  expect(await say(' /etc is a folder')).toBe(said(' /etc is a folder'))
  expect(await say('/new')).toContain('A new conversation begins')
  expect(await say('Hi')).toBe(said('Hi'))
  expect(model.requests.at(-1)?.messages).toHaveLength(1)
  expect((await sessions.list()).map(({ key }) => key)).toEqual(['chat/ann#2', 'chat/ann#1'])
  await stop()
})

it('a message while an agent works reaches its next step; after /queue it waits for the turn', async () => {
  const [started, steered] = [gate(), gate()]
  const slow: Tool = {
    name: 'slow',
    description: 'Waits',
    inputSchema: { type: 'object' },
    effect: 'read',
    async execute() {
      started.open()
      await steered.promise
      return 'ready'
    },
  }
  const { router, sessions, model, stop } = await stage(memoryStore(), [{ calls: [{ tool: 'slow' }] }, { text: 'First' }, echo], {
    tools: [slow],
  })
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Go'))
  await started.promise
  await router.receive('chat', message('/queue And then this'))
  await router.receive('chat', message('Use Oslo'))
  const [session] = await sessions.list()
  const accepted: string[] = []
  for await (const event of sessions.events(session?.sessionId ?? '', { until: 'closed' })) {
    if ('seq' in event && event.type === 'interaction.input.accepted') accepted.push(event.mode)
    if (accepted.length === 3) break
  }
  steered.open()
  await channel.until(2)
  expect(channel.lines()).toEqual(['answer orchestrator: First', said('And then this')])
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('Use Oslo')
  expect(JSON.stringify(model.requests[1]?.messages)).not.toContain('And then this')
  await stop()
})

it('a deleted session is followed by a new one', async () => {
  const { router, sessions, problems, stop } = await stage(memoryStore(), [echo, echo])
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', message('one'))
  await channel.until(1)
  const [session] = await sessions.list()
  await sessions.outcome(session?.sessionId ?? '')
  await sessions.delete(session?.sessionId ?? '')
  await router.receive('chat', message('two'))
  await channel.until(2)
  expect(channel.lines()).toEqual([said('one'), said('two')])
  expect(problems).toEqual([])
  await stop()
})

it('refuses hostile messages with a reason', async () => {
  const { router, published, stop } = await stage(memoryStore(), [echo])
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', message('x'.repeat(1_000_000)))
  await channel.until(1)
  expect(channel.lines()).toEqual([expect.stringContaining('error troupe: Your message was not sent: it has 1000000 characters')])
  for (const userId of ['', '\ud800', 'x'.repeat(1_000), 7 as unknown as string])
    await expect(router.receive('chat', { userId, text: 'Hi' })).rejects.toThrow('short texts that are not empty')
  await expect(router.receive('chat', { userId: 'ann', text: null as unknown as string })).rejects.toThrow('not a string')
  await expect(router.notify({ text: 'Hi', to: { channel: 'chat', userId: '' } })).rejects.toThrow('short texts')
  await router.receive('chat', message('  '))
  await router.receive('chat', message('a\ud800\u001b[2J\u0000b'))
  await channel.until(2)
  expect(channel.lines()[1]).toBe(said('a\ufffd\u001b[2J\u0000b'))
  await expect
    .poll(() => published.map(({ name, data }) => [name, (data as { text: string }).text]))
    .toEqual([
      ['user_message', 'a\ufffd\u001b[2J\u0000b'],
      ['agent_response', 'You said: a\ufffd\u001b[2J\u0000b'],
    ])
  await stop()
})

it('a failure is told in plain words', async () => {
  const failure = { class: 'auth', message: 'The key was refused', remedy: 'Set another key' } as const
  const { router, stop } = await stage(memoryStore(), [{ fault: failure }])
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Hi'))
  await channel.until(1)
  expect(channel.lines()).toEqual([expect.stringMatching(/^error orchestrator: .*The key was refused.* Set another key\.$/)])
  await stop()
})
