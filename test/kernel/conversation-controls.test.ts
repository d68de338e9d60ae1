import { expect, it } from 'vitest'
import type { StreamEvent, Tool } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { echo, FakeChannel, lastText, stage } from './router-stage.ts'
import { servedKernel } from './served-kernel.ts'

// What people do with a conversation besides writing.

const ann = { userId: 'ann', by: 'U7' }

async function eventsOf(sessions: { events(id: string, options: object): AsyncIterable<StreamEvent> }, id: string) {
  const events: StreamEvent[] = []
  for await (const event of sessions.events(id, { until: 'turn', live: false })) events.push(event)
  return events
}

it('sends the last message again when its task has ended, once for each press, and not while one runs', async () => {
  const { router, sessions, model, stop } = await stage(memoryStore(), [
    { text: 'First.' },
    (request) => ({ text: `Again: ${lastText(request)}` }),
    (request) => ({ text: `And again: ${lastText(request)}` }),
  ])
  const channel = new FakeChannel()
  router.register('chat', channel)
  const controls = router.conversationsOf('chat')
  expect([await controls.retry(ann), await controls.stop(ann), await controls.details(ann)]).toEqual([
    false,
    false,
    'Nothing has been done yet.',
  ])
  await router.receive('chat', { userId: 'ann', text: 'Count the files' })
  await channel.until(1)
  const id = (await sessions.list())[0]?.sessionId ?? ''
  await sessions.outcome(id)
  // Two presses at the same time.
  expect(await Promise.all([controls.retry(ann), controls.retry(ann)])).toContain(true)
  await channel.until(2)
  await sessions.outcome(id)
  expect(await controls.retry(ann)).toBe(true)
  await channel.until(3)
  expect(channel.lines()).toEqual([
    'answer orchestrator: First.',
    'answer orchestrator: Again: Count the files',
    'answer orchestrator: And again: Count the files',
  ])
  expect(model.requests).toHaveLength(3)
  // What a person may send applies to buttons, too.
  router.register('chat', Object.assign(new FakeChannel(), { limitsOf: () => ({ messagesPerMinute: 0 }) }))
  expect(await controls.retry(ann)).toBe(false)
  // Another channel has no conversation of this name.
  expect(await router.conversationsOf('other').retry(ann)).toBe(false)
  await stop()
})

it('stops a task in the name of who pressed, shows what it did, and sends a message that nobody has read', async () => {
  const running = gate()
  const tool: Tool = {
    name: 'work',
    description: 'Works',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    async execute(_input, { signal }) {
      running.open()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return 'late'
    },
  }
  const { router, sessions, stop } = await stage(
    memoryStore(),
    [{ calls: [{ tool: 'work', input: { path: 'notes.txt' } }] }, (request) => ({ text: `Read: ${lastText(request)}` })],
    { tools: [tool] },
  )
  const channel = new FakeChannel()
  router.register('chat', channel)
  const controls = router.conversationsOf('chat')
  await router.receive('chat', { userId: 'ann', text: 'Work' })
  await running.promise
  const id = (await sessions.list())[0]?.sessionId ?? ''
  expect(await controls.retry(ann)).toBe(false)
  expect(await controls.details(ann)).toMatch(/^orchestrator: running\. .*\n└─ work notes\.txt · running/)
  expect(await controls.open('ann')).toEqual([{ userId: 'ann', title: 'Work', agent: 'orchestrator', state: 'working' }])
  await router.receive('chat', { userId: 'ann', text: 'And this' })
  await expect.poll(async () => (await eventsIn(id)).filter(({ type }) => type === 'interaction.input.accepted').length).toBe(2)
  expect(await controls.stop(ann)).toBe(true)
  await sessions.outcome(id)
  expect(await controls.stop(ann)).toBe(false)
  expect(JSON.stringify(await eventsOf(sessions, id))).toContain('"by":"chat:U7"')
  expect(await controls.details(ann)).toMatch(/^orchestrator: interrupted\. .*\n└─ work notes\.txt · /)
  expect(await controls.open('ann')).toEqual([])
  // The interrupt holds it: it is sent as it is, not twice.
  expect(await controls.retry(ann)).toBe(true)
  await expect.poll(() => channel.lines().at(-1)).toBe('answer orchestrator: Read: And this')
  await stop()

  async function eventsIn(session: string): Promise<readonly StreamEvent[]> {
    const { seq = 0 } = (await sessions.get(session)) ?? {}
    const events: StreamEvent[] = []
    for await (const event of sessions.events(session, { until: 'closed', live: false })) {
      events.push(event)
      if ('seq' in event && event.seq >= seq) break
    }
    return events
  }
})

