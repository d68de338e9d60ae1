import { expect, it } from 'vitest'
import { FakeClock } from '../../testing/index.ts'
import { TimeSlices } from '../../util/time-slices.ts'
import { carryStream } from './carry-stream.ts'
import type { HttpError } from './http-error.ts'
import { OpenStreams } from './open-streams.ts'

const slowReaderMs = 30_000
const graceMs = 2_000
const settled = () => new Promise((resolve) => setImmediate(resolve))
const bytes = (length: number) => new Uint8Array(length)

/** Streams of one process. A test is their readers. */
function stage({ maxUnacceptedBytes = 1_000, limits = { total: 100, perToken: 100 } } = {}) {
  const clock = new FakeClock()
  const revoked = new Set<string>()
  const tokens = {
    async find(token: string) {
      if (token === 'broken') throw new Error('disk')
      return revoked.has(token) ? undefined : { principal: { id: token, kind: 'token' as const }, scopes: [] }
    },
  }
  const streams = new OpenStreams({ clock, tokens, limits, maxUnacceptedBytes })
  const slices = new TimeSlices(clock)
  /** Has these chunks, and then waits. */
  function open(chunks: readonly Uint8Array[], { token = 'one', signal = new AbortController().signal } = {}) {
    const seen: string[] = []
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const chunk = chunks[seen.filter((each) => each === 'taken').length]
          seen.push('taken')
          if (chunk) controller.enqueue(chunk)
          return chunk ? undefined : new Promise(() => {})
        },
        cancel: () => void seen.push('cancelled'),
      },
      { highWaterMark: 0 },
    )
    const carried = carryStream(new Response(body, { headers: { 'content-type': 'text/event-stream' } }), {
      open: (connection) => streams.open(token, token, { ...connection, isCounted: true }),
      slices,
      lastMessage: (error) => new TextEncoder().encode((error as HttpError).code),
      done: () => void seen.push('done'),
      signal,
    })
    const reader = carried.body!.getReader()
    return { seen, reader, next: async () => (await reader.read()).value }
  }
  return { clock, revoked, streams, open }
}

it('counts bytes that many readers wait for once, and no longer when they were accepted', async () => {
  const { streams, open } = stage()
  const shared = bytes(400)
  const readers = [open([shared]), open([shared]), open([bytes(100)])]
  for (const reader of readers) await reader.next()
  expect(streams.unacceptedBytes).toBe(500)
  // A reader that asks for more has accepted the chunk before.
  for (const reader of readers.slice(0, 2)) void reader.next()
  await settled()
  expect(streams.unacceptedBytes).toBe(100)
  for (const { reader } of readers) await reader.cancel()
  expect([streams.unacceptedBytes, streams.size]).toEqual([0, 0])
})

it('cuts readers that have not accepted for the longest time when there are too many bytes', async () => {
  const { streams, open } = stage()
  const [first, second, third] = [open([bytes(400)]), open([bytes(400)]), open([bytes(400)])]
  for (const reader of [first, second]) await reader.next()
  expect(streams.unacceptedBytes).toBe(800)
  await third.next()
  expect(streams.unacceptedBytes).toBe(800)
  await expect(first.next()).rejects.toThrow('cut')
  expect([first.seen, second.seen]).toEqual([['taken', 'done', 'cancelled'], ['taken']])
  // One that is larger than all that is allowed can still be sent.
  expect(await open([bytes(5_000)]).next()).toHaveLength(5_000)
  expect(streams.unacceptedBytes).toBe(5_000)
})

it('cuts a queue that grows while nothing of it is accepted before those that accept', () => {
  const { streams, clock } = stage()
  const cut: string[] = []
  const queue = (name: string) => streams.open('one', 'one', { isCounted: false, end() {}, cut: () => cut.push(name) })
  const [stuck, reading] = [queue('stuck'), queue('reading')]
  stuck.holds({ byteLength: 300 })
  clock.advance(1)
  for (let count = 0; count < 3; count++) {
    reading.holds({ byteLength: 400 })
    reading.holds({ byteLength: 100 })
  }
  reading.holds({ byteLength: 400 })
  stuck.holds({ byteLength: 500 })
  expect([cut, streams.unacceptedBytes]).toEqual([[], 900])
  stuck.holds({ byteLength: 700 })
  expect([cut, streams.unacceptedBytes]).toEqual([['stuck'], 400])
  // The only one is not cut.
  reading.holds({ byteLength: 5_000 })
  expect([cut, streams.unacceptedBytes]).toEqual([['stuck'], 5_000])
  reading.close()
  expect([streams.unacceptedBytes, streams.size, clock.pending]).toEqual([0, 0, 0])
})

it('closes a reader that accepts nothing, with an error at the end of what it has', async () => {
  const { clock, streams, open } = stage()
  const [slow, idle] = [open([bytes(10), bytes(20)]), open([])]
  const waiting = idle.next()
  await slow.next()
  await clock.elapse(slowReaderMs - 1_000)
  expect(slow.seen).toEqual(['taken'])
  await clock.elapse(1_000)
  expect(slow.seen).toEqual(['taken', 'cancelled'])
  expect(new TextDecoder().decode(await slow.next())).toBe('slow_reader')
  expect(await slow.next()).toBeUndefined()
  // One that waits for events is not slow.
  await clock.elapse(10 * slowReaderMs)
  expect([idle.seen, streams.size]).toEqual([['taken'], 1])
  await idle.reader.cancel()
  await waiting
  expect(clock.pending).toBe(0)
})

it('cuts a closed reader that still does not read', async () => {
  const { clock, streams, open } = stage()
  const slow = open([bytes(10)])
  await slow.next()
  await clock.elapse(slowReaderMs + graceMs)
  await expect(slow.next()).rejects.toThrow('cut')
  expect([slow.seen, streams.size, clock.pending]).toEqual([['taken', 'cancelled', 'done'], 0, 0])
})

it('ends the streams of a token that is revoked, and no others', async () => {
  const { clock, revoked, open } = stage()
  const [one, other, unknown] = [open([]), open([], { token: 'two' }), open([], { token: 'broken' })]
  const last = one.next()
  for (const reader of [other, unknown]) void reader.next()
  revoked.add('one')
  await clock.elapse(1_000)
  expect(new TextDecoder().decode(await last)).toBe('token_revoked')
  expect(await one.next()).toBeUndefined()
  expect([other.seen, unknown.seen]).toEqual([['taken'], ['taken']])
})

it('has places for each token and for all', () => {
  const { open } = stage({ limits: { total: 3, perToken: 2 } })
  for (const token of ['one', 'one', 'two']) expect(open([], { token }).seen).toEqual([])
  expect(() => open([], { token: 'one' })).toThrow('This token has 2 open streams')
  expect(() => open([], { token: 'two' })).toThrow('The server has 3 open streams')
})

it('releases a stream whose client leaves, once, also before anybody read it', async () => {
  const { streams, open } = stage()
  expect(open([], { signal: AbortSignal.abort() }).seen).toEqual(['done', 'cancelled'])
  const leaving = new AbortController()
  const { seen, reader, next } = open([bytes(1)], { signal: leaving.signal })
  await next()
  expect(seen).toEqual(['taken'])
  leaving.abort()
  await reader.cancel()
  expect([seen, streams.size]).toEqual([['taken', 'done', 'cancelled'], 0])
})
