import { expect, it } from 'vitest'
import type { QueueEvent, StreamEvent, Tool } from '../../src/contracts/index.ts'
import type { RunHandle } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, type HandGate } from '../../src/testing/index.ts'
import { ask, resultsOf, type Script, team, textOf } from './team.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))
const one = { concurrent: 1 }

/** Whoever comes waits until their door is opened. */
function doors() {
  const open = new Map<string, HandGate>()
  const doorOf = (name: string): HandGate => open.get(name) ?? open.set(name, gate()).get(name)!
  return {
    pass: (name: string): Promise<unknown> => doorOf(name).promise,
    async open(name: string): Promise<void> {
      doorOf(name).open()
      await settled()
    },
  }
}

/** What a run shows while it goes on. */
function watch(handle: RunHandle) {
  const events: StreamEvent[] = []
  let heard = gate()
  const waits = (): readonly QueueEvent[] =>
    events.flatMap((event) => (event.type === 'interaction.queue.joined' || event.type === 'interaction.queue.left' ? [event] : []))
  const over = (async () => {
    for await (const event of handle) {
      events.push(event)
      heard.open()
    }
  })()
  /** Until so much was shown. */
  const shown = async (count: number): Promise<void> => {
    while (waits().length < count) {
      heard = gate()
      await heard.promise
    }
  }
  return { events, over, waits, shown, told: () => waits().map(({ type, queue, agentPath }) => [type.split('.').at(-1), queue, agentPath]) }
}

function asking() {
  const { pass, open } = doors()
  const script: Script = async (request) => {
    await pass(textOf(request))
    return { text: 'ok' }
  }
  const clock = new FakeClock()
  const store = memoryStore()
  return { ...team({ boss: { script } }, { clock, store, config: { queues: { team: one } } }), open, clock, store }
}

it('shows a session that waits to ask its model, for what and since when, until it continues; the journal does not', async () => {
  const { runtime, open, clock, store } = asking()
  const first = watch(runtime.stream('a'))
  await settled()
  await clock.elapse(1_000)
  const since = clock.now()
  const handle = runtime.stream('b')
  const second = watch(handle)
  await second.shown(1)
  await clock.elapse(5_000)
  const { sessionId: treeId } = handle
  const place = { treeId, sessionId: treeId, agentPath: 'root', turnId: expect.any(String), queue: 'team', since }
  expect(second.waits()).toEqual([{ type: 'interaction.queue.joined', ...place }])
  await open('a')
  await second.shown(2)
  expect(second.waits()[1]).toEqual({ type: 'interaction.queue.left', ...place })
  const types = second.events.map(({ type }) => type)
  expect(types.indexOf('interaction.queue.left')).toBeLessThan(types.indexOf('interaction.step.started'))
  await open('b')
  await Promise.all([first.over, second.over])
  expect([first.waits(), second.waits().length]).toEqual([[], 2])
  const journal = await store.journal.read(treeId, 0)
  expect(journal.map(({ type }) => type).filter((type) => type.startsWith('interaction.queue'))).toEqual([])
})

it('shows that a session which is interrupted waits no longer', async () => {
  const { runtime, open } = asking()
  const first = runtime.run('a')
  await settled()
  const handle = runtime.stream('b')
  const { over, told, shown } = watch(handle)
  await shown(1)
  await handle.interrupt()
  await over
  expect(told()).toEqual([
    ['joined', 'team', 'root'],
    ['left', 'team', 'root'],
  ])
  await open('a')
  await first
})

it('shows a call that waits, by its item', async () => {
  const { pass, open } = doors()
  const script: Script = (request, step) =>
    step === 1 ? { calls: [{ tool: 'dig', input: { id: textOf(request) } }] } : { text: resultsOf(request).join() }
  const dig: Tool = {
    name: 'dig',
    description: 'Digs.',
    inputSchema: { type: 'object' },
    execute: async ({ id }) => {
      await pass(String(id))
      return 'dug'
    },
  }
  const { runtime } = team({ boss: { script, tools: ['*'] } }, { tools: [dig], clock: new FakeClock(), config: { queues: { dig: one } } })
  const first = runtime.run('a')
  await settled()
  const { events, over, waits, shown } = watch(runtime.stream('b'))
  await shown(1)
  const started = events.findLast((event) => event.type === 'interaction.item.started' && event.item.kind === 'call')
  const { stepId, item } = started?.type === 'interaction.item.started' ? started : expect.unreachable()
  expect(waits()).toMatchObject([{ type: 'interaction.queue.joined', queue: 'dig', stepId, itemId: item.id }])
  await open('a')
  await shown(2)
  expect(waits()[1]).toMatchObject({ type: 'interaction.queue.left', queue: 'dig', stepId, itemId: item.id })
  await open('b')
  await Promise.all([first, over])
})

it('shows children of one run by their path', async () => {
  const { pass, open } = doors()
  const scout: Script = async (request) => {
    await pass(textOf(request))
    return { text: 'ok' }
  }
  const boss: Script = (_, step) => (step === 1 ? { calls: [ask('scout', 'x'), ask('scout', 'y')] } : { text: 'done' })
  const { runtime } = team(
    { boss: { script: boss, agents: ['scout'] }, scout: { script: scout } },
    { clock: new FakeClock(), config: { queues: { team: one } } },
  )
  const { over, told, shown } = watch(runtime.stream('Go'))
  await shown(1)
  expect(told()).toEqual([['joined', 'team', 'root/scout#2']])
  await open('x')
  await shown(2)
  expect(told()).toEqual([
    ['joined', 'team', 'root/scout#2'],
    ['left', 'team', 'root/scout#2'],
  ])
  await open('y')
  await over
})

it('shows a call that gave back its slot while its child waited for room, and has to wait for one again', async () => {
  const { pass, open } = doors()
  const scout: Script = async (request) => {
    await pass(textOf(request))
    return { text: 'ok' }
  }
  const boss: Script = (request, step) =>
    step === 1 ? { calls: [...textOf(request)].map((name) => ask('scout', name)) } : { text: 'done' }
  const { runtime } = team(
    { boss: { script: boss, agents: ['scout'], limits: { parallelChildren: 1 } }, scout: { script: scout } },
    { clock: new FakeClock(), config: { queues: { agent: { concurrent: 2 } } } },
  )
  const { over, told, shown, waits } = watch(runtime.stream('xy'))
  await settled()
  const other = runtime.run('z')
  await settled()
  const third = watch(runtime.stream('w'))
  await third.shown(1)
  expect(told()).toEqual([])
  await open('x')
  await shown(1)
  expect(waits()[0]).toMatchObject({ type: 'interaction.queue.joined', queue: 'agent', agentPath: 'root', itemId: 't1.s1.2' })
  await open('z')
  await shown(2)
  for (const name of ['w', 'y']) await open(name)
  await Promise.all([over, other, third.over])
  expect(told().map(([how]) => how)).toEqual(['joined', 'left'])
})
