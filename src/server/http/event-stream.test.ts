import { expect, it } from 'vitest'
import { FakeClock } from '../../testing/index.ts'
import { type EventStreamOptions, encodedOnce, eventStream, sseBytes } from './event-stream.ts'

const heartbeatMs = 15_000
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A source that the test feeds. */
function source<Item>() {
  const queue: Item[] = []
  let wake = Promise.withResolvers<void>()
  const state = { isOver: false, error: undefined as Error | undefined, released: 0, taken: 0 }
  const change = () => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  return {
    state,
    push: (...items: Item[]) => {
      queue.push(...items)
      change()
    },
    end: () => {
      state.isOver = true
      change()
    },
    fail: (error: Error) => {
      state.error = error
      change()
    },
    items: {
      [Symbol.asyncIterator]: () => ({
        async next(): Promise<IteratorResult<Item>> {
          for (;;) {
            if (queue.length > 0) {
              state.taken++
              return { value: queue.shift() as Item, done: false }
            }
            if (state.error) throw state.error
            if (state.isOver) return { value: undefined, done: true }
            await wake.promise
          }
        },
        async return(): Promise<IteratorResult<Item>> {
          state.released++
          state.isOver = true
          change()
          return { value: undefined, done: true }
        },
      }),
    },
  }
}

function stage(options: Partial<EventStreamOptions<string>> = {}) {
  const clock = new FakeClock()
  const from = source<string>()
  let left = 0
  const response = eventStream<string>({
    source: from.items,
    encode: (item) => (item === 'hidden' ? undefined : sseBytes({ data: item })),
    clock,
    left: () => void left++,
    ...options,
  })
  const reader = response.body!.getReader()
  const next = async () => text((await reader.read()).value)
  return { clock, response, reader, next, left: () => left, ...from }
}

it('has the fields of a message, a line each', () => {
  expect(text(sseBytes({ id: '7', event: 'item', data: 'one\ntwo\r\nthree\rfour' }))).toBe(
    'id: 7\nevent: item\ndata: one\ndata: two\ndata: three\ndata: four\n\n',
  )
  expect(text(sseBytes({ data: '' }))).toBe('data: \n\n')
})

it('sends each item once and in order, then the end, and releases the source', async () => {
  const { push, end, response, reader, next, state, clock, left } = stage({
    end: () => sseBytes({ data: '[DONE]' }),
    headers: { 'x-a': 'b' },
  })
  expect(Object.fromEntries(response.headers)).toEqual({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-a': 'b',
  })
  push('1', 'hidden', '2')
  expect(await next()).toBe('data: 1\n\ndata: 2\n\n')
  push('3')
  end()
  expect([await next(), await next()]).toEqual(['data: 3\n\n', 'data: [DONE]\n\n'])
  expect(await reader.read()).toEqual({ done: true, value: undefined })
  expect([state.released, clock.pending, left()]).toEqual([1, 0, 0])
})

it('sends a heartbeat to a reader that waits, after a silence, and none after the end', async () => {
  const { push, end, clock, next, reader } = stage()
  for (let count = 0; count < 2; count++) {
    const waiting = next()
    await settled()
    clock.advance(heartbeatMs)
    expect(await waiting).toBe(': heartbeat\n\n')
  }
  // Nobody reads: there is nothing to send.
  clock.advance(10 * heartbeatMs)
  push('1')
  expect(await next()).toBe('data: 1\n\n')
  end()
  expect((await reader.read()).done).toBe(true)
  expect(clock.pending).toBe(0)
})

it('fails with its source, after everything before it', async () => {
  const { push, fail, next, reader, clock, left } = stage()
  push('1')
  fail(new Error('lost'))
  expect(await next()).toBe('data: 1\n\n')
  await expect(reader.read()).rejects.toThrow('lost')
  expect([clock.pending, left()]).toEqual([0, 0])
})

it('fails when an item cannot be encoded, and releases the source', async () => {
  const { push, next, reader, state } = stage({
    encode: (item) => {
      if (item === 'unknown') throw new Error('unknown item')
      return sseBytes({ data: item })
    },
  })
  push('1', 'unknown')
  expect(await next()).toBe('data: 1\n\n')
  await expect(reader.read()).rejects.toThrow('unknown item')
  expect(state.released).toBe(1)
})

it('releases the source when the reader leaves, while it waits for an item', async () => {
  const { push, next, reader, state, left, clock } = stage()
  push('1')
  await next()
  await reader.cancel()
  expect([state.released, left(), clock.pending]).toEqual([1, 1, 0])
})

it('takes items when the reader asks for them, and loses none', async () => {
  const { push, next, state, clock } = stage()
  const [small, half, large] = ['1', '2'.repeat(5_000), '3'.repeat(20_000)]
  push(small, half, half, large, small)
  await settled()
  expect([state.taken, clock.pending]).toEqual([0, 0])
  expect(await next()).toBe(`data: ${small}\n\ndata: ${half}\n\n`)
  await settled()
  // The one that did not fit is kept.
  expect(state.taken).toBe(3)
  expect([await next(), await next(), await next()]).toEqual([half, large, small].map((data) => `data: ${data}\n\n`))
})

it('sends what comes in a later tick separately', async () => {
  const { push, next } = stage()
  push('1')
  expect(await next()).toBe('data: 1\n\n')
  const waiting = next()
  push('2', '3')
  expect(await waiting).toBe('data: 2\n\ndata: 3\n\n')
})

it('gives all readers of a large message the same bytes', async () => {
  const bytes = sseBytes({ data: '1'.repeat(20_000) })
  const { push, reader } = stage({ encode: () => bytes })
  push('1')
  expect((await reader.read()).value).toBe(bytes)
})

it('encodes an object once for all readers', () => {
  let encoded = 0
  const encode = encodedOnce<{ readonly n: number }>(({ n }) => {
    encoded++
    return n === 0 ? undefined : sseBytes({ data: String(n) })
  })
  const [zero, one] = [{ n: 0 }, { n: 1 }]
  expect(encode(one)).toBe(encode(one))
  expect([encode(zero), encode(zero)]).toEqual([undefined, undefined])
  expect(encoded).toBe(2)
})
