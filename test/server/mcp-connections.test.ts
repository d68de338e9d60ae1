import { request as httpRequest } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { TroupeError } from '../../src/contracts/index.ts'
import { revokeToken } from '../../src/server/http/index.ts'
import { connect } from './mcp-clients.ts'
import { mcpScene, type Scene } from './mcp-scene.ts'
import { localToken } from './support.ts'

const accept = { accept: 'application/json, text/event-stream' }
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
}
const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }

async function openSession(scene: Scene): Promise<string> {
  const response = await scene.fetch('/mcp', { json: initialize, headers: accept })
  await response.text()
  return response.headers.get('mcp-session-id') ?? ''
}

describe('a session of 2025-11-25', () => {
  test('exists for the token that created it only', async () => {
    const scene = await mcpScene()
    const id = await openSession(scene)
    const headers = { ...accept, 'mcp-session-id': id }
    const other = await scene.token({ name: 'other' })
    expect((await scene.fetch('/mcp', { json: list, headers })).status).toBe(200)
    expect((await scene.fetch('/mcp', { json: list, headers, token: other })).status).toBe(404)
    expect((await scene.fetch('/mcp', { headers, token: other })).status).toBe(404)
    expect((await scene.fetch('/mcp', { method: 'DELETE', headers, token: other })).status).toBe(404)
    expect((await scene.fetch('/mcp', { method: 'DELETE', headers })).status).toBe(200)
    const gone = await scene.fetch('/mcp', { json: list, headers })
    expect([gone.status, await gone.json()]).toEqual([404, expect.objectContaining({ error: expect.objectContaining({ code: -32_001 }) })])
  })

  test('is needed for all messages but the first', async () => {
    const scene = await mcpScene()
    expect((await scene.fetch('/mcp', { json: list, headers: accept })).status).toBe(400)
    expect((await scene.fetch('/mcp', { headers: { accept: 'text/event-stream' } })).status).toBe(400)
  })

  test('makes room for the next one of its token', async () => {
    const scene = await mcpScene({ mcp: { limits: { perToken: 1 } } })
    const first = await openSession(scene)
    await openSession(scene)
    expect((await scene.fetch('/mcp', { json: list, headers: { ...accept, 'mcp-session-id': first } })).status).toBe(404)
  })
})

test('bodies that are too large, too deep or not JSON are refused', async () => {
  const scene = await mcpScene({ mcp: { maxBodyBytes: 1_000 } })
  const post = (body: string) => scene.fetch('/mcp', { method: 'POST', body, headers: { ...accept, 'content-type': 'application/json' } })
  expect((await post(JSON.stringify({ ...list, params: { name: 'x'.repeat(1_000) } }))).status).toBe(413)
  expect((await post(`${'['.repeat(100)}${']'.repeat(100)}`)).status).toBe(400)
  const broken = await post('{"jsonrpc":')
  expect([broken.status, await broken.json()]).toEqual([
    400,
    expect.objectContaining({ jsonrpc: '2.0', id: null, error: expect.objectContaining({ code: -32_700 }) }),
  ])
})

test('a batch contains one request, so that each is counted', async () => {
  const scene = await mcpScene()
  const headers = { ...accept, 'mcp-session-id': await openSession(scene) }
  expect((await scene.fetch('/mcp', { json: [list], headers })).status).toBe(200)
  expect((await scene.fetch('/mcp', { json: [list, { ...list, id: 3 }], headers })).status).toBe(400)
})

test('the older transports are behind a flag', async () => {
  const scene = await mcpScene({ mcp: { legacyTransports: false } })
  expect((await scene.fetch('/mcp/sse')).status).toBe(404)
})

