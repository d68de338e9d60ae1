import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../testing/index.ts'
import { FailureError } from '../failures/index.ts'
import { endMarkOf } from './end-mark.ts'
import { guardedFetch } from './guarded-fetch.ts'

const remedies = { auth: 'AUTH', network: 'NETWORK', baseUrl: 'BASE' }

interface Flood {
  readonly response: Response
  readonly state: { sent: number; cancelled: boolean }
}
/** Sends the same for as long as somebody reads. */
function flood(chunk: Uint8Array, init: ResponseInit): Flood {
  const state = { sent: 0, cancelled: false }
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      state.sent += chunk.length
      controller.enqueue(chunk)
    },
    cancel() {
      state.cancelled = true
    },
  })
  return { response: new Response(body, init), state }
}
const get = (response: Response) => guardedFetch(async () => response, { remedies, clock: new FakeClock() })('http://127.0.0.1:9/')
const events = { headers: { 'content-type': 'text/event-stream' } }

describe('the part of an answer that is read', () => {
  it('is the beginning of an error, and no more', async () => {
    const { response, state } = flood(new TextEncoder().encode('<p>'.repeat(1000)), { status: 500, headers: { 'x-id': '1' } })
    const read = await get(response)
    expect({ status: read.status, id: read.headers.get('x-id') }).toEqual({ status: 500, id: '1' })
    expect((await read.text()).length).toBe(64 * 1024)
    expect(state.cancelled).toBe(true)
  })

  it.each([
    ['an event of many lines', 'data: x\n'.repeat(1000)],
    ['an event of one line', 'x'.repeat(64 * 1024)],
  ])('is no %s without an end', async (_label, text) => {
    const { response, state } = flood(new TextEncoder().encode(text), events)
    const read = await get(response)
    const failure = await read.text().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(FailureError)
    expect(failure).toMatchObject({ failure: { class: 'invalid_response', message: 'The server sent an event that is too long.' } })
    expect(state.cancelled).toBe(true)
    expect(state.sent).toBeLessThan(20 * 1024 * 1024)
  })

  it('are events of any number', async () => {
    const chunk = new Uint8Array(1024 * 1024)
    chunk.set(new TextEncoder().encode('data: {}\r\n\r\n'), chunk.length - 12)
    const { response, state } = flood(chunk, events)
    const reader = (await get(response)).body!.getReader()
    for (let read = 0; read < 40; read++) expect((await reader.read()).value).toBe(chunk)
    await reader.cancel()
    expect(state.cancelled).toBe(true)
  })
})

describe('an error whose body does not end', () => {
  const held = (status: number, said: string, clock: FakeClock) => {
    const state = { cancelled: false }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(said)),
      cancel() {
        state.cancelled = true
      },
    })
    const response = new Response(body, { status })
    return { state, answer: guardedFetch(async () => response, { remedies, clock })('http://127.0.0.1:9/') }
  }

  it('is reported by its status and the part that arrived in time', async () => {
    const clock = new FakeClock()
    const { answer, state } = held(401, '{"error":', clock)
    await clock.elapse(1_999)
    expect(await Promise.race([answer, 'waiting'])).toBe('waiting')
    await clock.elapse(1)
    const read = await answer
    expect([read.status, await read.text(), state.cancelled]).toEqual([401, '{"error":', true])
  })

  it('or breaks off is reported by its status, too, and leaves no timer', async () => {
    const clock = new FakeClock()
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('reset')) })
    const read = await guardedFetch(async () => new Response(body, { status: 429 }), { remedies, clock })('http://127.0.0.1:9/')
    expect([read.status, await read.text(), clock.pending]).toEqual([429, '', 0])
  })
})

it('an unassigned status stays unchanged', async () => {
  const response = Object.defineProperty(new Response('no', { status: 500 }), 'status', { value: 999 })
  expect(await get(response)).toMatchObject({ status: 999, ok: false })
})

