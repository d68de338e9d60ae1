import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { TroupeError } from '../contracts/index.ts'
import { type GatedServer, gatedServer } from './gated-server.ts'

async function server(): Promise<GatedServer> {
  const started = await gatedServer()
  onTestFinished(() => started.close())
  return started
}
const post = (url: string, body = '{}', signal?: AbortSignal): Promise<Response> =>
  fetch(url, { method: 'POST', body, ...(signal && { signal }) })

/** Reads what comes next; a test that gets nothing fails by its time limit. */
function reader({ body }: Response) {
  const chunks = body!.pipeThrough(new TextDecoderStream()).getReader()
  return {
    async until(text: string): Promise<string> {
      let seen = ''
      while (!seen.includes(text)) {
        const { done, value } = await chunks.read()
        if (done) return expect.unreachable(`ended after ${JSON.stringify(seen)}`)
        seen += value
      }
      return seen
    },
    rest: async (): Promise<string> => {
      let seen = ''
      for (let next = await chunks.read(); !next.done; next = await chunks.read()) seen += next.value
      return seen
    },
    cancel: () => chunks.cancel(),
  }
}
/** After everything that is under way on this machine has had its turns. */
const later = async <T>(value: T): Promise<T> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve))
  return value
}
const thrownBy = (action: () => void): TroupeError => {
  try {
    action()
  } catch (error) {
    return error as TroupeError
  }
  return expect.unreachable()
}

