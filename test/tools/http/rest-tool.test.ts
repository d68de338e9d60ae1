// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { describe, expect, it } from 'vitest'
import type { RestToolDefinition, ToolOutput } from '../../../src/contracts/index.ts'
import { FakeClock, gate, toolContract } from '../../../src/testing/index.ts'
import { addressFilter, resolveWithSystem } from '../../../src/tools/builtin/web-fetch/address-filter.ts'
import { FetchTimeouts } from '../../../src/tools/builtin/web-fetch/fetch-page.ts'
import { buildRequest } from '../../../src/tools/http/build-request.ts'
import { noCredentials } from '../../../src/tools/http/credentials.ts'
import { restTool } from '../../../src/tools/http/index.ts'
import { send } from '../../../src/tools/http/send.ts'
import { failureOf, quoted, redirect, site } from '../web-fetch/site.ts'
import { call, startApi } from './api.ts'

const { api, requests } = await startApi()

const hidden = 'very-secret-value'

describe('a REST tool', () => {
  const lookUp = restTool('look_up', {
    description: 'Looks up a user.',
    url: `${api.origin}/users/{id}?part={part}`,
    parameters: {
      part: { type: 'string' },
      tags: { type: 'array', items: { type: 'string' } },
      'X-Trace': { type: 'string', in: 'header' },
    },
    headers: { 'X-Team': 'research' },
    auth: { bearer: '${TOKEN}' },
  })
  for (const { name, run } of toolContract(lookUp, {
    good: { id: '7', part: 'a' },
    bad: { id: '..', part: 'a' },
    context: { overlay: { TOKEN: hidden } },
  }))
    it(name, run)

  it('sends path, query and headers', async () => {
    const input = { id: 'a/b ?', part: 'x&y', tags: ['p', 'q'], 'X-Trace': 't1' }
    const output = await call(lookUp, input, { TOKEN: hidden })
    expect(requests.at(-1)).toMatchObject({
      method: 'GET',
      url: '/users/a%2Fb%20%3F?part=x%26y&tags=p&tags=q',
      headers: { 'x-team': 'research', 'x-trace': 't1', authorization: `Bearer ${hidden}` },
    })
    expect(quoted(output)).toBe('{"id": 12345678901234567890}')
    expect(lookUp).toMatchObject({ effect: 'read', concurrency: 'shared', timeoutMs: 35_000 })
  })

  it.each([
    [{ basic: { user: '${WHO}', password: '${TOKEN}' } }, '/echo', { authorization: `Basic ${btoa(`ann:${hidden}`)}` }],
    [{ header: { name: 'X-Key', value: '${TOKEN}' } }, '/echo', { 'x-key': hidden }],
    [{ query: { name: 'key', value: '${TOKEN}' } }, `/echo?key=${hidden}`, {}],
    [{ bearer: '${NONE:-fallback-token}' }, '/echo', { authorization: 'Bearer fallback-token' }],
  ])('authenticates by %j and hides what the server repeats', async (auth, url, headers) => {
    const tool = restTool('echo', { description: 'Echo.', url: `${api.origin}/echo`, auth })
    const output = await call(tool, {}, { TOKEN: hidden, WHO: 'ann' })
    expect(requests.at(-1)).toMatchObject({ url, headers })
    expect(output.ok).toBe(true)
    for (const secret of [hidden, btoa(`ann:${hidden}`), 'fallback-token']) expect(JSON.stringify(output)).not.toContain(secret)
    expect(JSON.stringify(await tool.approval?.({}))).not.toContain(hidden)
  })

  it('takes a variable of the session before that of the configuration, and fails without one', async () => {
    const definition: RestToolDefinition = { description: 'Echo.', url: `${api.origin}/echo`, headers: { 'X-A': '${A}' } }
    await call(restTool('echo', definition, { variables: { A: 'configured' } }), {})
    expect(requests.at(-1)?.headers['x-a']).toBe('configured')
    await call(restTool('echo', definition, { variables: { A: 'configured' } }), {}, { A: 'own' })
    expect(requests.at(-1)?.headers['x-a']).toBe('own')
    const count = requests.length
    expect(failureOf(await call(restTool('echo', definition), {}))).toBe('config: The tool needs the variable A, which is not set.')
    expect(requests.length).toBe(count)
  })

  it('posts a body as JSON, and is a write that asks for its host', async () => {
    const tool = restTool('create', {
      description: 'Creates.',
      method: 'POST',
      url: `${api.origin}/users`,
      parameters: { name: { type: 'string', required: true }, dry: { type: 'boolean', in: 'query' } },
    })
    expect([tool.effect, tool.concurrency]).toEqual(['write', 'exclusive'])
    expect(tool.inputSchema).toEqual({
      type: 'object',
      properties: { name: { type: 'string' }, dry: { type: 'boolean' } },
      required: ['name'],
      additionalProperties: false,
    })
    await call(tool, { name: 'Ann', dry: true })
    expect(requests.at(-1)).toMatchObject({ method: 'POST', url: '/users?dry=true', body: '{"name":"Ann"}' })
    expect(await tool.approval?.({ name: 'Ann' })).toMatchObject({
      summary: `POST ${api.origin}/users`,
      keys: [{ key: 'api:create:write:create', use: `127.0.0.1:${api.port}`, tools: ['web_fetch'] }],
    })
  })

  it.each([
    ['data.items[*].id', [1, 2]],
    ['$.data.total', 2],
  ])('selects %s', async (result, value) => {
    const tool = restTool('list', { description: 'Lists.', url: `${api.origin}/list`, result })
    expect(await call(tool, {})).toMatchObject({ ok: true, value })
  })

  it('keeps large integers exact, as strings where JavaScript has no such number', async () => {
    const value = ['12345678901234567890', '-9007199254740993', 9007199254740992, 7, 0.1]
    const at = (more: Partial<RestToolDefinition>) => call(restTool('t', { description: 'T.', url: `${api.origin}/large`, ...more }), {})
    expect(await at({ result: 'ids' })).toMatchObject({ value, content: expect.stringContaining(JSON.stringify(value)) })
    expect(await at({ result: 'ids', pagination: { by: 'cursor', parameter: 'c', next: 'next' } })).toMatchObject({ value })
    expect(await at({})).toMatchObject({ value: { ids: value, next: null }, content: expect.stringContaining('[12345678901234567890,') })
  })

  it.each([
    ['/list', 'none.here', 'failed: The response has nothing at `none.here`.'],
    ['/html', 'a', `failed: The response of 127.0.0.1:${api.port} is not JSON but text/html.`],
    ['/busy', undefined, `failed: 127.0.0.1:${api.port} answered with status 503.`],
    ['/denied', undefined, `auth: 127.0.0.1:${api.port} answered with status 401.`],
    ['/big', 'a', `failed: The response of 127.0.0.1:${api.port} is longer than 1000000 bytes.`],
    ['/drop', undefined, `network: 127.0.0.1:${api.port} cannot be reached: the connection was reset.`],
    ['/cut', undefined, expect.stringMatching(/^network: /)],
    ['/loop', undefined, 'failed: The server redirects more than 5 times.'],
  ])('fails at %s', async (path, result, expected) => {
    const tool = restTool('t', { description: 'T.', url: `${api.origin}${path}`, ...(result && { result }) })
    const output = await call(tool, {})
    expect(failureOf(output)).toEqual(expected)
    expect((output as { partial?: string }).partial?.length ?? 0).toBeLessThan(1_300)
  })

  it('shows the beginning of an error, a long text, HTML and no body', async () => {
    const at = (path: string, method: 'GET' | 'HEAD' = 'GET') =>
      call(restTool('t', { description: 'T.', method, url: `${api.origin}${path}` }), {})
    expect(await at('/busy')).toMatchObject({
      partial: expect.stringContaining('try later'),
      error: { remedy: 'Try again after 7 seconds.' },
    })
    const { content } = (await at('/big')) as Extract<ToolOutput, { ok: true }>
    expect(content).toContain('Only the first 1000000 bytes were read. Ask for less.')
    expect(quoted(await at('/html'))).toBe('# Hello')
    expect(await at('/none')).toMatchObject({ content: `${api.origin}/none (204)\nThe response has no body.` })
    expect(await at('/list', 'HEAD')).toMatchObject({ content: expect.stringContaining('content-type: application/json') })
  })

  it('ends at its time limit', async () => {
    const clock = new FakeClock()
    const asked = gate()
    const slow = await site({ '/': () => asked.open() })
    const tool = restTool('slow', { description: 'S.', method: 'POST', url: `${slow.origin}/`, timeout: '2s' }, { clock })
    const output = call(tool, {})
    await asked.promise
    clock.advance(2_000)
    expect(await output).toEqual({
      ok: false,
      error: {
        class: 'timeout',
        message: 'The response did not arrive within 2 seconds.',
        remedy: 'The request may have had an effect. Check that before you repeat the call.',
      },
    })
    expect(clock.pending).toBe(0)
  })
})

