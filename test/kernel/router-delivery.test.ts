import { expect, it } from 'vitest'
import { type SessionService, TroupeError } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { echo, FakeChannel, message, said, stage } from './router-stage.ts'

// Channels and stores that fail, notices, and tasks.

it('a channel that throws or hangs is tried again, and others are not held up', async () => {
  const { router, clock, problems, stop } = await stage(memoryStore(), [echo, echo])
  const [bad, good] = [new FakeChannel(), new FakeChannel()]
  let attempts = 0
  bad.before = () => {
    attempts++
    if (attempts === 1) throw new Error('offline')
    if (attempts === 2) return new Promise(() => {})
  }
  router.register('bad', bad)
  router.register('good', good)
  await router.receive('bad', message('A'))
  await expect.poll(() => attempts).toBe(1)
  await router.receive('good', message('B'))
  await good.until(1)
  await clock.elapse(1_000)
  expect(attempts).toBe(2)
  await clock.elapse(10_000)
  await clock.elapse(2_000)
  await bad.until(1)
  expect(bad.lines()).toEqual([said('A')])
  expect(problems).toEqual([])
  await stop()
})

it('a notice for any channel goes to the person who wrote last over a channel that works', async () => {
  const { router, clock, stop } = await stage(memoryStore(), [echo, echo])
  const [chat, mail] = [new FakeChannel(), new FakeChannel()]
  const remove = router.register('chat', chat)
  router.register('mail', mail)
  await router.receive('mail', message('A'))
  await mail.until(1)
  await clock.elapse(1_000)
  await router.receive('chat', message('B'))
  await chat.until(1)
  remove()
  await router.notify({ text: 'Waits.' })
  await router.notify({ text: 'chat was stopped.', anyChannel: true })
  await mail.until(2)
  expect(mail.lines().at(-1)).toBe('notice troupe: chat was stopped.')
  expect(chat.lines()).toHaveLength(1)
  await stop()
})

it('a message that a channel never takes is reported and given up, and the next one is delivered', async () => {
  const { router, clock, problems, stop } = await stage(memoryStore(), [echo, echo])
  const channel = new FakeChannel()
  channel.before = ({ text }) => {
    if (text.endsWith('bad')) throw new Error('too long for this channel')
  }
  router.register('chat', channel)
  await router.receive('chat', message('bad'))
  await expect.poll(() => clock.pending).toBe(1)
  await clock.elapse(60 * 60_000)
  await router.receive('chat', message('good'))
  await channel.until(1)
  expect(channel.lines()).toEqual([said('good')])
  expect(problems.map(({ source, message: text }) => `${source}: ${text}`)).toEqual([
    'chat: A message cannot be delivered, and is tried again: too long for this channel',
    'chat: A message was given up after 60 attempts: too long for this channel',
  ])
  await stop()
})

it('a message waits for as long as its platform cannot be reached', async () => {
  const { router, clock, problems, stop } = await stage(memoryStore(), [echo])
  const channel = new FakeChannel()
  let isDown = true
  channel.before = () => {
    if (isDown) throw Object.assign(new Error('no network'), { isTemporary: true })
  }
  router.register('chat', channel)
  await router.receive('chat', message('A'))
  await expect.poll(() => clock.pending).toBe(1)
  await clock.elapse(24 * 60 * 60_000)
  isDown = false
  await clock.elapse(60_000)
  await channel.until(1)
  expect(channel.lines()).toEqual([said('A')])
  expect(problems.map(({ message: text }) => text)).toEqual(['A message cannot be delivered, and is tried again: no network'])
  await stop()
})

