import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { gate } from '../../../src/testing/index.ts'
import { type Answer, failureOf, page, quoted, redirect, site, socketSite } from './site.ts'

const plain = { 'content-type': 'text/plain' }
const packed = (encoding: string) => ({ ...plain, 'content-encoding': encoding })
const zeros = Buffer.alloc(50_000_000, '0')

/** Writes for as long as somebody reads; `left` opens when nobody does. */
const endless =
  (chunk: Uint8Array, headers: { readonly [name: string]: string }, left = gate()): Answer =>
  (_request, response) => {
    response.writeHead(200, headers)
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', write)
    response.on('close', () => left.open())
    write()
  }

describe('bodies', () => {
  it('without an end are cut, and the connection with them', async () => {
    const left = gate()
    const web = await site({ '/': endless(Buffer.alloc(10_000, 'x'), plain, left) })
    const output = await web.fetch('/')
    expect(quoted(output)).toBe('x'.repeat(1_000_000))
    await left.promise
  })

  it.each([
    ['gzip', gzipSync(zeros)],
    ['br', brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ['zstd', zstdCompressSync(zeros)],
  ])('that unpack to a thousand times their size are cut: %s', async (encoding, bytes) => {
    expect(bytes.length).toBeLessThan(zeros.length / 500)
    const web = await site({ '/': page(bytes, packed(encoding)) })
    const before = process.memoryUsage.rss()
    expect(quoted(await web.fetch('/', { input: { maxBytes: 200_000 } }))).toBe('0'.repeat(200_000))
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 * 1024)
  })

  it('that never end and unpack to nothing are left', async () => {
    const web = await site({ '/': endless(gzipSync(''), packed('gzip')) })
    expect(failureOf(await web.fetch('/', { input: { maxBytes: 1_000 } }))).toBe(
      `network: 127.0.0.1:${web.port} cannot be reached: the compressed response is too long.`,
    )
  })

  it('with a window larger than HTTP allows are refused', async () => {
    const noise = Buffer.from(Array.from({ length: 20_000 }, (_, index) => `${index * 7_919}`).join(' '))
    const bytes = zstdCompressSync(Buffer.concat(Array.from({ length: 150 }, () => noise)), {
      params: { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_enableLongDistanceMatching]: 1, [constants.ZSTD_c_contentSizeFlag]: 0 },
    })
    const web = await site({ '/': page(bytes, packed('zstd')) })
    expect(failureOf(await web.fetch('/', { input: { maxBytes: 5_000_000 } }))).toMatch(/^network: .*Frame requires too much memory/)
  })

  it.each([
    { what: 'are no gzip', body: 'not packed', encoding: 'gzip', expected: 'its response is damaged' },
    {
      what: 'end too early',
      body: gzipSync('x'.repeat(1_000)).subarray(0, 15),
      encoding: 'gzip',
      expected: 'its response ended too early',
    },
    { what: 'are packed in an unknown way', body: 'x', encoding: 'lzma', expected: 'the response has an unsupported content encoding' },
    { what: 'are packed twice', body: 'x', encoding: 'gzip, gzip', expected: 'the response has an unsupported content encoding' },
  ])('that $what are reported as such', async ({ body, encoding, expected }) => {
    const web = await site({ '/': page(body, packed(encoding)) })
    expect(failureOf(await web.fetch('/'))).toBe(`network: 127.0.0.1:${web.port} cannot be reached: ${expected}.`)
  })

  it('that break off are reported as such', async () => {
    const web = await site({
      '/': (_request, response) => {
        response.writeHead(200, { ...plain, 'content-length': '100' }).write('half')
        response.socket?.end()
      },
    })
    expect(failureOf(await web.fetch('/'))).toMatch(/cannot be reached: (?:the connection was reset|its response ended too early)\.$/)
  })
})