describe('replies', () => {
  test('are played in order, with their status, headers and chunks, and requests are recorded', async () => {
    const { url, reply, requests, assertDone } = await server()
    const first = reply({ chunks: [{ event: 'tick', id: '7', data: { a: 1 } }, { data: 'two\nlines' }, ': comment\n\n'] })
    reply({ status: 418, headers: { 'Content-Type': 'text/plain', 'x-kind': 'pot' }, chunks: [new Uint8Array([0x68, 0x69])] })
    const stream = await post(`${url}/v1/x?y=1`, '{"stream":true}')
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect(await stream.text()).toBe('event: tick\nid: 7\ndata: {"a":1}\n\ndata: two\ndata: lines\n\n: comment\n\n')
    expect(await first.over).toBe('whole')
    const pot = await fetch(url, { headers: { Authorization: 'Bearer k' } })
    expect([pot.status, pot.headers.get('content-type'), pot.headers.get('x-kind')]).toEqual([418, 'text/plain', 'pot'])
    expect(await pot.text()).toBe('hi')
    expect(requests).toMatchObject([
      { method: 'POST', path: '/v1/x?y=1', body: { stream: true } },
      { method: 'GET', path: '/', body: '', headers: { authorization: 'Bearer k' } },
    ])
    assertDone()
  })

  test('hold a chunk back until it is released: the first two are out, the third is not', async () => {
    const { url, reply } = await server()
    const exchange = reply({ chunks: ['one.', 'two.', { held: 'three.' }, 'four.', { held: '' }] })
    const answered = reader(await post(url))
    await exchange.sent(2)
    expect([exchange.chunksSent, exchange.bytesSent]).toEqual([2, 8])
    expect(await answered.until('two.')).toBe('one.two.')
    expect(exchange.chunksSent).toBe(2)
    exchange.release()
    await exchange.sent(4)
    expect(await answered.until('four.')).toBe('three.four.')
    exchange.release()
    expect(await answered.rest()).toBe('')
    expect(await exchange.over).toBe('whole')
  })

  test('take a release that comes before the chunk is reached', async () => {
    const { url, reply } = await server()
    const exchange = reply({ headHeld: true, chunks: [{ held: 'a' }, { held: 'b' }] })
    exchange.release(2)
    const answered = reader(await post(url))
    expect(await answered.until('a')).toBe('a')
    expect(exchange.chunksSent).toBe(1)
    exchange.release()
    expect(await answered.rest()).toBe('b')
  })

  test('hold the head back too', async () => {
    const { url, reply } = await server()
    const exchange = reply({ headHeld: true, status: 204 })
    let status: number | undefined
    const answered = post(url, '{"n":1}').then((response) => {
      status = response.status
    })
    expect((await exchange.arrived()).body).toEqual({ n: 1 })
    await later('')
    expect(status).toBeUndefined()
    exchange.release()
    await answered
    expect(status).toBe(204)
  })

  test('can be cut: what came before has arrived, the end has not', async () => {
    const { url, reply } = await server()
    const exchange = reply({ chunks: ['data: 1\n\n', 'data: 2'], ending: 'cut' })
    const answered = reader(await post(url))
    expect(await answered.until('data: 2')).toBe('data: 1\n\ndata: 2')
    await expect(answered.rest()).rejects.toThrow('terminated')
    expect(await exchange.over).toBe('cut')
  })

  test('can be cut by hand, before their head too', async () => {
    const { url, reply } = await server()
    const exchange = reply({ headHeld: true, chunks: ['never'] })
    const answered = post(url).catch((error: Error) => error.message)
    await exchange.arrived()
    exchange.cut()
    expect(await answered).toBe('fetch failed')
    expect([await exchange.over, exchange.chunksSent]).toEqual(['cut', 0])
  })

  test('can fall silent, and tell when the client has left', async () => {
    const { url, reply } = await server()
    const exchange = reply({ chunks: ['data: 1\n\n'], ending: 'silence' })
    const answered = reader(await post(url))
    await answered.until('data: 1')
    expect(await Promise.race([exchange.over, later('open')])).toBe('open')
    await answered.cancel()
    expect(await exchange.over).toBe('left')
  })

  test('tell when the client has left before the head', async () => {
    const { url, reply } = await server()
    const exchange = reply({ headHeld: true })
    const leaving = new AbortController()
    const answered = post(url, '{}', leaving.signal)
    await exchange.arrived()
    leaving.abort()
    await expect(answered).rejects.toThrow('aborted')
    expect(await exchange.over).toBe('left')
  })

  test('can be endless, no faster than they are read, until the client leaves', async () => {
    const { url, reply } = await server()
    const chunk = 'x'.repeat(1 << 20)
    const exchange = reply({ ending: { repeat: chunk, mostBytes: 1 << 30 } })
    const answered = reader(await post(url))
    await answered.until('x')
    await exchange.sent(2)
    await answered.cancel()
    expect(await exchange.over).toBe('left')
    expect(exchange.bytesSent).toBeLessThan(64 << 20)
  })

  test('are endless only up to their bound', async () => {
    const { url, reply } = await server()
    const exchange = reply({ ending: { repeat: 'abcde', mostBytes: 12 } })
    const answered = reader(await post(url))
    await expect(answered.rest()).rejects.toThrow('terminated')
    expect([exchange.chunksSent, exchange.bytesSent, await exchange.over]).toEqual([3, 15, 'cut'])
  })

  test('reject waiters for parts that can no longer arrive', async () => {
    const started = await server()
    const [played, never] = [started.reply({ chunks: ['a'] }), started.reply({})]
    const waiting = played.sent(2).catch((reason: TroupeError) => reason)
    await (await post(started.url)).text()
    expect(await waiting).toMatchObject({
      code: 'script_mismatch',
      message: 'replies[0]: chunk 2 can no longer arrive: the reply was sent whole after 1 chunk.',
    })
    const arrival = never.arrived()
    await started.close()
    await expect(arrival).rejects.toThrow('replies[1]: its request can no longer arrive: the reply was closed after 0 chunks.')
    expect(await never.over).toBe('closed')
  })
})

