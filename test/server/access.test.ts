import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/runtime/index.ts'
import { anthropicRoutes } from '../../src/server/anthropic/index.ts'
import { channelRoutes } from '../../src/server/channels/index.ts'
import type { Route } from '../../src/server/http/index.ts'
import { mcpRoutes } from '../../src/server/mcp/index.ts'
import { openaiRoutes } from '../../src/server/openai/index.ts'
import { webRoutes } from '../../src/server/web/index.ts'
import { hookRoutes } from '../../src/server/webhooks/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sceneDependencies } from './mcp-agents.ts'
import { request } from './raw-request.ts'
import { localToken, type Served, serve } from './support.ts'
import { webFolder } from './web-folder.ts'

// Every route of the table × every kind of caller that must be refused.

const routesUnderTest = (served: Served): readonly Route[] => served.routes

const store = memoryStore()
let served: Served
let sessionOfOther: string
let reader: string
let runner: string
let other: string

beforeAll(async () => {
  const folder = await webFolder()
  served = await serve({
    store,
    rest: {
      demo: { model: 'rehearsal', offers: [], processId: 1, pullPlug() {}, choose: async () => {} },
      models: {
        ...{ models: [], missing: [], file: 'keys' },
        find: async () => [],
        connect: () => ({ kind: 'refused', code: 'not_a_key', message: 'No key.' }),
      },
    },
    routes: () => [
      ...webRoutes(folder),
      ...openaiRoutes({ clock: systemClock, ids: { next: () => 'id' }, records: store.records }),
      ...anthropicRoutes({ clock: systemClock }),
      ...mcpRoutes(sceneDependencies()),
      ...channelRoutes({}),
      ...hookRoutes({ clock: systemClock, ids: { next: () => 'id' }, audit: async () => {} }),
    ],
  })
  other = await served.token({ name: 'other' })
  reader = await served.token({ name: 'reader', scopes: ['read'] })
  runner = await served.token({ name: 'runner', scopes: ['run'] })
  const started = await served.fetch('/v1/sessions', { token: other, json: { input: 'secret plans' } })
  sessionOfOther = ((await started.json()) as { sessionId: string }).sessionId
  await served.runtime.sessions.outcome(sessionOfOther)
})
afterAll(() => served.close())

const pathOf = ({ path }: Route, session = 'unknown'): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => (name === 'id' ? session : name === 'agent' || name === 'model' ? 'echo' : 'x'))

interface Attempt {
  readonly headers?: { readonly [name: string]: string }
  readonly session?: string
}

const attempt = (route: Route, { headers = {}, session }: Attempt) =>
  request(`${served.url}${pathOf(route, session)}`, {
    method: route.method,
    headers: { ...(route.body && { 'content-type': 'application/json' }), ...headers },
    ...(route.body && { body: '{}' }),
  })

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Each kind of wrong caller: which routes it is wrong for, its request, and the status of the refusal. */
const wrongCallers: readonly {
  readonly name: string
  isWrongFor(route: Route): boolean
  attempt(): Attempt
  readonly status: number
}[] = [
  { name: 'no token', isWrongFor: ({ access }) => access !== 'public', attempt: () => ({}), status: 401 },
  {
    name: 'a wrong token',
    isWrongFor: ({ access }) => access !== 'public',
    attempt: () => ({ headers: bearer(`${localToken}x`) }),
    status: 401,
  },
  {
    name: 'a wrong secret of a known name',
    isWrongFor: ({ access }) => access !== 'public',
    attempt: () => ({ headers: bearer('trp_other_AAAA') }),
    status: 401,
  },
  {
    name: 'a cookie',
    isWrongFor: ({ access }) => access !== 'public',
    attempt: () => ({ headers: { cookie: `token=${localToken}` } }),
    status: 401,
  },
  {
    name: 'the scope read where another is needed',
    isWrongFor: ({ access }) => access !== 'public' && access !== 'read',
    attempt: () => ({ headers: bearer(reader) }),
    status: 403,
  },
  {
    name: 'a wrong token in x-api-key',
    isWrongFor: ({ access }) => access !== 'public',
    attempt: () => ({ headers: { 'x-api-key': `${localToken}x` } }),
    status: 401,
  },
  {
    name: 'the scope read in x-api-key where another is needed',
    isWrongFor: ({ access }) => access !== 'public' && access !== 'read',
    attempt: () => ({ headers: { 'x-api-key': reader } }),
    status: 403,
  },
  {
    name: 'the scope run where another is needed',
    isWrongFor: ({ access }) => access !== 'public' && access !== 'run',
    attempt: () => ({ headers: bearer(runner) }),
    status: 403,
  },
  {
    name: 'a foreign Host',
    isWrongFor: ({ isWebhook }) => !isWebhook,
    attempt: () => ({ headers: { ...bearer(localToken), host: 'evil.example' } }),
    status: 403,
  },
  {
    name: 'a foreign Host with the right port',
    isWrongFor: ({ isWebhook }) => !isWebhook,
    attempt: () => ({ headers: { ...bearer(localToken), host: `evil.example:${new URL(served.url).port}` } }),
    status: 403,
  },
  {
    name: 'a foreign Origin',
    isWrongFor: () => true,
    attempt: () => ({ headers: { ...bearer(localToken), origin: 'https://evil.example' } }),
    status: 403,
  },
  { name: 'the Origin null', isWrongFor: () => true, attempt: () => ({ headers: { ...bearer(localToken), origin: 'null' } }), status: 403 },
]