describe('redirects', () => {
  it('keep credentials on the same server', async () => {
    await call(restTool('t', { description: 'T.', url: `${api.origin}/moved`, auth: { query: { name: 'key', value: hidden } } }), {})
    expect(requests.at(-1)).toMatchObject({ url: `/echo?key=${hidden}` })
  })

  it('to another host are refused, or followed without credentials if it is listed', async () => {
    const seen: unknown[] = []
    const other = await site({
      '/': (request, response) => {
        seen.push([request.url, request.headers.authorization, request.headers['x-team'], request.headers['x-trace']])
        response.writeHead(200, { 'content-type': 'text/plain' }).end('elsewhere')
      },
    })
    const first = await site({ '/': redirect(`${other.origin}/`, 307) })
    const definition: RestToolDefinition = {
      description: 'T.',
      url: `${first.origin}/`,
      parameters: { 'X-Trace': { in: 'header' } },
      headers: { 'X-Team': 'a' },
      auth: { bearer: hidden },
    }
    const host = `127.0.0.1:${other.port}`
    expect(failureOf(await call(restTool('t', definition), {}))).toBe(`blocked: The server redirects to another host: ${host}`)
    // Only the host of the definition may be private.
    const listed = { ...definition, redirects: [host] }
    expect(failureOf(await call(restTool('t', listed), { 'X-Trace': 't' }))).toBe('blocked: 127.0.0.1 is not a public address.')
    expect(seen).toEqual([])
    const built = buildRequest(
      { method: 'GET', url: `${first.origin}/`, parameters: [{ property: 't', name: 'X-Trace', in: 'header' }] },
      { t: 't' },
    )
    const sent = await send((built as Extract<typeof built, { ok: true }>).request, {
      credentials: { ...noCredentials, headers: { authorization: hidden, 'x-team': 'a' }, query: [['key', hidden]] },
      addresses: addressFilter([`127.0.0.1:${first.port}`, host], resolveWithSystem),
      timeouts: new FetchTimeouts(new AbortController().signal, { clock: new FakeClock(), totalMs: 1, idleMs: 1 }),
      redirects: [host],
      maxBytes: 100,
    })
    expect([sent.ok, seen]).toEqual([true, [['/', undefined, undefined, undefined]]])
  })

  it('of a write are not followed', async () => {
    const tool = restTool('t', { description: 'T.', method: 'DELETE', url: `${api.origin}/moved` })
    expect(failureOf(await call(tool, {}))).toBe(`failed: The server redirects DELETE to 127.0.0.1:${api.port}, which is not followed.`)
  })
})

