import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gate } from '../../src/testing/index.ts'
import { localToken, type Served, serve } from './support.ts'

// Clients that want to take the server down. An honest client is answered meanwhile.

let served: Served
const sockets: Socket[] = []
beforeAll(async () => {
  served = await serve({ server: { maxBodyBytes: 1_000_000 }, listen: { headersTimeout: 500 } })
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await served.close()
})

const port = (): number => Number(new URL(served.url).port)

function opened(text: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port(), '127.0.0.1', () => socket.write(text, () => resolve(socket)))
    // The server may cut it.
    socket.on('error', reject)
    sockets.push(socket)
  })
}

/** Everything that the server sends until it closes. */
function answerTo(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port(), '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', () => resolve(answer))
    socket.on('close', () => resolve(answer))
    sockets.push(socket)
  })
}

async function honestRequests(count: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let index = 0; index < count; index++) {
    const started = performance.now()
    const response = await served.fetch('/v1/echo?q=hello')
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ text: 'hello' })])
    times.push(performance.now() - started)
  }
  return times
}

describe('an honest client is answered', () => {
  test('while 1,000 connections send their heads slowly; they are cut', async () => {
    const slow = await Promise.all(Array.from({ length: 1_000 }, () => opened('GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ')))
    const closed = slow.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    for (const socket of slow)
      socket
        .removeAllListeners('error')
        .on('error', () => {})
        .resume()
    const times = await honestRequests(20)
    console.log(`slowloris: the slowest of 20 honest requests took ${Math.max(...times).toFixed(0)} ms`)
    await Promise.all(closed)
  })

  test('while 20 clients announce or send 50 MB', async () => {
    const head = `POST /v1/echo HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${localToken}\r\ncontent-type: application/json\r\n`
    const announced = await Promise.all(
      Array.from({ length: 10 }, () => answerTo(`${head}content-length: 52428800\r\nconnection: close\r\n\r\n{`)),
    )
    expect(announced.filter((answer) => answer.startsWith('HTTP/1.1 413'))).toHaveLength(10)
    const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`
    const sent = await Promise.all(
      Array.from({ length: 10 }, () => answerTo(`${head}transfer-encoding: chunked\r\nconnection: close\r\n\r\n${chunk.repeat(32)}`)),
    )
    expect(sent.filter((answer) => answer.startsWith('HTTP/1.1 413'))).toHaveLength(10)
    await honestRequests(5)
  })

  test('after floods of headers and wrong requests', async () => {
    const headers = Array.from({ length: 2_000 }, (_, index) => `x-${index}: ${'v'.repeat(20)}\r\n`).join('')
    expect(await answerTo(`GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n`)).toMatch(/^HTTP\/1\.1 431/)
    expect(await answerTo('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400/)
    expect(await answerTo('GET /health HTTP/1.1\r\nhost: a\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 40[03]/)
    expect(await answerTo(`GET /${'a'.repeat(10_000)} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 4/)
    expect(await answerTo('GET http://evil.example/health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n')).not.toMatch(/evil/)
    await honestRequests(3)
    expect(served.errors).toEqual([])
  })
})

test('readers that leave in the middle of a stream leave nothing behind', async () => {
  const held = gate()
  const model = {
    id: 'scripted/model',
    abilities: ['tools'] as const,
    async *stream() {
      yield { type: 'text', text: 'begins' } as const
      await held.promise
      yield { type: 'finish', reason: 'stop' } as const
    },
  }
  const other = await serve({
    model,
    agents: [{ name: 'slow', description: 'Waits.', prompt: 'Wait.', model: 'scripted/model', tools: [] }],
  })
  const started = (await (await other.fetch('/v1/sessions', { json: { input: 'x' } })).json()) as { sessionId: string }
  const path = `/v1/sessions/${started.sessionId}/events`
  for (let index = 0; index < 100; index++) {
    const leaving = new AbortController()
    const response = await other.fetch(path, { headers: { accept: 'text/event-stream' }, signal: leaving.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    leaving.abort()
    await reader?.read().catch(() => {})
  }
  // This one has left before its stream begins: nobody reads it, and nobody cancels it.
  const headers = { host: '127.0.0.1', authorization: `Bearer ${localToken}`, accept: 'text/event-stream' }
  await other.headends.fetch(new Request(`${other.url}${path}`, { headers, signal: AbortSignal.abort() }))
  held.open()
  expect(await other.runtime.sessions.outcome(started.sessionId)).toMatchObject({ status: 'completed' })
  // Each of them has its line in the log: its stream was released.
  await expect.poll(() => other.log.filter(({ route }) => route?.endsWith('/events')).length).toBe(101)
  await other.close()
})
