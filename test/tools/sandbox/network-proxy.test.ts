import { createServer, request, type Server } from 'node:http'
import { connect, createServer as createRawServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isAllowedAddress, isAllowedHost, type NetworkProxy, networkProxy, passedOn } from '../../../src/tools/sandbox/network-proxy.ts'

describe('the hosts of a policy', () => {
  it.each([
    ['example.com', 'example.com', true],
    ['example.com', 'EXAMPLE.com.', true],
    ['example.com', 'www.example.com', false],
    ['example.com', 'example.com.evil.org', false],
    ['*.example.com', 'www.example.com', true],
    ['*.example.com', 'a.b.example.com', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'evilexample.com', false],
    ['*.0.0.1', '127.0.0.1', false],
    ['*.0.0.1', '127.0.0.1.', false],
    ['127.0.0.1', '127.0.0.1', true],
    ['[::1]', '::1', true],
    ['example.com', '', false],
  ])('%j and %j: %j', (pattern, host, isAllowed) => {
    expect(isAllowedHost([pattern], host)).toBe(isAllowed)
  })

  it.each([
    ['127.0.0.1'],
    ['10.1.2.3'],
    ['172.16.0.1'],
    ['192.168.1.1'],
    ['169.254.169.254'],
    ['100.64.0.1'],
    ['0.0.0.0'],
    ['224.0.0.1'],
    ['198.18.0.1'],
    ['198.51.100.7'],
    ['203.0.113.1'],
    ['192.88.99.1'],
    ['2001:0:1::1'],
    ['::'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['::ffff:7f00:1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::'],
    ['fe80::1'],
    ['fd00::1'],
    ['ff02::1'],
  ])('do not lead to %s by another name', (address) => {
    expect(isAllowedAddress('example.com', address, ['*.example.com'])).toBe(false)
    expect(isAllowedAddress(address, address, [])).toBe(true)
    expect(isAllowedAddress('example.com', address, ['example.com'])).toBe(true)
  })

  it.each([['93.184.216.34'], ['172.32.0.1'], ['100.128.0.1'], ['2606:2800:220:1::1']])('lead to %s', (address) => {
    expect(isAllowedAddress('example.com', address, [])).toBe(true)
  })
})

describe('the proxy', () => {
  let server: Server
  let proxy: NetworkProxy
  afterEach(() => {
    proxy.close()
    server.close()
  })

  const open = async (hosts: readonly string[], addresses: readonly string[] = ['127.0.0.1'], privateHosts: readonly string[] = []) => {
    server = createServer((incoming, response) => response.end(`${incoming.method} ${incoming.url} ${incoming.headers.host}`))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    proxy = networkProxy({ hosts, privateHosts, resolve: async () => addresses, ports: [port] })
    return port
  }
  const front = createRawServer({ allowHalfOpen: true }, (client) => proxy.accept(client))
  beforeAll(() => new Promise<void>((done) => front.listen(0, '127.0.0.1', done)))
  afterAll(() => {
    front.close()
  })
  const connected = (): Socket => connect((front.address() as { port: number }).port, '127.0.0.1')
  const ask = (url: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = request({ createConnection: connected, path: url, headers: { host: 'ignored' } }, (answer) => {
        let text = `${answer.statusCode} `
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        answer.on('end', () => resolve(text))
      })
      asked.on('error', reject).end()
    })
  const tunnel = (target: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connected()
      let text = ''
      socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        if (text === '' && chunk.includes(' 200 ')) socket.write('GET /inside HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
        text += chunk
      })
      socket.on('close', () => resolve(text))
    })

  it('forwards to a listed host, with its real name', async () => {
    const port = await open(['127.0.0.1'])
    expect(await ask(`http://127.0.0.1:${port}/a?b=c`)).toBe(`200 GET /a?b=c 127.0.0.1:${port}`)
    expect(await tunnel(`127.0.0.1:${port}`)).toMatch(/200 Connection established[\s\S]*GET \/inside x/)
    expect(proxy.refused).toEqual([])
  })

  it('refuses other hosts and other ports, and records them', async () => {
    const port = await open(['127.0.0.1'])
    expect(await ask(`http://evil.test:${port}/`)).toMatch(/^403 evil\.test:\d+ is not listed in sandbox\.hosts/)
    expect(await tunnel(`evil.test:${port}`)).toContain('403 Forbidden')
    expect(await tunnel('127.0.0.1:22')).toContain('403 Forbidden')
    // No host has such a name: it would only fill the record.
    expect(await tunnel(`${'a'.repeat(254)}:${port}`)).toContain('400 Bad Request')
    expect(proxy.refused).toEqual([
      `evil.test:${port} is not listed in sandbox.hosts`,
      `127.0.0.1:22 is listed in sandbox.hosts, but only ports ${port} can be reached`,
    ])
  })

  it('refuses a name that resolves to a private address, unless it is listed as one that may', async () => {
    const port = await open(['rebound.test'], ['127.0.0.1', '169.254.169.254'], ['other.test'])
    const why = `rebound.test:${port} resolves to a private address; sandbox.privateHosts has to list it, too`
    expect(await ask(`http://rebound.test:${port}/`)).toBe(`403 ${why}.\n`)
    expect(await tunnel(`rebound.test:${port}`)).toContain('403 Forbidden')
    expect(proxy.refused).toEqual([why])
  })

  it('forwards to a private address where the name is listed as one that may resolve to it', async () => {
    const port = await open(['inner.test'], ['127.0.0.1'], ['*.test'])
    expect(await ask(`http://inner.test:${port}/a`)).toBe(`200 GET /a inner.test:${port}`)
    expect(await tunnel(`inner.test:${port}`)).toContain('GET /inside')
    expect(await ask(`http://other.test:${port}/`)).toMatch(/^403 other\.test:\d+ is not listed in sandbox\.hosts/)
  })

  /** What comes back for bytes, from a server that answers with bytes. */
  const raw = async (asked: (port: number) => string, answer: string): Promise<string> => {
    const upstream = createRawServer((client) => {
      client.on('error', () => {})
      client.once('data', () => client.end(answer))
    })
    await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
    const { port } = upstream.address() as { port: number }
    server = createServer()
    proxy = networkProxy({ hosts: ['127.0.0.1'], ports: [port] })
    const text = await new Promise<string>((resolve) => {
      const socket = connected()
      let heard = ''
      socket.write(asked(port))
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        heard += chunk
      })
      socket.on('close', () => resolve(heard))
    })
    upstream.close()
    return text
  }
  const get = (more: string) => (port: number) => `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n${more}Connection: close\r\n\r\n`
  const fine = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

  const answered = (status: string) => `HTTP/1.1 ${status} x\r\nContent-Length: 0\r\n\r\n`
  it.each([
    { what: 'a header about what follows the body', more: 'Trailer: x\r\n', heard: /^HTTP\/1\.1 200 [\s\S]*ok$/ },
    { what: 'another protocol', more: 'Upgrade: x\r\n', heard: /^HTTP\/1\.1 200 / },
    { what: 'an expectation', more: 'Expect: everything\r\n', heard: /^HTTP\/1\.1 417 / },
    { what: 'a body that is wrapped up', more: 'Transfer-Encoding: gzip, chunked\r\n', heard: /^HTTP\/1\.1 501 / },
    {
      what: 'an answer with such a header',
      answer: 'HTTP/1.1 200 OK\r\nTrailer: a\r\nContent-Length: 0\r\n\r\n',
      heard: /^HTTP\/1\.1 200 (?![\s\S]*trailer)/i,
    },
    { what: 'status 000', answer: answered('000'), heard: /^HTTP\/1\.1 502 / },
    { what: 'status 099', answer: answered('099'), heard: /^HTTP\/1\.1 502 / },
    { what: 'status 999', answer: answered('999'), heard: /^HTTP\/1\.1 502 / },
    {
      what: 'an answer in another protocol',
      answer: 'HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      heard: /^HTTP\/1\.1 502 /,
    },
    { what: 'an answer that breaks off', answer: fine.replace('2\r', '20\r'), heard: /^HTTP\/1\.1 200 / },
    { what: 'no answer', answer: '', heard: /^HTTP\/1\.1 502 / },
  ])('survives $what', async ({ more = '', answer = fine, heard }) => {
    expect(await raw(get(more), answer)).toMatch(heard)
  })

  it('forwards no header of one connection only', () => {
    const headers = {
      connection: 'X-Own, content-length',
      'x-own': '1',
      'keep-alive': '5',
      te: 'trailers',
      'content-length': '2',
      accept: '*',
    }
    expect(passedOn(headers)).toEqual({ 'content-length': '2', accept: '*' })
  })

  it('answers invalid requests, and closes its connections', async () => {
    await open(['127.0.0.1'])
    expect(await ask('/not-a-proxy-request')).toMatch(/^400 /)
    expect(await ask('ftp://127.0.0.1/')).toMatch(/^400 /)
    expect(await tunnel('//')).toMatch(/ 40[03] /)
    const client = connected()
    client.on('error', () => {})
    const closed = new Promise((resolve) => client.once('close', resolve))
    await new Promise((resolve) => front.once('connection', resolve))
    proxy.close()
    await closed
  })
})