describe('pagination', () => {
  const paged = (path: string, pagination: RestToolDefinition['pagination'], more: Partial<RestToolDefinition> = {}) =>
    call(restTool('t', { description: 'T.', url: `${api.origin}${path}`, result: 'items', ...(pagination && { pagination }), ...more }), {})

  it.each([
    ['cursor', { by: 'cursor', parameter: 'cursor', next: '$.next' }],
    ['page', { by: 'page', parameter: 'page' }],
    ['offset', { by: 'offset', parameter: 'offset' }],
    ['link', { by: 'link' }],
    ['link-body', { by: 'link', next: 'next' }],
  ] as const)('by %s reads all pages', async (path, pagination) => {
    expect(await paged(`/paged/${path}`, pagination)).toMatchObject({ ok: true, value: [1, 2, 3, 4, 5] })
  })

  it.each([
    [{ by: 'page', parameter: 'page', maxPages: 3 }, {}, 'Only the first 3 pages were read. There may be more.', 6],
    [{ by: 'page', parameter: 'page', maxItems: 5 }, {}, 'Only the first 5 entries were read. There may be more.', 5],
    [{ by: 'page', parameter: 'page' }, { maxBytes: 80 }, 'Only 3 pages were read: the limit of bytes is reached.', 6],
    [{ by: 'cursor', parameter: 'c', next: 'same' }, {}, 'The server names the same next page again (by cursor), so reading stopped.', 4],
  ] as const)('by %j ends a list without end', async (...[pagination, more, note, length]) => {
    const output = await paged('/endless', pagination, more)
    expect(output).toMatchObject({ ok: true, content: expect.stringContaining(note) })
    expect((output as { value: readonly unknown[] }).value).toHaveLength(length)
  })

  it('says that entries of the last page are left out', async () => {
    const output = await paged('/paged/cursor', { by: 'cursor', parameter: 'cursor', next: '$.next', maxItems: 4 })
    expect(output).toMatchObject({ ok: true, content: expect.stringContaining('Only the first 4 entries were read.'), value: [1, 2, 3, 4] })
  })

  it('sends nothing if its argument could not be approved: pages would replace it', async () => {
    const pages = restTool('t', {
      description: 'T.',
      url: `${api.origin}/paged/{page}`,
      result: 'items',
      pagination: { by: 'page', parameter: 'page' },
    })
    const count = requests.length
    expect(await pages.approval?.({ page: '..' })).toBeUndefined()
    expect(failureOf(await call(pages, { page: '..' }))).toBe('invalid_input: A parameter of the path cannot be "." or "..".')
    expect(requests).toHaveLength(count)
  })

  it('keeps what it has if a later page fails, and never leaves the host', async () => {
    expect(await paged('/fails', { by: 'page', parameter: 'page' })).toMatchObject({
      ok: false,
      error: { message: `127.0.0.1:${api.port} answered with status 503.` },
      partial: expect.stringContaining('[1,2]'),
    })
    expect(failureOf(await paged('/elsewhere', { by: 'link', next: 'next' }))).toBe(
      'blocked: The next page is on another host: example.com',
    )
    expect(failureOf(await paged('/list', { by: 'link' }))).toBe('failed: Page 1 has no list at `items`.')
  })
})