it('lists the conversations of a person that wait, with the request as data', async () => {
  const remove: Tool = {
    name: 'remove',
    description: 'Removes',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    approval: ({ path }) => ({ summary: `Delete ${path}`, keys: [] }),
    execute: () => 'removed',
  }
  const { router, stop } = await stage(memoryStore(), [{ calls: [{ tool: 'remove', input: { path: 'a.txt' } }] }], { tools: [remove] })
  const channel = new FakeChannel()
  const controls = router.conversationsOf('chat')
  let whileAsked: unknown
  channel.before = async () => {
    whileAsked = await controls.open('ann')
  }
  router.register('chat', channel)
  await router.receive('chat', { userId: 'ann', conversation: 'thread 1', text: 'Choose' })
  await channel.until(1)
  expect(whileAsked).toMatchObject([{ request: { tool: 'remove' } }])
  await expect
    .poll(() => controls.open('ann'))
    .toEqual([
      {
        ...{ userId: 'ann', conversation: 'thread 1', title: 'Choose', agent: 'orchestrator', state: 'waiting' },
        request: expect.objectContaining({
          kind: 'approval',
          tool: 'remove',
          input: [{ name: 'path', value: 'a.txt' }],
          breadths: ['once'],
        }),
      },
    ])
  expect([await controls.open('bob'), await router.conversationsOf('other').open('ann')]).toEqual([[], []])
  await stop()
})

it('exports a session for the person who began it', async () => {
  const { router, stop } = await stage(memoryStore(), [echo, echo])
  const channel = new FakeChannel()
  router.register('chat', channel)
  const controls = router.conversationsOf('chat')
  expect(await controls.export({ userId: 'thread', by: 'ann' })).toBeUndefined()
  for (const personId of ['ann', 'bob']) await router.receive('chat', { userId: 'thread', personId, text: 'Hi' })
  await channel.until(1)
  expect(await controls.export({ userId: 'thread', by: 'ann' })).toMatchObject({ mediaType: 'application/json' })
  expect(await controls.export({ userId: 'thread', by: 'bob' })).toBeUndefined()
  await stop()
})

const chat = `export class Main {
  initialize(context) { this.context = context }
  sendToUser(userId, message) { (this.sent ??= []).push(message) }
  start() {
    const { http, conversations } = this.context
    const at = { userId: 'ann' }
    http.route('/sent', () => Response.json(this.sent ?? []))
    http.route('/write', async (request) => { await this.context.onUserMessage({ userId: 'ann', text: await request.text() }); return new Response() })
    http.route('/link', () => Response.json({ link: conversations.link(at) ?? null }))
    http.route('/details', async () => new Response(await conversations.details(at)))
    http.route('/export', async () => { const file = await conversations.export(at); return Response.json({ ...file, text: new TextDecoder().decode(await file.read()) }) })
  }
}`

it('links and exports a session as people without `admin` see it', async () => {
  const tools = `export class Main { getTools() { return [{ name: 'where', description: 'Where', inputSchema: { type: 'object', properties: {} }, execute: () => process.env.HOME }] } }`
  const { url, fetch, folder } = await servedKernel({ extensions: { chat, places: tools } })
  const read = async (path: string) => (await fetch(`/channels/chat/${path}`)).json() as Promise<{ readonly [key: string]: unknown }>
  expect(await read('link')).toEqual({ link: null })
  await fetch('/channels/chat/write', { method: 'POST', body: `What is in ${folder}?` })
  await expect.poll(async () => ((await read('sent')) as unknown as readonly unknown[]).length, { timeout: 10_000 }).toBeGreaterThan(0)
  const { link } = await read('link')
  expect(link).toMatch(new RegExp(`^${url}/#/sessions/[\\w-]+$`))
  const file = await read('export')
  expect(file).toMatchObject({ name: expect.stringMatching(/^session-[\w-]+\.json$/), mediaType: 'application/json' })
  const document = JSON.parse(String(file.text))
  expect(document).toMatchObject({ format: 'troupe.session', session: { agent: 'orchestrator' } })
  expect(file.text).not.toContain('Available agents:')
  expect(await (await fetch('/channels/chat/details')).text()).toMatch(/^orchestrator: completed\./)
})