describe('a script that does not fit', () => {
  test('a request beyond it gets 500 and is not forgotten', async () => {
    const { url, reply, assertDone } = await server()
    reply({ chunks: ['a'] })
    await (await post(url)).text()
    const beyond = await post(`${url}/v1/more`)
    expect(beyond.status).toBe(500)
    const message = 'POST /v1/more: the script has 1 reply, this is request 2'
    expect(await beyond.json()).toEqual({ error: { type: 'script_mismatch', message } })
    expect(thrownBy(assertDone)).toMatchObject({ code: 'script_mismatch', problems: [{ place: 'requests[1]', message }] })
  })

  test('a request that its check rejects gets 500 and is not forgotten', async () => {
    const { url, reply, assertDone } = await server()
    const exchange = reply({
      check: ({ path }) => {
        if (path !== '/right') throw new Error('not the right path')
      },
    })
    expect((await post(`${url}/wrong`)).status).toBe(500)
    expect(await exchange.over).toBe('closed')
    expect(thrownBy(assertDone).problems).toEqual([{ place: 'requests[0]', message: 'POST /wrong: not the right path, this is request 1' }])
  })

  test('a reply that cannot be sent is refused where it is written, or not forgotten', async () => {
    const { url, reply, assertDone } = await server()
    expect(() => reply({ chunks: [{ data: 1n }] })).toThrow('BigInt')
    const exchange = reply({ headers: { 'x-bad': 'line\nbreak' } })
    await expect(post(url)).rejects.toThrow('fetch failed')
    expect(await exchange.over).toBe('closed')
    expect(thrownBy(assertDone).problems).toEqual([
      { place: 'replies[0]', message: 'cannot be sent: Invalid character in header content ["x-bad"]' },
    ])
  })

  test('a reply that was cut before it was asked for is cut when it is', async () => {
    const { url, reply } = await server()
    const exchange = reply({ chunks: ['never'] })
    exchange.cut()
    await expect(post(url)).rejects.toThrow('fetch failed')
    expect([await exchange.over, exchange.chunksSent]).toEqual(['cut', 0])
  })

  test('a reply that nobody asked for is named', async () => {
    const { url, reply, assertDone } = await server()
    reply({})
    reply({ status: 429, chunks: ['a', 'b'] })
    await (await post(url)).text()
    expect(thrownBy(assertDone).problems).toEqual([{ place: 'replies[1]', message: 'never asked for: status 429, 2 chunks' }])
  })
})

describe('close', () => {
  test('ends what is held and silent, can be called twice, and frees the port', async () => {
    const started = await gatedServer()
    const [silent, held] = [started.reply({ ending: 'silence' }), started.reply({ headHeld: true })]
    const answered = await post(started.url)
    const other = post(started.url).catch((error: Error) => error.message)
    await held.arrived()
    await Promise.all([started.close(), started.close()])
    await expect(answered.text()).rejects.toThrow('terminated')
    expect(await other).toBe('fetch failed')
    expect(await Promise.all([silent.over, held.over])).toEqual(['closed', 'closed'])
    await expect(post(started.url)).rejects.toThrow('fetch failed')
  })

  test('does not wait for a client that never finishes its request', async () => {
    const started = await gatedServer()
    const { port } = new URL(started.url)
    const socket = connect(Number(port), '127.0.0.1')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => undefined)
    await new Promise<void>((resolve) => socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{', () => resolve()))
    await started.close()
    await closed
    expect(started.requests).toEqual([])
  })

  test('leaves no handle open: a process that closed its server ends by itself', async () => {
    const file = pathToFileURL(`${import.meta.dirname}/gated-server.ts`).href
    const script = `
      const { gatedServer } = await import(${JSON.stringify(file)})
      const server = await gatedServer()
      const reply = server.reply({ chunks: ['a'], ending: 'silence' })
      const answered = await fetch(server.url)
      await reply.sent(1)
      await server.close()
      await answered.text().catch(() => process.stdout.write('gone'))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { timeout: 10_000 })
    expect(stdout).toBe('gone')
  })
})