describe('a page under the name of events', () => {
  it.each([
    ['a page', '\n <!DOCTYPE html><title>Sign in</title>', 'a web page instead of a stream of events: "Sign in"'],
    ['XML', '<Error><Code>NoSuchKey</Code></Error>', 'text/event-stream instead'],
  ])('%s is distinguished, with a remedy', async (_label, text, message) => {
    const failure = await get(new Response(text, events)).catch((error: unknown) => error)
    expect(failure).toMatchObject({ failure: { class: 'invalid_response', message: expect.stringContaining(message), remedy: 'BASE' } })
  })

  it('is reported although it does not end', async () => {
    const clock = new FakeClock()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('<html>Sign in')),
    })
    const answer = guardedFetch(async () => new Response(body, events), { remedies, clock })('http://127.0.0.1:9/')
    const failure = expect(answer).rejects.toMatchObject({ failure: { message: expect.stringContaining('"Sign in"') } })
    await clock.elapse(2_000)
    await failure
  })

  it.each(['', ': <html>\n\n', 'data: <p>\n\n'])('%j is none', async (text) => {
    expect(await (await get(new Response(text, events))).text()).toBe(text)
  })
})

describe('the end of a reply', () => {
  const marks = {
    chat: endMarkOf({ kind: 'openai-compatible', settings: {} }),
    responses: endMarkOf({ kind: 'openai', settings: {} }),
    gemini: endMarkOf({ kind: 'google', settings: {} }),
  }
  const replies = {
    chat: 'data: {"a":"[DONE]"}\n\ndata: [DONE]\n',
    responses: 'data: {"type":"x","delta":"\\"response.completed\\""}\r\n\r\ndata: {"type":"response.completed"}\r\n\r\n',
    gemini: 'data: {"candidates":[{"finishReason":null}]}\n\ndata: {"candidates":[{"finishReason":"STOP"}]}\n\n',
  }
  const kinds = ['chat', 'responses', 'gemini'] as const

  /** The reply in pieces of that many bytes; behind it `more` for as long as somebody reads, each time ten milliseconds later. */
  async function read(kind: (typeof kinds)[number], size: number, more: string | 'silence') {
    const clock = new FakeClock()
    const bytes = new TextEncoder().encode(replies[kind])
    let at = 0
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length && more === 'silence') return
        if (at >= bytes.length) clock.advance(10)
        controller.enqueue(at < bytes.length ? bytes.slice(at, at + size) : new TextEncoder().encode(more))
        at += size
      },
      cancel() {
        cancelled = true
      },
    })
    const fetched = guardedFetch(async () => new Response(body, events), { remedies, clock, endMark: marks[kind] })
    const text = (await fetched('http://127.0.0.1:9/')).text()
    let isOver = false
    text.finally(() => {
      isOver = true
    })
    while (!isOver) await clock.elapse(50)
    return { text: await text, cancelled, pending: clock.pending, waited: clock.monotonic() }
  }

  it.each(kinds.flatMap((kind) => [1, 7, 1000].map((size) => [kind, size] as const)))(
    'of %s, in pieces of %i bytes, is heard where the server keeps silent from then on',
    async (kind, size) => {
      const { text, waited, ...rest } = await read(kind, size, 'silence')
      expect([text.trim(), rest]).toEqual([replies[kind].trim(), { cancelled: true, pending: 0 }])
      expect(waited).toBeLessThan(20_000)
    },
  )

  it.each(kinds)('of %s is the end, whatever signs of life the server gives', async (kind) => {
    const { text, cancelled } = await read(kind, 1000, ': here\n\n')
    expect(text.replaceAll(': here\n\n', '')).toBe(replies[kind])
    expect(cancelled).toBe(true)
  })

  it.each(['chat', 'responses'] as const)('of %s is followed by nothing', async (kind) => {
    expect((await read(kind, 1000, 'data: {"more":1}\n\n')).text).toBe(replies[kind])
  })
})
