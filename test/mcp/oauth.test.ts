// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { McpServerDefinition } from '../../src/contracts/index.ts'
import { tokenFiles } from '../../src/project/mcp/token-files.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { type LoginOptions, loginToServer, logoutFromServer, type McpHost, memoryTokenStore } from '../../src/tools/mcp/index.ts'
import { approve, oauthServer } from './oauth-fixture.ts'
import { hostOf, openServer, realClock } from './support.ts'

const http = (url: string, more: object = {}): McpServerDefinition =>
  ({ type: 'http', url, protocol: '2025-11-25', ...more }) as McpServerDefinition

const loginAs = (host: McpHost, definition: McpServerDefinition, more: Partial<LoginOptions> = {}) =>
  loginToServer('srv', definition, {
    host,
    overlay: {},
    show: (url) => void approve(url),
    timeoutMs: 60_000,
    ...more,
  })

const atHost = (more: Partial<McpHost> = {}): McpHost => hostOf({ tokens: memoryTokenStore(), ...more })

it('logs a person in: discovery, registration, PKCE, resource; then the tools are there', async () => {
  const fixture = await oauthServer()
  const host = atHost()
  const { source } = openServer(http(fixture.url), { host })
  await expect(source.list()).rejects.toMatchObject({
    message: 'The MCP server "srv" requires authorization.',
    remedy: 'Run `troupe mcp login srv`, or set its headers.',
  })
  const pages: string[] = []
  const result = await loginAs(host, http(fixture.url), { show: (url) => void approve(url).then((page) => pages.push(page)) })
  expect(result).toEqual({
    kind: 'logged_in',
    tools: 1,
    issuer: fixture.issuer,
    scope: 'basic',
    expiresAt: expect.any(Number),
    isRenewable: true,
  })
  expect(pages.join()).toContain('You are logged in')
  expect(fixture.log).toEqual(['register', 'authorize basic', 'token authorization_code'])
  const { source: next } = openServer(http(fixture.url), { host })
  expect((await next.list()).map(({ name }) => name)).toEqual(['srv/echo'])
})

it('renews an expired token once for calls at the same time', async () => {
  const fixture = await oauthServer()
  const host = atHost()
  await loginAs(host, http(fixture.url))
  const { call, source } = openServer(http(fixture.url), { host })
  await source.list()
  fixture.expireAll()
  fixture.log.length = 0
  const outputs = await Promise.all([1, 2, 3, 4].map(() => call('echo', {})))
  expect(outputs.map(({ ok }) => ok)).toEqual([true, true, true, true])
  expect(fixture.log).toEqual(['token refresh_token'])
})