it('a message whose delivery was not recorded is delivered again under the same id', async () => {
  const store = memoryStore()
  const channel = new FakeChannel()
  const ids: string[] = []
  const first = await stage(store, [echo])
  channel.before = ({ id }) => {
    ids.push(id)
    return new Promise(() => {})
  }
  first.router.register('chat', channel)
  await first.router.receive('chat', message('Hi'))
  await expect.poll(() => ids.length).toBe(1)
  const stopped = first.stop()
  await first.clock.elapse(1_000)
  await stopped
  const second = await stage(store, [])
  channel.before = ({ id }) => ids.push(id)
  second.router.register('chat', channel)
  await channel.until(1)
  expect(ids[1]).toBe(ids[0])
  await second.stop()
  const third = await stage(store, [echo])
  third.router.register('chat', channel)
  await third.router.receive('chat', message('More'))
  await channel.until(2)
  expect(channel.lines()).toEqual([said('Hi'), said('More')])
  await third.stop()
})

it('a message that is being delivered when the process stops is not repeated by the next one', async () => {
  const store = memoryStore()
  const channel = new FakeChannel()
  const [begun, taken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = await stage(store, [echo])
  channel.before = () => {
    begun.resolve()
    return taken.promise
  }
  first.router.register('chat', channel)
  await first.router.receive('chat', message('Hi'))
  await begun.promise
  const stopped = first.stop()
  taken.resolve()
  await stopped
  const second = await stage(store, [echo])
  channel.before = () => undefined
  second.router.register('chat', channel)
  await second.router.receive('chat', message('More'))
  await channel.until(2)
  expect(channel.lines()).toEqual([said('Hi'), said('More')])
  await second.stop()
})

it('a message that cannot be sent is tried again; then the person is told', async () => {
  const failures = [
    new TroupeError('store_failed', 'The disk is full.'),
    new TroupeError('budget_exhausted', 'Used up.', { remedy: 'Wait.' }),
  ]
  const failing = ({ start }: SessionService): Partial<SessionService> => ({
    start: (...given) => {
      const failure = failures.shift()
      return failure ? Promise.reject(failure) : start(...given)
    },
  })
  const { router, clock, problems, stop } = await stage(memoryStore(), [echo], { sessions: failing })
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', message('One'))
  await expect.poll(() => clock.pending).toBe(1)
  await clock.elapse(1_000)
  await channel.until(1)
  await router.receive('chat', message('Two'))
  await channel.until(2)
  expect(channel.lines()).toEqual(['error troupe: Your message could not be sent. Used up. Wait.', said('Two')])
  expect(problems).toMatchObject([{ message: 'A message could not be sent: Used up.' }])
  await stop()
})

it('notices wait for the channel, go to the person who wrote last, and are known to the next turn', async () => {
  const store = memoryStore()
  const first = await stage(store, [echo])
  await first.router.notify({ text: 'Nobody is here yet', id: 'n1', speaker: 'monitor' })
  await first.router.notify({ text: 'Nobody is here yet', id: 'n1', speaker: 'monitor' })
  await first.stop()
  const { router, sessions, stop } = await stage(store, [echo])
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.receive('chat', message('Hi'))
  await channel.until(2)
  await router.notify({ text: 'Second', to: { channel: 'mail', userId: 'bob' } })
  await router.notify({ text: 'Third' })
  await router.notify({ text: 'Nobody is here yet', id: 'n1' })
  await channel.until(3)
  expect(channel.lines().toSorted()).toEqual([said('Hi'), 'notice monitor: Nobody is here yet', 'notice troupe: Third'])
  const [session] = await sessions.list()
  const taken = await router.takeNotices(session?.sessionId ?? '')
  expect(taken).toEqual([
    { text: 'Nobody is here yet', speaker: 'monitor' },
    { text: 'Third', speaker: 'troupe' },
  ])
  expect(await router.takeNotices(session?.sessionId ?? '')).toEqual([])
  const mail = new FakeChannel()
  router.register('mail', mail)
  await mail.until(1)
  expect(mail.messages).toMatchObject([{ userId: 'bob', message: { text: 'Second', kind: 'notice' } }])
  await stop()
})

it('keeps the newest notices for a channel that nobody connects', async () => {
  const { router, problems, stop } = await stage(memoryStore(), [])
  const to = { channel: 'mail', userId: 'bob' }
  for (let index = 0; index <= 1_000; index++) await router.notify({ text: `Notice ${index}`, to })
  expect(problems).toMatchObject([{ message: expect.stringContaining('The oldest was dropped: Notice 0') }])
  const mail = new FakeChannel()
  router.register('mail', mail)
  await mail.until(1_000)
  expect(mail.lines()[0]).toBe('notice troupe: Notice 1')
  await stop()
})

it('a task is sent to the orchestrator once, and is never a command', async () => {
  const { router, stop } = await stage(memoryStore(), [echo, echo])
  const channel = new FakeChannel()
  router.register('chat', channel)
  await router.task({ text: '/stop the press', id: 't1' })
  await router.receive('chat', message('Hi'))
  await channel.until(2)
  await router.task({ text: '/stop the press', id: 't1' })
  expect(channel.lines().toSorted()).toEqual([said('/stop the press'), said('Hi')])
  await stop()
})

it('a task waits until the person has fewer messages waiting', async () => {
  const open = gate()
  const held = ({ start }: SessionService): Partial<SessionService> => ({ start: (...given) => open.promise.then(() => start(...given)) })
  const { router, model, stop } = await stage(
    memoryStore(),
    Array.from({ length: 101 }, () => echo),
    { sessions: held },
  )
  const channel = new FakeChannel()
  router.register('chat', channel)
  for (let index = 0; index < 100; index++) await router.receive('chat', message(`Message ${index}`, `${index}`))
  await router.task({ text: 'the task' })
  await router.receive('chat', message('Message 7', '7'))
  open.open()
  await expect.poll(() => JSON.stringify(model.requests.at(-1)?.messages ?? [])).toContain('the task')
  expect(channel.lines().filter((line) => line.startsWith('error'))).toEqual([])
  await stop()
})

it('an event of a message is published before the message is done', async () => {
  const published = gate()
  const store = memoryStore()
  const { router, stop } = await stage(store, [echo], { publish: () => published.promise })
  router.register('chat', new FakeChannel())
  await router.receive('chat', message('Hi'))
  const waiting = async () => {
    const stored = await store.records.get('conversation', 'chat/ann')
    return (stored?.value as { readonly waiting: readonly unknown[] } | undefined)?.waiting.length
  }
  await expect.poll(async () => (await store.trees.list({})).length).toBe(1)
  expect(await waiting()).toBe(1)
  published.open()
  await expect.poll(waiting).toBe(0)
  await stop()
})

it('conversations that are idle keep no readers, and what happens in them later is delivered', async () => {
  const count = 110
  const store = memoryStore({ keepSessions: count })
  const open = new Set<object>()
  const counted = ({ events }: SessionService): Partial<SessionService> => ({
    events(...given) {
      const reader = events(...given)[Symbol.asyncIterator]()
      open.add(reader)
      const iterator = {
        next: () => reader.next(),
        return: async () => {
          open.delete(reader)
          return (await reader.return?.()) ?? { done: true as const, value: undefined }
        },
      }
      return { [Symbol.asyncIterator]: () => iterator }
    },
  })
  const { router, sessions, stop } = await stage(store, Array(count + 2).fill(echo), { sessions: counted })
  const channel = new FakeChannel()
  router.register('chat', channel)
  for (let at = 0; at < count; at++) {
    await router.receive('chat', { userId: `thread${at}`, text: 'A' })
    await channel.until(at + 1)
  }
  await expect.poll(() => open.size).toBe(100)
  await router.receive('chat', { userId: 'thread0', text: 'B' })
  await channel.until(count + 1)
  expect(channel.lines('thread0')).toEqual([said('A'), said('B')])
  const [{ sessionId = '' } = {}] = (await sessions.list()).filter(({ labels = [] }) => labels.length > 0).slice(-2)
  await sessions.send(sessionId, 'C')
  await channel.until(count + 2)
  expect(channel.lines().at(-1)).toBe(said('C'))
  await stop()
})