test('messages for the stream of another token are refused', async () => {
  const scene = await mcpScene()
  const stream = await scene.fetch('/mcp/sse')
  const reader = stream.body?.getReader()
  const first = new TextDecoder().decode((await reader?.read())?.value)
  const path = /data: (\S+)/.exec(first)?.[1] ?? ''
  const other = await scene.token({ name: 'other' })
  expect((await scene.fetch(path, { json: list, token: other })).status).toBe(404)
  expect((await scene.fetch('/mcp/sse/messages?session=nobody', { json: list })).status).toBe(404)
  expect((await scene.fetch(path, { json: { hello: 'world' } })).status).toBe(400)
  expect((await scene.fetch(path, { json: list })).status).toBe(202)
  await reader?.cancel()
})

describe('a WebSocket', () => {
  const socket = (scene: Scene, headers: { [name: string]: string }) => {
    const web = new WebSocket(`${scene.url.replace('http', 'ws')}/mcp/ws`, 'mcp', { headers })
    onTestFinished(() => web.terminate())
    return web
  }
  const refusal = (web: WebSocket): Promise<number | undefined> =>
    new Promise((resolve) => web.on('unexpected-response', (_, { statusCode }) => resolve(statusCode)).on('error', () => {}))
  const message = (web: WebSocket) =>
    new Promise<{ error?: { message: string } }>((resolve) => web.once('message', (data) => resolve(JSON.parse(String(data)))))
  const opened = (web: WebSocket) => new Promise((resolve) => web.once('open', resolve))
  const closed = (web: WebSocket) => new Promise<number>((resolve) => web.once('close', resolve))

  test('needs what requests need', async () => {
    const scene = await mcpScene()
    const authorization = `Bearer ${localToken}`
    const reader = await scene.token({ name: 'reader', scopes: ['read'] })
    expect(await refusal(socket(scene, {}))).toBe(401)
    expect(await refusal(socket(scene, { authorization: `Bearer ${reader}` }))).toBe(403)
    expect(await refusal(socket(scene, { authorization, origin: 'https://evil.example' }))).toBe(403)
    expect(await refusal(socket(scene, { authorization, host: 'evil.example' }))).toBe(403)
  })

  test('ends when its token is revoked', async () => {
    const scene = await mcpScene()
    const web = socket(scene, { authorization: `Bearer ${await scene.token({ name: 'guest' })}` })
    await opened(web)
    await revokeToken(scene.store.records, 'guest')
    const [answer, code] = [message(web), closed(web)]
    web.send(JSON.stringify(initialize))
    expect((await answer).error?.message).toContain('wrong, expired or revoked')
    expect(await code).toBe(1008)
  })

  test('survives messages that are wrong, and ends with those that are too large', async () => {
    const scene = await mcpScene({ mcp: { maxBodyBytes: 1_000 } })
    const web = socket(scene, { authorization: `Bearer ${localToken}` })
    await opened(web)
    for (const wrong of ['{', '{"hello":"world"}', Buffer.from([1, 2, 3])]) {
      const answer = message(web)
      web.send(wrong)
      expect(await answer).toMatchObject({ jsonrpc: '2.0', id: null, error: {} })
    }
    const code = closed(web)
    web.on('error', () => {})
    web.send('x'.repeat(2_000))
    expect(await code).toBe(1009)
  })

  test('errors have no paths for a token without admin', async () => {
    let problem: string | undefined
    const scene = await mcpScene({ server: { hiddenFolders: { '<data>': '/srv/data' }, unavailable: () => problem } })
    const [admin, guest] = [localToken, await scene.token({ name: 'guest' })].map((token) =>
      socket(scene, { authorization: `Bearer ${token}` }),
    ) as [WebSocket, WebSocket]
    await Promise.all([opened(admin), opened(guest)])
    problem = 'The disk of /srv/data is full.'
    const asked = [message(admin), message(guest)]
    for (const web of [admin, guest]) web.send(JSON.stringify(initialize))
    expect(await Promise.all(asked)).toMatchObject([{ error: { message: problem } }, { error: { message: 'The disk of <data> is full.' } }])
    const refused = socket(scene, { authorization: `Bearer ${await scene.token({ name: 'other' })}` }).on('error', () => {})
    const body = await new Promise((resolve) => refused.on('unexpected-response', (_, response) => response.on('data', resolve)))
    expect(JSON.parse(String(body))).toMatchObject({ error: { message: 'The disk of <data> is full.', data: { code: 'store_failed' } } })
  })

  test('requests that offer another protocol are answered as usual', async () => {
    const scene = await mcpScene()
    const status = await new Promise((resolve, reject) => {
      const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': '' }
      httpRequest(`${scene.url}/health`, { headers }, ({ statusCode }) => resolve(statusCode))
        .on('error', reject)
        .end()
    })
    expect(status).toBe(200)
  })
})

