import { expect, it } from 'vitest'
import { FakeClock } from '../../testing/index.ts'
import { type PlaceLimits, TurnPlaces } from './turn-places.ts'

const many = { total: 100, perHeadend: 100, perAgent: 100, perToken: 100, queue: 100, queueMs: 30_000 }

function stage(limits: Partial<PlaceLimits>) {
  const clock = new FakeClock()
  const places = new TurnPlaces({ ...many, ...limits }, clock)
  const entered: string[] = []
  const enter = (name: string, { agent = 'a', owner = 'o', headend = 'rest', signal = new AbortController().signal } = {}) =>
    places.enter({ agent, owner, headend, signal }).then((release) => {
      entered.push(name)
      return release
    })
  return { places, clock, entered, enter }
}

it.each([
  ['total', { total: 1 }, {}],
  ['perHeadend', { perHeadend: 1 }, { agent: 'b', owner: 'p' }],
  ['perAgent', { perAgent: 1 }, { headend: 'mcp', owner: 'p' }],
  ['perToken', { perToken: 1 }, { headend: 'mcp', agent: 'b' }],
])('%s limits the turns that run together', async (_, limits, second) => {
  const { places, entered, enter } = stage(limits)
  const release = await enter('first')
  const waiting = enter('second', second)
  expect([places.running, places.waiting]).toEqual([1, 1])
  release()
  await waiting
  expect(entered).toEqual(['first', 'second'])
})

it('lets requests in by arrival, and those that fit past one that does not', async () => {
  const { entered, enter } = stage({ total: 2, perAgent: 1 })
  const releaseA = await enter('a1', { agent: 'a' })
  const releaseB = await enter('b1', { agent: 'b' })
  const waiting = [enter('a2', { agent: 'a' }), enter('a3', { agent: 'a' }), enter('c1', { agent: 'c' })]
  releaseB()
  await waiting[2]
  expect(entered).toEqual(['a1', 'b1', 'c1'])
  releaseA()
  const releaseA2 = await waiting[0]!
  expect(entered).toEqual(['a1', 'b1', 'c1', 'a2'])
  releaseA2()
  await waiting[1]
  expect(entered.at(-1)).toBe('a3')
})

it('frees a place once, however often it is released', async () => {
  const { places, enter } = stage({ total: 1 })
  const release = await enter('first')
  release()
  release()
  await enter('second')
  void enter('third').catch(() => {})
  expect([places.running, places.waiting]).toEqual([1, 1])
})

it('refuses with Retry-After if the queue is full', async () => {
  const { places, enter } = stage({ total: 1, queue: 1 })
  await enter('first')
  void enter('second')
  await expect(enter('third')).rejects.toMatchObject({ kind: 'overloaded', status: 503, options: { retryAfterSeconds: 5 } })
  expect(places.waiting).toBe(1)
})

it('refuses a request that waited too long, and leaves no timer behind', async () => {
  const { places, clock, enter } = stage({ total: 1, queueMs: 1000 })
  const release = await enter('first')
  const late = enter('second')
  clock.advance(1000)
  await expect(late).rejects.toMatchObject({ kind: 'overloaded' })
  const inTime = enter('third')
  release()
  await inTime
  expect([places.running, places.waiting, clock.pending]).toEqual([1, 0, 0])
})

it('forgets a request whose client has left', async () => {
  const { places, clock, entered, enter } = stage({ total: 1 })
  const release = await enter('first')
  const client = new AbortController()
  const abandoned = enter('second', { signal: client.signal })
  client.abort()
  await expect(abandoned).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(enter('gone', { signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'unavailable' })
  release()
  expect([places.running, places.waiting, clock.pending]).toEqual([0, 0, 0])
  expect(entered).toEqual(['first'])
})
