import { expect, it } from 'vitest'
import type { SessionService, Tool } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { RichChannel } from './rich-channel.ts'
import { message, stage } from './router-stage.ts'

// Requests as data, and their ends.

const deleteFile: Tool = {
  name: 'delete_file',
  description: 'Deletes a file',
  inputSchema: { type: 'object' },
  effect: 'write',
  approval: ({ path }) => ({
    summary: `Delete ${path}`,
    keys: [{ key: `path:${path}`, label: `the file ${path}` }],
    diff: `--- ${path}`,
  }),
  execute: ({ path }) => `deleted ${path}`,
}
const deletion = (path: string, more: object = {}) => ({ calls: [{ tool: 'delete_file', input: { path, ...more } }] })
const options = { tools: [deleteFile] }

/** A conversation with a request that the channel has shown. */
async function asked(store = memoryStore(), script = [deletion('a'), { text: 'Done.' }] as Parameters<typeof stage>[1]) {
  const channel = new RichChannel()
  const at = await stage(store, script, options)
  at.router.register('chat', channel)
  await at.router.receive('chat', message('Delete it'))
  await channel.until(1)
  const [session] = await at.sessions.list()
  return { ...at, channel, sessionId: session?.sessionId ?? '', requestId: channel.messages[0]?.message.id ?? '' }
}

const answered = async (sessions: SessionService, sessionId: string, kind: 'approve' | 'deny' = 'approve'): Promise<void> => {
  const [request] = await sessions.requests(sessionId)
  const decision = kind === 'approve' ? ({ kind, breadth: 'once' } as const) : ({ kind } as const)
  await sessions.approve(sessionId, { approvalId: request?.id ?? '', decision, by: 'rest:bob' })
}

it('an approval is data, too: with arguments in their order, cut, and with what it can cover', async () => {
  const { channel, requestId, stop } = await asked(memoryStore(), [deletion('a', { why: 'x'.repeat(1_000), n: [1] })])
  expect(channel.messages[0]?.message.request).toEqual({
    id: requestId,
    kind: 'approval',
    title: 'Delete a',
    tool: 'delete_file',
    input: [
      { name: 'path', value: 'a' },
      { name: 'why', value: `${'x'.repeat(600)}… (400 more characters)` },
      { name: 'n', value: '[1]' },
    ],
    diff: '--- a',
    breadths: ['once', 'session', 'project'],
    covers: ['the file a'],
  })
  await stop()
})

it('a channel that is not trusted has no buttons to approve with', async () => {
  const { router, stop } = await stage(memoryStore(), [deletion('a')], { ...options, router: { isTrusted: () => false } })
  const channel = new RichChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Delete it'))
  await channel.until(1)
  expect(channel.messages[0]?.message.request).toMatchObject({ kind: 'approval', breadths: [] })
  await stop()
})

it('questions, forms and addresses are data with all of their parts', async () => {
  const form = { type: 'object', properties: { days: { type: 'integer' } }, required: ['days'] }
  const ask: Tool = {
    name: 'ask',
    description: 'Asks',
    inputSchema: { type: 'object' },
    effect: 'write',
    async execute(_, context) {
      await context.ask({ text: 'Which city?', options: ['Rome', 'Oslo'] })
      await context.ask({ text: 'How long?', form, from: 'travel' })
      await context.ask({ text: 'Sign in', url: 'https://example.org/login' })
      return 'asked'
    },
  }
  const { router, stop } = await stage(memoryStore(), [{ calls: [{ tool: 'ask' }] }, { text: 'Done.' }], { tools: [ask] })
  const channel = new RichChannel()
  router.register('chat', channel)
  for (const [index, text] of ['Go', 'Oslo', 'days: 3', 'done'].entries()) {
    await router.receive('chat', message(text))
    await channel.until(index + 1)
  }
  expect(channel.messages.map(({ message: { request } }) => request)).toEqual([
    { id: expect.any(String), kind: 'question', title: 'Which city?', options: ['Rome', 'Oslo'] },
    { id: expect.any(String), kind: 'form', title: 'travel asks: How long?', form },
    { id: expect.any(String), kind: 'question', title: 'Sign in', url: 'https://example.org/login' },
    undefined,
  ])
  expect(channel.closed.map(({ outcome, by }) => `${outcome} ${by}`)).toEqual(Array(3).fill('answered ann'))
  await stop()
})

