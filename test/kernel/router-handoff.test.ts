import { expect, it } from 'vitest'
import { kernelScene } from './kernel-scene.ts'
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
  await say('Ready')
  await channel.until(4)
  await say('/back')
  await channel.until(6)
  await say('/who')
  await channel.until(7)
  expect(channel.lines()).toEqual([
    'answer orchestrator: I hand you over.',
    'answer coach: Let us begin.',
    'notice troupe: You are talking to coach. /back returns to orchestrator.',
    'answer coach: Ten push-ups!',
    'answer orchestrator: Here I am again.',
    'answer orchestrator: Ann, remember.',
    'notice troupe: You are talking to orchestrator.',
  ])
  for (const model of Object.values(scene.models)) model.assertDone()
  await scene.close()
})