it('renews an expired token once for several programs that use the same files', async () => {
  const fixture = await oauthServer()
  const folder = await mkdtemp(join(tmpdir(), 'troupe-oauth-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const hosts = [1, 2, 3].map(() => atHost({ tokens: tokenFiles(folder) }))
  await loginAs(hosts[0] as McpHost, http(fixture.url))
  const opened = hosts.map((host) => openServer(http(fixture.url), { host }))
  await Promise.all(opened.map(({ source }) => source.list()))
  fixture.expireAll()
  fixture.log.length = 0
  expect((await Promise.all(opened.map(({ call }) => call('echo', {})))).map(({ ok }) => ok)).toEqual([true, true, true])
  expect(fixture.log).toEqual(['token refresh_token'])
})

it('renews a token shortly before it expires, by the clock', async () => {
  const fixture = await oauthServer({ expiresIn: 100 })
  const fake = new FakeClock()
  const clock = { ...realClock, now: () => fake.now() }
  const host = atHost({ clock })
  await loginAs(host, http(fixture.url))
  const { source, call } = openServer(http(fixture.url), { host })
  fake.advance(60_000)
  await source.list()
  expect(fixture.log).not.toContain('token refresh_token')
  fake.advance(11_000)
  await call('echo', {})
  expect(fixture.log.filter((each) => each === 'token refresh_token')).toHaveLength(1)
})

it('a rejected refresh is an authorization failure with its remedy; a broken authorization server keeps the tokens', async () => {
  const fixture = await oauthServer({ refresh: 'broken' })
  const host = atHost()
  await loginAs(host, http(fixture.url))
  const { call, source } = openServer(http(fixture.url), { host })
  await source.list()
  fixture.expireAll()
  expect(await call('echo', {})).toMatchObject({ ok: false, error: { class: 'network' } })
  fixture.settings.refresh = 'rejected'
  const rejected = await call('echo', {})
  expect(rejected).toMatchObject({ ok: false, error: { class: 'auth', remedy: 'Run `troupe mcp login srv`.' } })
  expect(JSON.stringify(rejected)).toMatch(/invalid_grant: unknown \[redacted/)
  // The rejected token is not tried again.
  fixture.log.length = 0
  expect(await call('echo', {})).toMatchObject({ ok: false, error: { class: 'auth' } })
  expect(fixture.log).toEqual([])
})

it('a call that needs more scopes fails, and the next login asks for them as well', async () => {
  const fixture = await oauthServer({ callScope: 'write' })
  const host = atHost()
  await loginAs(host, http(fixture.url))
  const { call } = openServer(http(fixture.url), { host })
  expect(await call('echo', {})).toMatchObject({
    ok: false,
    error: { class: 'auth', remedy: expect.stringContaining('troupe mcp login srv') },
  })
  expect(await loginAs(host, http(fixture.url))).toMatchObject({ scope: 'basic write' })
  expect(await call('echo', {})).toMatchObject({ ok: true })
})

it('configured scopes and clients are used instead of registration', async () => {
  const fixture = await oauthServer()
  const definition = http(fixture.url, { auth: { type: 'oauth', clientId: '${CLIENT}', scopes: ['own'] } })
  const host = atHost()
  expect(await loginAs(host, definition, { overlay: { CLIENT: 'known' } })).toMatchObject({ scope: 'own' })
  expect(fixture.log).toEqual(['authorize own', 'token authorization_code'])
})

it('another definition with the same name does not get the tokens', async () => {
  const [fixture, other] = [await oauthServer(), await oauthServer()]
  const host = atHost()
  await loginAs(host, http(fixture.url))
  for (const definition of [http(other.url), http(fixture.url, { auth: { type: 'oauth', clientId: 'other' } })])
    await expect(openServer(definition, { host }).source.list()).rejects.toThrow('requires authorization')
  expect(other.bearers).toEqual([undefined])
})

it('what a server sends back of a token is redacted, in results and in logs', async () => {
  const fixture = await oauthServer()
  const logged: string[] = []
  const host = atHost({ log: (_, line) => logged.push(line) })
  await loginAs(host, http(fixture.url))
  const { call } = openServer(http(fixture.url), { host })
  expect(await call('echo', {})).toMatchObject({ ok: true, content: 'called with [redacted:MCP_ACCESS_TOKEN]' })
  fixture.settings.callStatus = 403
  const message = 'The MCP server "srv" denied access: called with [redacted:MCP_ACCESS_TOKEN].'
  expect(await call('echo', {})).toMatchObject({ ok: false, error: { message } })
  fixture.settings.callStatus = 400
  expect(await call('echo', {})).toMatchObject({ ok: false })
  expect(logged.at(-1)).toContain('called with [redacted:MCP_ACCESS_TOKEN]')
})

it('a pasted URL ends the login where the browser is elsewhere', async () => {
  const fixture = await oauthServer()
  let shown: URL | undefined
  const result = await loginAs(atHost(), http(fixture.url), {
    show: (url) => {
      shown = url
    },
    paste: async () => (await fetch(shown ?? '', { redirect: 'manual' })).headers.get('location') ?? '',
  })
  expect(result).toMatchObject({ kind: 'logged_in' })
})

it.each([
  ['another state', { state: 'other' }, 'the URL belongs to another login'],
  ['another issuer', { iss: 'https://evil.example' }, 'https://evil.example'],
  ['a refusal', { code: '', error: 'access_denied', error_description: 'No.' }, 'access_denied: No.'],
])('a login that returns with %s fails', async (_, returns, message) => {
  const fixture = await oauthServer({ returns })
  const host = atHost()
  let shown: URL | undefined
  const login = loginAs(host, http(fixture.url), {
    show: (url) => {
      shown = url
    },
    paste: async () => (await fetch(shown ?? '', { redirect: 'manual' })).headers.get('location') ?? '',
  })
  await expect(login).rejects.toThrow(message)
  expect(fixture.log).not.toContain('token authorization_code')
})

it('the loopback address answers only the browser with the state, and a login ends with its time', async () => {
  const fixture = await oauthServer()
  const clock = new FakeClock()
  const statuses: Promise<number[]>[] = []
  const login = loginAs(
    atHost({ clock: { ...realClock, after: (ms, fire) => (ms === 60_000 * 7 ? clock.after(ms, fire) : realClock.after(ms, fire)) } }),
    http(fixture.url),
    {
      timeoutMs: 60_000 * 7,
      show: (url) => {
        const redirect = new URL(url.searchParams.get('redirect_uri') ?? '')
        const tries = ['?state=guess&code=1', '?code=1', '/../other'].map((each) =>
          fetch(`${redirect}${each}`).then(({ status }) => status),
        )
        statuses.push(Promise.all(tries))
        void statuses[0]?.then(() => clock.advance(60_000 * 7))
      },
    },
  )
  await expect(login).rejects.toThrow('within 7 minutes')
  expect(await statuses[0]).toEqual([404, 404, 404])
})

it('client credentials get tokens without a person, and new ones when they expire', async () => {
  const fixture = await oauthServer()
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  for (const secret of [{ clientSecret: '${SECRET}' }, { privateKey }]) {
    const definition = http(fixture.url, { auth: { type: 'client_credentials', clientId: 'robot', ...secret } })
    const { call } = openServer(definition, { overlay: { SECRET: 'the-client-secret' } })
    fixture.log.length = 0
    expect(await call('echo', {})).toMatchObject({ ok: true })
    fixture.expireAll()
    expect(await call('echo', {})).toMatchObject({ ok: true })
    expect(fixture.log).toEqual(['token client_credentials', 'token client_credentials'])
  }
  const wrong = http(fixture.url, { auth: { type: 'client_credentials', clientId: 'robot', clientSecret: 'wrong-secret' } })
  const failure = await openServer(wrong)
    .source.list()
    .catch((error: Error) => error.message)
  expect(failure).toMatch(/refused the client: invalid_client: wrong secret robot:\[redacted/)
})

it('logout revokes the tokens and removes them, also where the server cannot revoke', async () => {
  const fixture = await oauthServer()
  const host = atHost()
  const out = () => logoutFromServer('srv', http(fixture.url), { host, overlay: {} })
  expect(await out()).toEqual({ kind: 'none' })
  await loginAs(host, http(fixture.url))
  expect(await out()).toEqual({ kind: 'revoked' })
  expect(fixture.log.slice(-2)).toEqual(['revoke refresh_token', 'revoke access_token'])
  expect(fixture.valid.size).toBe(0)
  await expect(openServer(http(fixture.url), { host }).source.list()).rejects.toThrow('requires authorization')
  fixture.settings.revokes = false
  await loginAs(host, http(fixture.url))
  expect(await out()).toEqual({ kind: 'unsupported' })
  await loginAs(host, http(fixture.url))
  await fixture.stop()
  expect(await out()).toMatchObject({ kind: 'failed' })
  expect(await out()).toEqual({ kind: 'none' })
})

it('logout revokes also where the metadata is only at the address that the refusal named', async () => {
  const fixture = await oauthServer({ metadataPath: '/elsewhere' })
  const host = atHost()
  await loginAs(host, http(fixture.url))
  expect(await logoutFromServer('srv', http(fixture.url), { host, overlay: {} })).toEqual({
    kind: 'revoked',
  })
})

it('tokens need HTTPS except on loopback addresses, and metadata is checked', async () => {
  await expect(openServer(http('http://example.invalid/mcp', { auth: { type: 'oauth' } })).source.list()).rejects.toThrow('is not HTTPS')
  const fixture = await oauthServer({ resource: 'https://elsewhere.example/mcp' })
  await expect(loginAs(atHost(), http(fixture.url))).rejects.toThrow('does not match expected')
  fixture.settings.resource = undefined
  fixture.settings.namedServer = 'http://auth.example.invalid'
  await expect(loginAs(atHost(), http(fixture.url))).rejects.toThrow('not at an HTTPS address')
  fixture.settings.namedServer = undefined
  const bound = http(fixture.url, { auth: { type: 'oauth', issuer: 'https://auth.example' } })
  await expect(loginAs(atHost(), bound)).rejects.toThrow('instead of https://auth.example')
  expect(fixture.log).toEqual([])
})

it('after the server names another authorization server, nothing is sent to it', async () => {
  const [fixture, other] = [await oauthServer(), await oauthServer()]
  const host = atHost()
  await loginAs(host, http(fixture.url))
  fixture.expireAll()
  fixture.settings.namedServer = other.issuer
  await expect(openServer(http(fixture.url), { host }).source.list()).rejects.toThrow(`names ${other.issuer} as its authorization server`)
  expect(other.log).toEqual([])
})
