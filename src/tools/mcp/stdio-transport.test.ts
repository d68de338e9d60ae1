import { PassThrough } from 'node:stream'
import { Client } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FakeClock } from '../../testing/index.ts'
import { maxMessagesPerSecond } from './mcp-limits.ts'
import { StdioTransport } from './stdio-transport.ts'

function stage() {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const clock = new FakeClock()
  const ended = Promise.withResolvers<string>()
  stdin.once('finish', () => ended.resolve('exit code 0'))
  const serverProcess = {
    pid: 1,
    stdin,
    stdout,
    errors: () => '',
    ended: ended.promise,
    terminate: () => {},
    kill: () => ended.resolve(''),
  }
  const texts: string[] = []
  const events = { onOversized: () => {}, onBytes: () => {}, onText: (line: string) => texts.push(line) }
  return { stdin, stdout, clock, texts, transport: new StdioTransport(serverProcess, { clock, events }) }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

it('splits lines wherever chunks begin and end', async () => {
  const { stdout, transport } = stage()
  const received: unknown[] = []
  transport.onmessage = (message) => received.push(message)
  await transport.start()
  const messages = Array.from({ length: 50 }, (_, id) => ({ jsonrpc: '2.0', id, result: { text: `ü${'x'.repeat(id)}` } }))
  const bytes = Buffer.from(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  for (let at = 0; at < bytes.length; at += 7) stdout.write(bytes.subarray(at, at + 7))
  await settled()
  expect(received).toEqual(messages)
})

it('reads at most so many messages a second, and loses none', async () => {
  const { stdout, transport, clock } = stage()
  let count = 0
  transport.onmessage = () => count++
  await transport.start()
  stdout.write('{"jsonrpc":"2.0","method":"x"}\n'.repeat(5_000))
  await settled()
  expect(count).toBe(maxMessagesPerSecond + 1)
  for (let second = 0; second < 3; second++) {
    clock.advance(1_000)
    await settled()
  }
  expect(count).toBe(5_000)
})

/** What a broken server could send: wrong types, wrong ids, cut and changed messages. */
const frames = fc.oneof(
  fc.json(),
  fc.string(),
  fc.record({ jsonrpc: fc.constant('2.0'), id: fc.jsonValue(), result: fc.jsonValue() }).map((value) => JSON.stringify(value)),
  fc.record({ jsonrpc: fc.constant('2.0'), id: fc.jsonValue(), error: fc.jsonValue() }).map((value) => JSON.stringify(value)),
  fc
    .record({
      jsonrpc: fc.constant('2.0'),
      id: fc.option(fc.integer(), { nil: undefined }),
      method: fc.constantFrom(
        'ping',
        'roots/list',
        'notifications/progress',
        'notifications/message',
        'sampling/createMessage',
        'nonsense',
      ),
      params: fc.jsonValue(),
    })
    .map((value) => JSON.stringify(value)),
)

it('10,000 frames of nonsense do no harm: the next request is answered', async () => {
  const { stdin, stdout, transport, clock } = stage()
  stdin.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) {
      const { id, method } = JSON.parse(line)
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } }
      if (method === 'initialize') stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
      if (method === 'ping') stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n`)
    }
  })
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { roots: {}, sampling: {} } })
  client.onerror = () => {}
  await client.connect(transport)
  const sent = fc.sample(frames, { numRuns: 10_000, seed: 13 })
  for (let at = 0; at < sent.length; at += 1_000) {
    stdout.write(`${sent.slice(at, at + 1_000).join('\n')}\n`)
    await settled()
    clock.advance(1_000)
    await settled()
  }
  await expect(client.ping()).resolves.toEqual({})
  await client.close()
})