describe('a request that waits for a person', () => {
  test.each(['client 2.4, 2025-11-25', 'sdk 1.32'] as const)('%s: somebody else may answer while the client asks', async (kind) => {
    const scene = await mcpScene({ server: { places: { total: 1 } } })
    const asked = Promise.withResolvers<void>()
    const client = await connect({
      kind,
      transport: 'http',
      url: scene.url,
      elicit() {
        asked.resolve()
        return new Promise(() => {})
      },
    })
    const call = client.callTool('worker', { prompt: 'call guarded' })
    await asked.promise
    // It holds no place meanwhile.
    expect((await client.callTool('echo', { prompt: 'quick' })).content).toEqual([{ type: 'text', text: 'quick' }])
    const [session] = await scene.runtime.sessions.list({ agent: 'worker' })
    const sessionId = session?.sessionId ?? ''
    const [open] = await scene.runtime.sessions.requests(sessionId)
    await scene.runtime.sessions.approve(sessionId, { approvalId: open?.id ?? '', decision: { kind: 'approve', breadth: 'once' } })
    expect((await call).content).toEqual([{ type: 'text', text: 'opened' }])
  })

  test.each(['http', 'ws'] as const)(
    'needs the place of a stream over %s; without one, the call ends and names its session',
    async (transport) => {
      // The connection has one, too.
      const scene = await mcpScene({ server: { streams: { perToken: 3 } } })
      const answers: ((answer: { action: 'cancel' }) => void)[] = []
      const client = await connect({
        kind: 'sdk 1.32',
        transport,
        url: scene.url,
        elicit: () => new Promise((resolve) => answers.push(resolve)),
      })
      await expect.poll(() => scene.headends.streams.size).toBe(transport === 'http' ? 2 : 1)
      const call = () => client.callTool('worker', { prompt: 'call guarded' })
      const [first] = [call(), call().catch(() => {})]
      await expect.poll(() => answers.length).toBe(2)
      expect(await call()).toMatchObject({
        isError: true,
        content: [{}, { text: expect.stringMatching(/Needs approval. This token has 3 open streams[\s\S]*session:/) }],
        _meta: { code: 'approval_required', sessionId: expect.any(String) },
      })
      answers[0]?.({ action: 'cancel' })
      expect(await first).toMatchObject({ content: [{}, { text: expect.stringContaining('Nobody decided.') }] })
      void call().catch(() => {})
      await expect.poll(() => answers.length).toBe(3)
    },
  )

  test('the state of a session of another token is refused', async () => {
    const scene = await mcpScene()
    const call = async (params: object, token = localToken) => {
      const response = await scene.fetch('/mcp', {
        token,
        json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'worker', _meta: meta, ...params } },
        headers: { ...accept, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'worker' },
      })
      return (await response.json()) as { result?: { resultType: string; requestState: string; inputRequests: object }; error?: object }
    }
    const { result } = await call({ arguments: { prompt: 'call guarded' } })
    expect(result?.resultType).toBe('input_required')
    const [key = ''] = Object.keys(result?.inputRequests ?? {})
    const answer = (decision: string) => ({
      arguments: { prompt: 'call guarded' },
      requestState: result?.requestState,
      inputResponses: { [key]: { action: 'accept', content: { decision } } },
    })
    const refused = { code: -32_602, message: 'Invalid or expired requestState' }
    expect((await call(answer('approve once'), await scene.token({ name: 'other' }))).error).toMatchObject(refused)
    expect((await call({ ...answer('approve once'), requestState: 'anything' })).error).toMatchObject(refused)
    // An answer that does not fit is asked for again.
    expect((await call(answer('perhaps'))).result).toMatchObject({ resultType: 'input_required', requestState: result?.requestState })
    expect((await call(answer('approve once'))).result).toMatchObject({ content: [{ type: 'text', text: 'opened' }] })
  })
})