describe('servers', () => {
  it.each([
    ['speak something else', 'SSH-2.0-OpenSSH\r\n', /^network: .*Parse Error/],
    ['send a head without end', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`, /its response headers are too large\.$/],
    ['want to switch', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', /another protocol\.$/],
    ['send two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', /^network: .*Parse Error/],
  ])('that %s are reported as such', async (_what, bytes, expected) => {
    const web = await socketSite((socket) => socket.on('data', () => socket.write(bytes)))
    expect(failureOf(await web.fetch('/'))).toMatch(expected)
  })

  it('that hang up, or are not there', async () => {
    const web = await socketSite((socket) => socket.on('data', () => socket.destroy()))
    expect(failureOf(await web.fetch('/'))).toBe(`network: 127.0.0.1:${web.port} cannot be reached: the connection was reset.`)
    const options = { allowPrivate: ['127.0.0.1:9'], lookup: async () => [] }
    expect(failureOf(await web.fetch('http://nowhere.test/', { options }))).toBe(
      'network: nowhere.test cannot be reached: the host name does not exist.',
    )
  })

  it('that do not speak TLS', async () => {
    const web = await site({ '/': page('x') })
    expect(failureOf(await web.fetch(`https://127.0.0.1:${web.port}/`))).toMatch(/^network: /)
  })
})

describe('redirects', () => {
  it('go round five times at most', async () => {
    const web = await site({ '/': redirect('/'), '/a': redirect('/b'), '/b': redirect('/a') })
    expect(failureOf(await web.fetch('/'))).toBe('failed: The page redirects more than 5 times.')
    expect(failureOf(await web.fetch('/a'))).toBe('failed: The page redirects more than 5 times.')
    expect(web.asked.length).toBe(12)
  })

  it.each([
    ['http://169.254.169.254/latest/meta-data/', 'blocked: The page redirects to another host: http://169.254.169.254/latest/meta-data/'],
    ['https://example.com/x', 'blocked: The page redirects to another host: https://example.com/x'],
    ['file:///etc/passwd', 'invalid_input: The page redirects. URLs that begin with file: cannot be fetched.'],
    ['http://me:secret@127.0.0.1/', 'invalid_input: The page redirects. The URL contains a user name or password.'],
    ['http://127.0.0.1:22/', 'blocked: The page redirects. Port 22 is not allowed.'],
    ['http://[', 'invalid_input: The page redirects. This is not a URL.'],
  ])('are not followed to %s', async (location, expected) => {
    const web = await site({ '/': redirect(location) })
    expect(failureOf(await web.fetch('/'))).toBe(expected)
  })

  it('lead to another port only with a call of their own', async () => {
    const inner = await site({ '/': page('secret') })
    const web = await site({ '/': redirect(`${inner.origin}/`) })
    const options = { allowPrivate: [`127.0.0.1:${web.port}`, `127.0.0.1:${inner.port}`] }
    expect(failureOf(await web.fetch('/', { options }))).toBe(`blocked: The page redirects to another host: ${inner.origin}/`)
    expect(inner.asked).toEqual([])
  })

  it('are followed between a host and its www, each looked at by itself', async () => {
    const pages: { [path: string]: Answer } = { '/end': page('there', plain) }
    const web = await site(pages)
    pages['/'] = redirect(`http://www.site.test:${web.port}/end`)
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
    const both = [`site.test:${web.port}`, `www.site.test:${web.port}`]
    const start = `http://site.test:${web.port}/`
    expect(quoted(await web.fetch(start, { options: { allowPrivate: both, lookup } }))).toBe('there')
    expect(failureOf(await web.fetch(start, { options: { allowPrivate: both.slice(0, 1), lookup } }))).toBe(
      'blocked: www.site.test is not a public address.',
    )
    expect(web.asked).toEqual(['/', '/end', '/'])
  })
})

describe('names', () => {
  it('that mean a machine nearby are refused before anything is sent', async () => {
    const web = await site({ '/': page('secret') })
    const url = `http://innocent.test:${web.port}/`
    for (const addresses of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::ffff:127.0.0.1'], ['::1'], ['fe80::1%lo']]) {
      const lookup = async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
      expect(failureOf(await web.fetch(url, { options: { lookup } }))).toBe('blocked: innocent.test is not a public address.')
    }
    expect(web.asked).toEqual([])
  })

  it('are looked up once: the address that was looked at is the one that is asked', async () => {
    const web = await site({ '/': page('here', plain) })
    const answers = ['127.0.0.1', '127.0.0.2']
    const lookup = async () => [{ address: answers.shift() ?? '', family: 4 }]
    const options = { allowPrivate: [`site.test:${web.port}`], lookup }
    expect(quoted(await web.fetch(`http://site.test:${web.port}/`, { options }))).toBe('here')
    expect(answers).toEqual(['127.0.0.2'])
  })

  it.each(['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f000001', '0', '[::1]', '[::ffff:7f00:1]', 'localhost.'])(
    'of this machine are refused in any writing: %s',
    async (host) => {
      const web = await site({ '/': page('secret') })
      const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
      const options = { allowPrivate: [], lookup }
      expect(failureOf(await web.fetch(`http://${host}:${web.port}/`, { options }))).toMatch(/^blocked: .* is not a public address/)
      expect(web.asked).toEqual([])
    },
  )

  it('are allowed with their port alone', async () => {
    const web = await site({ '/': page('here', plain) })
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
    const allowed = (allowPrivate: string[]) => web.fetch(`http://LAB.test:${web.port}/`, { options: { allowPrivate, lookup } })
    expect(failureOf(await allowed(['lab.test']))).toMatch(/^blocked/)
    expect(failureOf(await allowed(['lab.test:80']))).toMatch(/^blocked/)
    expect(quoted(await allowed([`Lab.test:${web.port}`]))).toBe('here')
  })
})
