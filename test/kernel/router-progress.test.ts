import { expect, it } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate } from '../../src/testing/index.ts'
import { kernelScene } from './kernel-scene.ts'
import { RichChannel } from './rich-channel.ts'
import { FakeChannel, message, said, stage } from './router-stage.ts'

// What a channel is shown of the work of a turn.

/** A tool whose calls end when the test says so. */
function heldTool() {
  const gates = new Map<string, ReturnType<typeof gate>>()
  const started: string[] = []
  const held = (path: unknown) => {
    const known = gates.get(String(path)) ?? gate()
    gates.set(String(path), known)
    return known
  }
  const tool: Tool = {
    name: 'read_file',
    description: 'Reads',
    inputSchema: { type: 'object' },
    effect: 'read',
    concurrency: 'shared',
    async execute({ path }, { progress, signal }) {
      started.push(String(path))
      progress(`50% of ${path}`)
      await Promise.race([held(path).promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
      signal.throwIfAborted()
      if (path === 'missing') return { ok: false, error: { class: 'failed', message: 'There is no such file.\nLook elsewhere.' } }
      return `content of ${path}`
    },
  }
  return { tool, started, open: (path: string) => held(path).open() }
}
const reading = (...paths: readonly string[]) => ({ calls: paths.map((path) => ({ tool: 'read_file', input: { path } })) })

async function stateAfter(channel: RichChannel, clock: FakeClock, ms = 1_000): Promise<string | undefined> {
  await clock.elapse(ms)
  return channel.states().at(-1)
}

it('shows the calls of a turn with their states, at most one state a second, and its end immediately', async () => {
  const { tool, started, open } = heldTool()
  const { router, clock, stop } = await stage(memoryStore(), [reading('a', 'missing'), reading('b'), { text: 'Done.' }], { tools: [tool] })
  const channel = new RichChannel()
  const times: number[] = []
  channel.beforeProgress = () => times.push(clock.monotonic())
  router.register('chat', channel)
  await router.receive('chat', message('Go'))
  await expect.poll(() => started).toEqual(['a', 'missing'])
  const running = ['running read_file · a', 'running read_file · missing'].join(', ')
  await expect.poll(() => stateAfter(channel, clock)).toBe(`working: ${running}`)
  const { id } = channel.progress.at(-1) ?? {}
  open('a')
  open('missing')
  const read = 'completed read_file · a, failed read_file · missing'
  await expect.poll(() => stateAfter(channel, clock)).toBe(`working: ${read}, running read_file · b`)
  expect(channel.progress.at(-1)?.tasks).toEqual([
    { id: expect.any(String), title: 'read_file · a', state: 'completed' },
    { id: expect.any(String), title: 'read_file · missing', state: 'failed', detail: 'There is no such file. Look elsewhere.' },
    { id: expect.any(String), title: 'read_file · b', state: 'running', detail: '50% of b' },
  ])
  expect(times.map((time, index) => index === 0 || time - (times[index - 1] ?? 0) >= 1_000)).not.toContain(false)
  open('b')
  await expect.poll(() => channel.states().at(-1)).toBe(`completed: ${read}, completed read_file · b`)
  expect(new Set(channel.progress.map((each) => each.id))).toEqual(new Set([id]))
  const shown = channel.progress.length
  await clock.elapse(10_000)
  expect(channel.progress).toHaveLength(shown)
  await stop()
})

it('a call that waits for approval waits, and has the same id when it runs', async () => {
  const deletion: Tool = {
    name: 'delete_file',
    description: 'Deletes',
    inputSchema: { type: 'object' },
    effect: 'write',
    approval: ({ path }) => ({ summary: `Delete ${path}`, keys: [] }),
    execute: () => 'deleted',
  }
  const script = [{ calls: [{ tool: 'delete_file', input: { path: 'a' } }] }, { text: 'Done.' }]
  const { router, clock, stop } = await stage(memoryStore(), script, { tools: [deletion] })
  const channel = new RichChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Go'))
  await channel.until(1)
  await clock.elapse(1_000)
  expect(channel.progress.at(-1)).toMatchObject({
    state: 'waiting',
    tasks: [{ title: 'Delete a', state: 'waiting', detail: 'waits for approval' }],
  })
  await router.receive('chat', message('no'))
  await expect.poll(() => channel.progress.at(-1)?.state).toBe('completed')
  const [before] = channel.progress.find(({ tasks }) => tasks.length > 0)?.tasks ?? []
  expect(channel.progress.at(-1)?.tasks).toMatchObject([{ id: before?.id, state: 'failed' }])
  await stop()
})

it('shows children with their calls below them', async () => {
  const { tool, started, open } = heldTool()
  const channel = new RichChannel()
  const scene = await kernelScene({
    extensions: [
      { id: 'chat', instance: channel },
      { id: 'files', instance: { getTools: () => [tool] } },
      { id: 'scout', agent: { model: 'scout', usesTools: ['files'] } },
    ],
    models: {
      main: [{ calls: [{ tool: 'agent__scout', input: { task: 'Find the shop' } }] }, { text: 'Here it is.' }],
      scout: [{ calls: [{ tool: 'files__read_file', input: { path: 'map' } }] }, { text: 'It is in Oslo.' }],
    },
  })
  await scene.kernel.router.receive('chat', message('Where is it?'))
  await expect.poll(() => started).toEqual(['map'])
  open('map')
  await channel.until(1)
  await expect.poll(() => channel.progress.at(-1)?.state).toBe('completed')
  const [child] = channel.progress.at(-1)?.tasks ?? []
  expect(channel.progress.at(-1)?.tasks).toMatchObject([
    { title: 'scout · Find the shop', state: 'completed', detail: 'It is in Oslo.' },
    { title: 'files__read_file · map', parentId: child?.id },
  ])
  await scene.close()
})

it('a channel that hangs or fails skips states, and its messages do not wait', async () => {
  const { tool, started, open } = heldTool()
  const { router, clock, problems, stop } = await stage(memoryStore(), [{ text: 'First.', ...reading('a') }, { text: 'Done.' }], {
    tools: [tool],
  })
  const channel = new RichChannel()
  const seen: string[] = []
  channel.beforeProgress = ({ state }) => {
    seen.push(state)
    if (seen.length === 1) return new Promise(() => {})
    if (seen.length === 2) throw new Error('offline')
  }
  router.register('chat', channel)
  await router.receive('chat', message('Go'))
  await expect.poll(() => started).toEqual(['a'])
  await channel.until(1)
  open('a')
  await channel.until(2)
  expect(channel.lines()).toEqual(['answer orchestrator: First.', 'answer orchestrator: Done.'])
  expect(seen).toEqual(['working'])
  await clock.elapse(10_000)
  expect(seen).toEqual(['working', 'completed'])
  await clock.elapse(10_000)
  expect(seen).toHaveLength(2)
  expect(channel.progress).toEqual([])
  expect(problems).toEqual([])
  await stop()
})

it('messages that a channel does not take hold up no state', async () => {
  const { tool, started, open } = heldTool()
  const { router, clock, stop } = await stage(memoryStore(), [{ text: 'First.', ...reading('a') }, { text: 'Done.' }], { tools: [tool] })
  const channel = new RichChannel()
  channel.before = () => new Promise(() => {})
  router.register('chat', channel)
  await router.receive('chat', message('Go'))
  await expect.poll(() => started).toEqual(['a'])
  open('a')
  await expect.poll(() => channel.progress.at(-1)?.state).toBe('completed')
  expect(channel.messages).toEqual([])
  const stopped = stop()
  await clock.elapse(1_000)
  await stopped
})

it('after a restart a turn is shown whole, under the same id', async () => {
  const store = memoryStore()
  const before = heldTool()
  const first = await stage(store, [{ text: 'I look.', ...reading('a') }, reading('b')], { tools: [before.tool] })
  const channel = new RichChannel()
  first.router.register('chat', channel)
  await first.router.receive('chat', message('Go'))
  await channel.until(1)
  before.open('a')
  await expect.poll(() => stateAfter(channel, first.clock)).toBe('working: completed read_file · a, running read_file · b')
  await first.stop()
  const { id } = channel.progress.at(-1) ?? {}
  const shown = channel.progress.length
  const after = heldTool()
  const second = await stage(store, [{ text: 'Done.' }], { tools: [after.tool] })
  second.router.register('chat', channel)
  after.open('b')
  await expect.poll(() => channel.progress.at(-1)?.state).toBe('completed')
  for (const progress of channel.progress.slice(shown)) {
    expect(progress.id).toBe(id)
    expect(progress.tasks.map(({ title }) => title)).toEqual(['read_file · a', 'read_file · b'])
  }
  await second.stop()
  const third = await stage(store, [{ text: 'Again.' }], { tools: [after.tool] })
  third.router.register('chat', channel)
  await third.router.receive('chat', message('Go on'))
  await expect.poll(() => channel.progress.at(-1)?.state).toBe('completed')
  await expect.poll(() => channel.progress.at(-1)?.id).not.toBe(id)
  expect(channel.progress.at(-1)?.tasks).toEqual([])
  await third.stop()
})

it('shows the end of a turn after a restart, unless the channel took it before', async () => {
  const store = memoryStore()
  const { tool, open } = heldTool()
  open('a')
  const first = await stage(store, [reading('a'), { text: 'Done.' }], { tools: [tool] })
  const channel = new RichChannel()
  const ended: unknown[] = []
  channel.beforeProgress = ({ state, id }) => {
    if (state === 'completed') ended.push(id)
    if (ended.length === 1) throw new Error('offline')
  }
  first.router.register('chat', channel)
  await first.router.receive('chat', message('Go'))
  await channel.until(1)
  await expect.poll(() => ended).toHaveLength(1)
  const [session] = await first.sessions.list()
  const stored = async () => (await store.records.list('conversation'))[0]?.value
  await expect.poll(stored).toMatchObject({ delivered: (await first.sessions.get(session?.sessionId ?? ''))?.seq })
  await first.stop()
  const second = await stage(store, [], { tools: [tool] })
  second.router.register('chat', channel)
  await expect.poll(() => channel.states()).toContain('completed: completed read_file · a')
  expect(new Set(ended).size).toBe(1)
  await second.stop()
  const third = await stage(store, [{ text: 'Again.' }], { tools: [tool] })
  third.router.register('chat', channel)
  await third.router.receive('chat', message('Go on'))
  await expect.poll(() => new Set(ended).size).toBe(2)
  expect(ended).toHaveLength(3)
  await third.stop()
})

it('shows the ends of two turns after a restart if the channel took neither', async () => {
  const store = memoryStore()
  const first = await stage(store, [{ text: 'One.' }, { text: 'Two.' }])
  const channel = new RichChannel()
  channel.beforeProgress = ({ state }) => (state === 'completed' ? Promise.reject(new Error('offline')) : undefined)
  first.router.register('chat', channel)
  for (const [index, text] of ['Go', 'Go on'].entries()) {
    await first.router.receive('chat', message(text))
    await channel.until(index + 1)
    await expect.poll(async () => (await first.sessions.list())[0]?.status).toBe('completed')
  }
  await first.stop()
  channel.beforeProgress = () => {}
  const second = await stage(store, [])
  second.router.register('chat', channel)
  await expect.poll(() => new Set(channel.progress.filter(({ state }) => state === 'completed').map(({ id }) => id)).size).toBe(2)
  await second.stop()
})

it.each(['/stop', '/new'])('after %s the turn and its calls have stopped', async (command) => {
  const { tool } = heldTool()
  const { router, clock, stop } = await stage(memoryStore(), [reading('a')], { tools: [tool] })
  const channel = new RichChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Go'))
  await expect.poll(() => stateAfter(channel, clock)).toBe('working: running read_file · a')
  await router.receive('chat', message(command))
  await expect.poll(() => channel.states().at(-1)).toBe('stopped: stopped read_file · a')
  await clock.elapse(5_000)
  expect(channel.progress.at(-1)?.state).toBe('stopped')
  await stop()
})

it('a turn with many calls shows the newest ones', async () => {
  const paths = Array.from({ length: 10 }, (_, step) => Array.from({ length: 30 }, (_, call) => `${step}.${call}`))
  const { tool, open } = heldTool()
  for (const path of paths.flat()) open(path)
  const script = [...paths.map((each) => reading(...each)), { text: 'Done.' }]
  const { router, stop } = await stage(memoryStore(), script, { tools: [tool] })
  const channel = new RichChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Go'))
  await expect.poll(() => channel.progress.at(-1)?.state).toBe('completed')
  const titles = channel.progress.at(-1)?.tasks.map(({ title }) => title) ?? []
  expect(titles).toEqual(
    paths
      .flat()
      .slice(-50)
      .map((path) => `read_file · ${path}`),
  )
  await stop()
})

it('a channel without progress costs no further reader', async () => {
  let readers = 0
  const { router, stop } = await stage(memoryStore(), [() => ({ text: 'You said: Hi' })], {
    clock: new FakeClock(),
    sessions: ({ events }) => ({
      events: (...given) => {
        readers++
        return events(...given)
      },
    }),
  })
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Hi'))
  await channel.until(1)
  expect(channel.lines()).toEqual([said('Hi')])
  expect(readers).toBe(1)
  await stop()
})