describe('agents that changed are announced', () => {
  const announcement = { method: 'notifications/tools/list_changed' }

  /** The next message of an event stream. */
  async function nextMessage(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<object> {
    const frame = new TextDecoder().decode((await reader?.read())?.value)
    return JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? '{}') as object
  }

  test('on the stream of a session', async () => {
    const scene = await mcpScene()
    const headers = { accept: 'text/event-stream', 'mcp-session-id': await openSession(scene) }
    const reader = (await scene.fetch('/mcp', { headers })).body?.getReader()
    scene.agentsChanged()
    expect(await nextMessage(reader)).toMatchObject(announcement)
    await reader?.cancel()
  })

  test('on the stream of a subscription (2026-07-28)', async () => {
    const scene = await mcpScene()
    const params = { _meta: meta, notifications: { toolsListChanged: true } }
    const response = await scene.fetch('/mcp', {
      json: { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params },
      headers: { ...accept, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    })
    const reader = response.body?.getReader()
    expect(await nextMessage(reader)).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
    scene.agentsChanged()
    expect(await nextMessage(reader)).toMatchObject(announcement)
    await reader?.cancel()
  })

  test.each(['client 2.4, 2025-11-25', 'sdk 1.32'] as const)('to %s over a WebSocket', async (kind) => {
    const scene = await mcpScene()
    const changed = Promise.withResolvers<void>()
    const client = await connect({ kind, transport: 'ws', url: scene.url, toolsChanged: changed.resolve })
    await client.listTools()
    scene.agentsChanged()
    await changed.promise
  })
})

test('errors of tools and resources have no paths for a token without admin, and unexpected ones are reported', async () => {
  const errors: unknown[] = []
  const scene = await mcpScene({
    server: { hiddenFolders: { '<data>': '/srv/data' } },
    mcp: { onError: (error) => errors.push(error) },
  })
  let failure: Error = new TroupeError('store_failed', 'Cannot read /srv/data/a.')
  const fail = async () => {
    throw failure
  }
  Object.assign(scene.runtime.sessions, { outcome: fail, list: fail })
  const seenBy = async (token: string) => {
    const client = await connect({ kind: 'sdk 1.32', transport: 'http', url: scene.url, token })
    const { content } = await client.callTool('echo', { prompt: 'x' })
    return [content[0]?.text, await client.listResources().catch(({ message }: Error) => message)]
  }
  expect(await seenBy(localToken)).toEqual(['Cannot read /srv/data/a.', expect.stringContaining('Cannot read /srv/data/a.')])
  const guest = await scene.token({ name: 'guest' })
  expect(await seenBy(guest)).toEqual(['Cannot read <data>/a.', expect.stringContaining('Cannot read <data>/a.')])
  expect(errors).toEqual([])
  failure = new Error('anything')
  const hidden = 'The server failed to answer this request.'
  expect(await seenBy(guest)).toEqual([hidden, expect.stringContaining(hidden)])
  expect(errors).toEqual([failure, failure])
})

test('a cancelled call ends its stream', async () => {
  const ended = Promise.withResolvers<object>()
  const scene = await mcpScene({
    server: {
      // An entry is written when a response has ended.
      log(entry) {
        if (entry.sessionId !== undefined) ended.resolve(entry)
      },
    },
  })
  const client = await connect({ kind: 'sdk 1.32', transport: 'http', url: scene.url })
  const stop = new AbortController()
  const call = client.callTool('worker', { prompt: 'call hold' }, { signal: stop.signal }).catch(() => 'cancelled')
  await scene.nextHeld()
  stop.abort()
  expect(await call).toBe('cancelled')
  expect(await ended.promise).toMatchObject({ route: '/mcp', status: 200 })
})