test('every route is refused to every kind of wrong caller', async () => {
  const results: { route: string; caller: string; status: number; expected: number }[] = []
  for (const route of routesUnderTest(served))
    for (const caller of wrongCallers) {
      if (!caller.isWrongFor(route)) continue
      const { status } = await attempt(route, caller.attempt())
      results.push({ route: `${route.method} ${route.path}`, caller: caller.name, status, expected: caller.status })
    }
  expect(results.filter(({ status, expected }) => status !== expected)).toEqual([])
  expect(results.length).toBeGreaterThan(150)
})

describe('a session of another token', () => {
  test('does not exist on any route that names a session', async () => {
    const mine = await served.token({ name: 'mine' })
    const bodies: { readonly [path: string]: unknown } = {
      '/v1/sessions/:id/messages': { input: 'x' },
      '/v1/sessions/:id/approvals/:approvalId': { kind: 'abort' },
    }
    const named = routesUnderTest(served).filter(({ path }) => path.includes(':id') && path.startsWith('/v1/sessions'))
    expect(named.length).toBeGreaterThan(9)
    for (const route of named) {
      const url = `${served.url}${pathOf(route, sessionOfOther)}`
      const answer = await request(url, {
        method: route.method,
        headers: { ...bearer(mine), ...(route.body && { 'content-type': 'application/json' }) },
        ...(route.body && { body: JSON.stringify(bodies[route.path] ?? {}) }),
      })
      // Without the scope of a route, nobody learns whether the session exists.
      const expected = route.access === 'admin' ? 403 : 404
      expect([route.method, route.path, answer.status]).toEqual([route.method, route.path, expected])
      expect(answer.body).not.toContain('secret plans')
    }
    const list = await served.fetch('/v1/sessions', { token: mine })
    expect(await list.json()).toEqual({ sessions: [] })
  })

  test('is listed for its owner and for the local user', async () => {
    for (const token of [other, localToken]) {
      const list = (await (await served.fetch('/v1/sessions', { token })).json()) as { sessions: { sessionId: string }[] }
      expect(list.sessions.map(({ sessionId }) => sessionId)).toContain(sessionOfOther)
    }
  })
})

test('a token names the agents that it may use', async () => {
  const token = await served.token({ name: 'narrow', agents: ['nothing*'] })
  expect(await (await served.fetch('/v1/agents', { token })).json()).toEqual({ agents: [] })
  expect((await served.fetch('/v1/echo?q=hello', { token })).status).toBe(404)
  expect((await served.fetch('/v1/sessions', { token, json: { input: 'x', agent: 'echo' } })).status).toBe(404)
})

test('nothing in the log or the errors contains a token or a question', async () => {
  await served.fetch('/v1/echo?q=private%20question')
  const text = JSON.stringify(served.log)
  expect(text).not.toContain('private')
  expect(text).not.toContain(localToken)
  expect(text).not.toContain(other)
  expect(served.errors).toEqual([])
})
