import { expect, it } from 'vitest'
import { FakeClock } from '../../testing/index.ts'
import { TimeSlices } from '../../util/time-slices.ts'
import { carryStream, isEventStream } from './carry-stream.ts'
import { HttpError } from './http-error.ts'
import type { OpenStream, StreamConnection } from './open-streams.ts'

function stage(...chunks: readonly Uint8Array[]) {
  const held: unknown[] = []
  let connection: Pick<StreamConnection, 'end'> | undefined
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  const response = carryStream(new Response(source), {
    open(given): OpenStream {
      connection = given
      return { holds: (bytes) => bytes && held.push(bytes), close() {} }
    },
    slices: new TimeSlices(new FakeClock()),
    lastMessage: () => new TextEncoder().encode('event: error\n\n'),
    done() {},
    signal: new AbortController().signal,
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  return { held, reader, end: () => connection?.end(new HttpError('unauthorized', 'It was revoked.')) }
}

const large = new Uint8Array(600 * 1024).map((_, index) => index % 251)

it('sends a large event in parts, so that a slow reader accepts some of it; all are one object for the limits', async () => {
  const { held, reader } = stage(large, new Uint8Array([1]))
  const parts: Uint8Array[] = []
  for (let read = await reader.read(); !read.done; read = await reader.read()) parts.push(read.value)
  expect(parts.map(({ length }) => length)).toEqual([256 * 1024, 256 * 1024, 88 * 1024, 1])
  expect(Buffer.concat(parts.slice(0, 3)).equals(large)).toBe(true)
  expect(held.slice(0, 3).every((bytes) => bytes === large)).toBe(true)
})

it('sends no last message inside of an event', async () => {
  const { reader, end } = stage(large)
  await reader.read()
  end()
  expect(await reader.read()).toEqual({ done: true, value: undefined })
  const whole = stage(new Uint8Array([1]))
  await whole.reader.read()
  whole.end()
  expect(new TextDecoder().decode((await whole.reader.read()).value)).toBe('event: error\n\n')
})

it('does not ask for the body of another answer: it would become a stream', () => {
  const headers = new Headers({ 'content-type': 'application/json' })
  const answer = new Proxy(new Response(), {
    get: (_, key) => {
      if (key === 'body') throw new Error('asked')
      return key === 'headers' ? headers : undefined
    },
  })
  expect(isEventStream(answer)).toBe(false)
})
