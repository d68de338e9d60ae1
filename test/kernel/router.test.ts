import { expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeChannel, stage } from './router-stage.ts'

it('first', async () => {
  const store = memoryStore()
  const { router, model, stop, published } = await stage(store, [{ text: 'Hello you', chunks: 3 }, { text: 'Again', chunks: 2 }])
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', { userId: 'ann', text: 'Hi', messageId: '1' })
  await channel.until(1)
  await router.receive('chat', { userId: 'ann', text: 'Hi', messageId: '1' })
  await router.receive('chat', { userId: 'ann', text: 'More', messageId: '2' })
  await channel.until(2)
  console.log(channel.messages, channel.pieces, published)
  model.assertDone()
  await stop()
})