it('a channel is told who answered a request, here or elsewhere', async () => {
  const script = [deletion('a'), deletion('b'), deletion('c'), { text: 'Done.' }]
  const { router, sessions, sessionId, channel, stop } = await asked(memoryStore(), script)
  await router.receive('chat', message('yes'))
  await channel.until(2)
  await answered(sessions, sessionId)
  await channel.until(3)
  await answered(sessions, sessionId, 'deny')
  await channel.until(4)
  const ids = channel.messages.map(({ message: { id } }) => id)
  expect(channel.closed).toEqual([
    { id: ids[0], outcome: 'approved', by: 'ann' },
    { id: ids[1], outcome: 'approved', by: 'rest:bob' },
    { id: ids[2], outcome: 'denied', by: 'rest:bob' },
  ])
  await stop()
})

it.each(['/stop', '/new'])('after %s a request has ended without an answer', async (command) => {
  const { router, channel, requestId, stop } = await asked()
  await router.receive('chat', message(command))
  await expect.poll(() => channel.closed).toEqual([{ id: requestId, outcome: 'ended' }])
  await stop()
})

it('a request of a deleted session has ended', async () => {
  const { sessions, sessionId, channel, requestId, stop } = await asked()
  await sessions.delete(sessionId)
  await expect.poll(() => channel.closed).toEqual([{ id: requestId, outcome: 'ended' }])
  await stop()
})

const meanwhile: readonly { what: string; closed: object; change(sessions: SessionService, id: string): Promise<unknown> }[] = [
  { what: 'denied', closed: { outcome: 'denied', by: 'rest:bob' }, change: (sessions, id) => answered(sessions, id, 'deny') },
  { what: 'deleted with its session', closed: { outcome: 'ended' }, change: (sessions, id) => sessions.delete(id) },
]
it.each(meanwhile)('a channel is told of a request that was $what while the process did not run', async ({ change, closed }) => {
  const store = memoryStore()
  const first = await asked(store)
  await first.stop()
  const elsewhere = await stage(store, [{ text: 'Not deleted.' }], options)
  await change(elsewhere.sessions, first.sessionId)
  await elsewhere.stop()
  const second = await stage(store, [{ text: 'Not deleted.' }], options)
  const channel = new RichChannel()
  second.router.register('chat', channel)
  await expect.poll(() => channel.closed).toEqual([{ id: first.requestId, ...closed }])
  await second.stop()
  const third = await stage(store, [], options)
  third.router.register('chat', channel)
  await third.router.receive('chat', message('/who'))
  await expect.poll(() => channel.lines().at(-1)).toContain('You are talking to')
  expect(channel.closed).toHaveLength(1)
  await third.stop()
})

it('a channel that fails is told again, and messages do not wait for that', async () => {
  const { router, clock, channel, requestId, stop } = await asked()
  let attempts = 0
  channel.beforeClose = () => {
    attempts++
    if (attempts === 1) throw new Error('offline')
  }
  await router.receive('chat', message('yes'))
  await channel.until(2)
  await router.receive('chat', message('/who'))
  await channel.until(3)
  expect(channel.lines().slice(1)).toEqual(['answer orchestrator: Done.', 'notice troupe: You are talking to orchestrator.'])
  expect(channel.closed).toEqual([])
  await clock.elapse(1_000)
  expect(channel.closed).toEqual([{ id: requestId, outcome: 'approved', by: 'ann' }])
  await stop()
})
