import { expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeChannel, stage } from './router-stage.ts'

it('first', async () => {
  const store = memoryStore()
  const { router, model, stop } = await stage(store, [
    { text: 'Hello you', chunks: 3 },
    { text: 'Again', chunks: 2 },
  ])
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', { userId: 'ann', text: 'Hi', messageId: '1' })
  await channel.until(1)
  await router.receive('chat', { userId: 'ann', text: 'Hi', messageId: '1' })
  await router.receive('chat', { userId: 'ann', text: 'More', messageId: '2' })
  await channel.until(2)
  expect(channel.lines()).toEqual(['answer orchestrator: Hello you', 'answer orchestrator: Again'])
  model.assertDone()
  await stop()
})