describe('definitions', () => {
  const good: RestToolDefinition = { description: 'T.', url: 'https://api.example.com/{id}' }
  it.each([
    [{ url: 'ftp://example.com' }, 'url'],
    [{ url: 'https://{host}.example.com/' }, 'url'],
    [{ url: 'https://ann:pw@example.com/' }, 'url'],
    [{ url: 'https://example.com/{a' }, 'url'],
    [{ method: 'TRACE' }, 'method'],
    [{ description: '' }, 'description'],
    [{ parameters: { x: { in: 'path' } } }, 'parameters.x'],
    [{ parameters: { x: { in: 'body' } } }, 'parameters.x'],
    [{ parameters: { x: { in: 'cookie' } } }, 'parameters.x'],
    [{ parameters: { x: { type: 'strng' } } }, 'parameters.x/type'],
    [{ headers: { Host: 'a' } }, 'headers.Host'],
    [{ auth: {} }, 'auth'],
    [{ auth: { bearer: 'a', query: { name: 'a', value: 'b' } } }, 'auth'],
    [{ auth: { basic: { user: 'a' } } }, 'auth.basic.password'],
    [{ result: 'a..b' }, 'result'],
    [{ pagination: { by: 'page' } }, 'pagination.parameter'],
    [{ pagination: { by: 'cursor', parameter: 'c' } }, 'pagination.next'],
    [{ method: 'POST', pagination: { by: 'link' } }, 'pagination'],
    [{ timeout: '2h' }, 'timeout'],
    [{ maxBytes: 0 }, 'maxBytes'],
    [{ timeOut: '2s' }, 'timeOut'],
  ])('%j is refused', (wrong, place) => {
    expect(() => restTool('t', { ...good, ...wrong } as RestToolDefinition)).toThrow(
      expect.objectContaining({ code: 'config_invalid', problems: [expect.objectContaining({ place: `restTools.t.${place}` })] }),
    )
  })
  it('of a wrong secret do not repeat it', () => {
    expect(() => restTool('t', { ...good, auth: { bearer: 'abc${' } })).toThrow(/auth.bearer: expected text, found a value of type string/)
  })
})
