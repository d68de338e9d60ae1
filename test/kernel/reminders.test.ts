import { afterEach, expect, it } from 'vitest'
import type { ExtensionContext, Tool } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { kernelScene, requestText, type Scene, type SceneOptions } from './kernel-scene.ts'
import { FakeChannel } from './router-stage.ts'

const scenes: Scene[] = []
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.close()
})

const minute = 60_000
const ann = { channel: 'chat', userId: 'ann' }
const send: Tool = {
  name: 'send',
  description: 'Sends.',
  inputSchema: { type: 'object' },
  approval: () => ({ keys: [], summary: 'Send it' }),
  execute: () => 'sent',
}
const handsOver = { text: 'I hand you over.', calls: [{ tool: 'agent__coach', input: { task: 'Train' } }] }

/** One process of an assistant with a scheduler, a channel and an agent that talks to the person. */
async function process(models: SceneOptions['models'], { store = memoryStore(), startsAt = 0 } = {}) {
  const channel = new FakeChannel()
  let context: ExtensionContext | undefined
  const scene = await kernelScene({
    store,
    kernel: { workspace: '/work', ids: { next: () => crypto.randomUUID() } },
    extensions: [
      { id: 'chat', instance: channel },
      {
        id: 'scheduler',
        found: { source: 'bundled' },
        instance: {
          initialize(given) {
            context = given
          },
        },
      },
      { id: 'coach', agent: { integrationMode: 'handoff', model: 'coach', limits: { idleMs: 1e9 } } },
    ],
    tools: [send],
    orchestrator: { tools: ['send'] },
    runtime: { approver: { decide: ({ isLive }) => (isLive ? 'wait' : 'suspend') } },
    models,
  })
  scenes.push(scene)
  if (startsAt > 0) scene.clock.jump(startsAt)
  const say = (text: string) => scene.kernel.router.receive('chat', { userId: 'ann', text })
  /** In so many minutes. */
  const add = (kind: 'task' | 'reminder', task: string, minutes: number) =>
    context?.schedules.add({ kind, task, to: ann, when: { at: scene.clock.now() + minutes * minute } })
  return { scene, channel, say, add, store }
}

it('a reminder is sent to the person without a model; the orchestrator learns of it in its next turn', async () => {
  const { scene, channel, say, add } = await process({ main: [{ text: 'Hello.' }, { text: 'You are welcome.' }], coach: [] })
  await say('Hi')
  await channel.until(1)
  await add('reminder', 'Call Bo.', 5)
  await scene.clock.elapse(5 * minute)
  await channel.until(2)
  expect(channel.lines()).toEqual(['answer orchestrator: Hello.', 'notice scheduler: Call Bo.'])
  expect(scene.models.main?.requests).toHaveLength(1)
  await say('Thanks')
  await channel.until(3)
  expect(requestText(scene.models.main, 1)).toContain('The person was sent this message meanwhile: Call Bo.')
})

it('during a handoff, reminders arrive at their time, and the person reads why a task waits', async () => {
  const main = [handsOver, { text: 'Here I am.' }, { text: 'The news.' }]
  const { scene, channel, say, add } = await process({ main, coach: [{ text: 'Ready?' }] })
  await say('Train me')
  await channel.until(2)
  await add('reminder', 'Call Bo.', 1)
  await add('task', 'Read the news', 2)
  await scene.clock.elapse(1 * minute)
  await channel.until(3)
  await scene.clock.elapse(1 * minute)
  await channel.until(4)
  await say('/back')
  await channel.until(6)
  expect(channel.lines().slice(2)).toEqual([
    'notice scheduler: Call Bo.',
    'notice troupe: Scheduled task: Read the news\nIt begins when coach has ended its conversation with you; /back ends it now.',
    'answer orchestrator: Here I am.',
    'answer orchestrator: The news.',
  ])
  expect(requestText(scene.models.main, 2)).toContain('The person was sent this message meanwhile: Call Bo.')
})

it('while an approval is open, also after a restart, reminders arrive, and a task says that it waits', async () => {
  const first = await process({ main: [{ calls: [{ tool: 'send' }] }], coach: [] })
  await first.say('Send it')
  await first.channel.until(1)
  await first.add('reminder', 'Call Bo.', 1)
  await first.add('task', 'Read the news', 20)
  await first.add('reminder', 'Call Jo.', 30)
  await first.scene.clock.elapse(1 * minute)
  await first.channel.until(2)
  expect(first.channel.lines()).toEqual([
    expect.stringMatching(/^question orchestrator: Approval needed: Send it/),
    'notice scheduler: Call Bo.',
  ])
  await first.scene.close()
  scenes.length = 0

  const main = [{ text: 'Sent.' }, { text: 'The news.' }]
  const { scene, channel, say } = await process({ main, coach: [] }, { store: first.store, startsAt: 10 * minute })
  await scene.runtime.open((await first.store.trees.list({}))[0]?.treeId ?? '')
  await scene.clock.elapse(11 * minute)
  await channel.until(1)
  await scene.clock.elapse(10 * minute)
  await channel.until(2)
  expect(scene.models.main?.requests).toHaveLength(0)
  await say('yes')
  await channel.until(4)
  expect(channel.lines()).toEqual([
    'notice troupe: Scheduled task: Read the news\nIt begins when you have answered the request.',
    'notice scheduler: Call Jo.',
    'answer orchestrator: Sent.',
    'answer orchestrator: The news.',
  ])
})
