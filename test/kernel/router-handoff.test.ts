import { expect, it } from 'vitest'
import type { ScriptedStepSource } from '../../src/testing/index.ts'
import { kernelScene, requestText, type TestExtension } from './kernel-scene.ts'
import { FakeChannel } from './router-stage.ts'

it('during a handoff the person talks to the agent; /back returns to the orchestrator', async () => {
  const channel = new FakeChannel()
  const main = [
    { text: 'I hand you over.', calls: [{ tool: 'agent__coach', input: { task: 'Train' } }] },
    { text: 'Here I am again.' },
    { text: 'Ann, remember.' },
  ]
  const scene = await kernelScene({
    extensions: [
      { id: 'chat', instance: channel },
      { id: 'coach', agent: { integrationMode: 'handoff', model: 'coach' } },
    ],
    models: { main, coach: [{ text: 'Let us begin.', chunks: 2 }, { text: 'Ten push-ups!' }] },
  })
  const { router } = scene.kernel
  const say = (text: string) => router.receive('chat', { userId: 'ann', text })
  await say('Train me')
  await channel.until(2)
  await say('/who')
  await channel.until(3)
  await router.task({ text: 'Remind ann' })
  await channel.until(4)
  await say('Ready')
  await channel.until(5)
  await say('/back')
  await channel.until(7)
  await say('/who')
  await channel.until(8)
  expect(channel.lines()).toEqual([
    'answer orchestrator: I hand you over.',
    'answer coach: Let us begin.',
    'notice troupe: You are talking to coach. /back returns to orchestrator.',
    'notice troupe: Scheduled task: Remind ann\nIt begins when coach has ended its conversation with you; /back ends it now.',
    'answer coach: Ten push-ups!',
    'answer orchestrator: Here I am again.',
    'answer orchestrator: Ann, remember.',
    'notice troupe: You are talking to orchestrator.',
  ])
  for (const model of Object.values(scene.models)) model.assertDone()
  await scene.close()
})

const handsOver = { text: 'I hand you over.', calls: [{ tool: 'agent__coach', input: { task: 'Train' } }] }

/** A conversation in a handoff to an agent with these answers and limits. */
async function handedOver(coach: readonly ScriptedStepSource[], limits: NonNullable<TestExtension['agent']>['limits'] = {}) {
  const channel = new FakeChannel()
  const scene = await kernelScene({
    extensions: [
      { id: 'chat', instance: channel },
      { id: 'coach', agent: { integrationMode: 'handoff', model: 'coach', limits } },
    ],
    models: { main: [handsOver, { text: 'Here I am again.' }], coach },
  })
  const say = (text: string) => scene.kernel.router.receive('chat', { userId: 'ann', text })
  await say('Train me')
  await channel.until(2)
  return { scene, channel, say }
}

const endings: readonly { by: string; coach: readonly ScriptedStepSource[]; limits: object; told: readonly unknown[] }[] = [
  {
    by: 'its limit of messages',
    coach: [{ text: 'Ready?' }, { text: 'Go!' }],
    limits: { maxTurns: 1 },
    told: ['answer coach: Go!', 'notice troupe: coach has answered as many messages as it may. You are talking to orchestrator again.'],
  },
  {
    by: 'a failure',
    coach: [{ text: 'Ready?' }, { fault: { class: 'config', message: 'no such model' } }],
    limits: {},
    told: ['notice troupe: coach has failed: no such model. You are talking to orchestrator again.'],
  },
]
it.each(endings)(
  'a handoff that ends by $by is reported to the person, before the orchestrator answers',
  async ({ coach, limits, told }) => {
    const { scene, channel, say } = await handedOver(coach, limits)
    await say('Yes')
    await channel.until(3 + told.length)
    expect(channel.lines().slice(2)).toEqual([...told, 'answer orchestrator: Here I am again.'])
    await scene.close()
  },
)

it('a silent person is told that the handoff has ended', async () => {
  const { scene, channel } = await handedOver([{ text: 'Ready?' }], { idleMs: 600_000 })
  await scene.clock.elapse(600_000)
  await channel.until(4)
  expect(channel.lines().slice(2)).toEqual([
    'notice troupe: coach has waited too long for a message from you. You are talking to orchestrator again.',
    'answer orchestrator: Here I am again.',
  ])
  await scene.close()
})

it('no model reads /back', async () => {
  const { scene, channel, say } = await handedOver([{ text: 'Ready?' }])
  await say('/back')
  await channel.until(3)
  expect(channel.lines().at(-1)).toBe('answer orchestrator: Here I am again.')
  expect([0, 1].map((index) => requestText(scene.models.main, index)).join()).not.toContain('/back')
  expect(requestText(scene.models.main, 1)).toContain('the person asked for you')
  await scene.close()
})
