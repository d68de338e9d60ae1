import { afterEach, expect, it } from 'vitest'
import type { BusEvent, ExtensionContext } from '../../src/contracts/index.ts'
import { kernelScene, type Scene, type SceneOptions } from './kernel-scene.ts'
import { FakeChannel } from './router-stage.ts'

const scenes: Scene[] = []
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.close()
})

const names = ['user_message', 'agent_invoked', 'agent_result', 'agent_error', 'agent_response', 'notification', 'looked']

/** A channel, an agent that others ask, a tool that tells the person and publishes an event, and what the bus delivers. */
async function stage(options: Partial<SceneOptions> & Pick<SceneOptions, 'models'>) {
  const events: BusEvent[] = []
  const channel = new FakeChannel()
  let context: ExtensionContext | undefined
  const scene = await kernelScene({
    ...options,
    // The next process has other ids.
    kernel: { workspace: '/work', ids: { next: () => crypto.randomUUID() } },
    extensions: [
      { id: 'chat', instance: channel },
      {
        id: 'watcher',
        instance: {
          initialize(given) {
            for (const name of names) given.subscribe(name, (event) => void events.push(event))
          },
        },
      },
      { id: 'helper', agent: { model: 'helper' } },
      { id: 'broken', agent: { model: 'helper' }, instance: { invoke: () => Promise.reject(new Error('no disk')) } },
      {
        id: 'looker',
        manifest: { dependsOn: ['helper'] },
        instance: {
          initialize(given) {
            context = given
          },
          getTools: () => [
            {
              name: 'look',
              description: 'Looks.',
              inputSchema: { type: 'object' },
              async execute() {
                await context?.notifyUser('I look.')
                await context?.publish('looked', null)
                return (await context?.invokeAgent('helper', 'Look'))?.content ?? ''
              },
            },
          ],
        },
      },
      { id: 'coach', agent: { integrationMode: 'handoff', model: 'coach', usesTools: ['helper'] } },
    ],
  })
  scenes.push(scene)
  /** Says something, waits for so many messages in total, and returns what the bus had about it. */
  const say = async (text: string, messages: number): Promise<readonly string[]> => {
    const before = events.length
    await scene.kernel.router.receive('chat', { userId: 'ann', text, messageId: text })
    await channel.until(messages)
    await scene.clock.elapse(2_000)
    return events.slice(before).map(shown)
  }
  const ids = new Map<string, string>()
  const shown = ({ name, correlationId, data }: BusEvent): string => {
    const { text = '', agent, caller, messageId } = (data ?? {}) as { [key: string]: string }
    if (name === 'user_message' && messageId === correlationId) ids.set(correlationId, text)
    const call = agent === undefined ? '' : ` ${caller} → ${agent}`
    return `${ids.get(correlationId) ?? correlationId}: ${name}${call}`
  }
  return { scene, channel, say, events }
}

const call = (tool: string, input = {}) => ({ calls: [{ tool, input }] })

it('everything that follows from a message has its id; the caller is the agent or extension that called', async () => {
  const { say } = await stage({
    models: {
      main: [
        call('agent__helper', { task: 'Help' }),
        call('looker__look'),
        { text: 'Done.' },
        call('agent__broken', { task: 'x' }),
        { text: 'Bye.' },
      ],
      helper: [{ text: 'Helped.' }, { text: 'Seen.' }],
    },
  })
  expect((await say('first', 2)).toSorted()).toEqual([
    'first: agent_invoked looker → helper',
    'first: agent_invoked orchestrator → helper',
    'first: agent_response',
    'first: agent_result looker → helper',
    'first: agent_result orchestrator → helper',
    'first: looked',
    'first: notification',
    'first: user_message',
  ])
  expect((await say('second', 3)).toSorted()).toEqual([
    'second: agent_error orchestrator → broken',
    'second: agent_invoked orchestrator → broken',
    'second: agent_response',
    'second: user_message',
  ])
})

it('in a handoff, what the agent does follows from the message to it, also after a restart', async () => {
  const options = {
    main: [call('agent__coach', { task: 'Train' }), { text: 'Here I am.' }],
    coach: [
      { text: 'Ready?' },
      call('agent__helper', { task: 'Plan' }),
      { text: 'A plan.' },
      call('return_control', { report: 'Trained' }),
    ],
    helper: [{ text: 'Planned.' }],
  }
  const { say, scene } = await stage({ models: options })
  expect((await say('train me', 1)).toSorted()).toEqual([
    'train me: agent_invoked orchestrator → coach',
    'train me: agent_response',
    'train me: user_message',
  ])
  expect((await say('plan it', 2)).toSorted()).toEqual([
    'plan it: agent_invoked coach → helper',
    'plan it: agent_response',
    'plan it: agent_result coach → helper',
    'plan it: user_message',
  ])
  await scene.close()
  scenes.length = 0
  const next = await stage({ models: { main: [options.main[1] ?? {}], coach: [options.coach[3] ?? {}], helper: [] }, store: scene.store })
  const [tree] = await scene.store.trees.list({})
  await next.scene.runtime.open(tree?.treeId ?? '')
  expect((await next.say('done', 1)).toSorted()).toEqual([
    expect.stringMatching(/^(?!done).*: agent_result orchestrator → coach/),
    'done: agent_response',
    'done: user_message',
  ])
})
