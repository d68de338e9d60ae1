import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../testing/index.ts'
import { FailureError } from '../failures/index.ts'
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

describe('what is read of an answer', () => {
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
    expect(failure).toMatchObject({ failure: { class: 'invalid_response', message: 'The server sent an event that did not stop.' } })
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
