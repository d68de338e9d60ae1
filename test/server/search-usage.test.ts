import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Model,
  type ModelRequest,
  maxSearchChars,
  type Store,
  type Tool,
  TroupeError,
  type UsageQuery,
} from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { echoModel, type Served, serve } from './support.ts'

// Search, cost, usage and model requests over HTTP, for several owners.

// biome-ignore lint/suspicious/noExplicitAny: JSON of the server, which the tests check.
const json = async (response: Response | Promise<Response>): Promise<any> => (await response).json()

const sent: ModelRequest[] = []
/** Each request costs a cent. */
const model: Model = {
  ...echoModel(),
  costOf: () => 0.01,
  stream(request, context) {
    sent.push(structuredClone(request))
    return echoModel().stream(request, context)
  },
}
const agents = ['echo', 'other'].map((name) => ({
  name,
  description: 'Repeats.',
  prompt: `Repeat, ${name}.`,
  model: 'test/echo',
  tools: ['peek'],
}))
const peek: Tool = { name: 'peek', description: 'Reads /srv/secret.', inputSchema: { type: 'object' }, execute: () => 'nothing' }

let broken: 'index_damaged' | undefined
let older = 0
const asked: UsageQuery[] = []
const startedAt = Date.now()
/** A store whose index can be damaged, and that can have sessions of an older version. */
function stage(): Store {
  const store = memoryStore()
  const { trees, turns } = store
  const list: Store['trees']['list'] = (filter) => {
    if (broken && filter?.search !== undefined)
      throw new TroupeError(broken, 'The search index is damaged.', { remedy: 'Run: troupe store reindex' })
    return trees.list(filter)
  }
  const with_ = <Part extends object>(part: Part, changes: Partial<Part>): Part =>
    new Proxy(part, {
      get(target, name) {
        const value = Reflect.get(name in changes ? changes : target, name) as unknown
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  return {
    ...store,
    trees: with_(trees, { list }),
    turns: with_(turns, {
      unindexed: () => older,
      usage(query) {
        asked.push(query)
        return turns.usage(query)
      },
    }),
    vacuum: () => store.vacuum(),
    close: () => store.close(),
  }
}

let served: Served
const tokens = { ann: '', bob: '', boss: '' }
const ids: { [title: string]: string } = {}

async function say(input: string, token: string, agent = 'echo'): Promise<string> {
  const { sessionId } = await json(served.fetch('/v1/sessions', { token, json: { input, agent } }))
  await served.runtime.sessions.outcome(sessionId)
  return sessionId
}

beforeAll(async () => {
  served = await serve({ model, agents, tools: [peek], store: stage() })
  tokens.ann = await served.token({ name: 'ann' })
  tokens.bob = await served.token({ name: 'bob' })
  tokens.boss = await served.token({ name: 'boss', scopes: ['read', 'admin'] })
  ids.oslo = await say('A weekend in Oslo 🛶', tokens.ann)
  ids.bergen = await say('100% rain in Bergen, "as usual"', tokens.ann, 'other')
  ids.secret = await say('Secret plans for Oslo', tokens.bob)
})
afterAll(() => served.close())

const get = (path: string, token?: string) => served.fetch(path, token === undefined ? {} : { token })
const query = (parameters: { readonly [name: string]: string }) => new URLSearchParams(parameters).toString()
const search = async (words: string, token = tokens.ann, more: { readonly [name: string]: string } = {}) =>
  json(get(`/v1/sessions?${query({ search: words, ...more })}`, token))
const found = async (...given: Parameters<typeof search>): Promise<readonly string[]> =>
  (await search(...given)).sessions.map(({ sessionId }: { sessionId: string }) => sessionId)

describe('search', () => {
  test('finds words in messages and answers of own sessions, with a snippet and the cost', async () => {
    const { sessions } = await search('OSLO week')
    expect(sessions).toMatchObject([{ sessionId: ids.oslo, cost: 0.01, match: { kind: expect.stringMatching(/message|answer/) } }])
    const { snippet, ranges } = sessions[0].match
    expect(ranges.map(([from, to]: [number, number]) => snippet.slice(from, to).toLowerCase())).toEqual(['weekend', 'oslo'])
    expect(await found('oslo', tokens.bob)).toEqual([ids.secret])
    expect((await found('oslo', tokens.boss)).toSorted()).toEqual([ids.oslo, ids.secret].toSorted())
    expect(await found('nothing like it')).toEqual([])
  })

  test.each([
    ['%', 'bergen'],
    ['100%', 'bergen'],
    ['"as usual"', 'bergen'],
    ['🛶', 'oslo'],
    ['_', undefined],
    ['*', undefined],
    ['oslo OR bergen', undefined],
    ['NOT oslo', undefined],
    ['oslo* NEAR(', undefined],
    ["'; DROP TABLE trees; --", undefined],
    ['title:oslo', undefined],
    // Not an exclusion.
    ['-oslo', 'oslo'],
    ['\u0000', undefined],
    ['\ud800', undefined],
    ['🦉', undefined],
  ])('takes %j as it is written', async (words, title) => {
    expect(await found(words)).toEqual(title === undefined ? [] : [ids[title]])
  })

  test('takes 10,000 characters and no more', async () => {
    expect(await found('a'.repeat(maxSearchChars))).toEqual([])
    for (const words of ['a'.repeat(maxSearchChars + 1), '', ' \n']) {
      const refused = await get(`/v1/sessions?${query({ search: words })}`)
      expect([refused.status, (await json(refused)).error]).toMatchObject([
        400,
        { parameter: 'search', problems: [{ place: 'search', message: expect.any(String) }] },
      ])
    }
  })

  test('with an address above 16 KB is refused before it is read', async () => {
    expect((await get(`/v1/sessions?${query({ search: '🛶'.repeat(5_000) })}`)).status).toBe(431)
    expect((await get('/health')).status).toBe(200)
  })

  test('filters by agent, status, cost and time, too', async () => {
    expect(await found('in', tokens.ann, { agent: 'other' })).toEqual([ids.bergen])
    expect(await found('in', tokens.ann, { status: 'failed' })).toEqual([])
    expect(await found('oslo', tokens.ann, { minCost: '0.01', maxCost: '0.01', since: '1h' })).toEqual([ids.oslo])
    for (const filter of [{ minCost: '0.02' }, { maxCost: '0' }, { until: '2020-01-01' }, { since: '2999-01-01' }])
      expect(await found('oslo', tokens.ann, filter)).toEqual([])
  })

  test('pages, without repeating a session', async () => {
    const first = await search('in', tokens.ann, { limit: '1' })
    const second = await search('in', tokens.ann, { limit: '1', before: String(first.next) })
    expect([first, second].flatMap(({ sessions }) => sessions.map((each: { sessionId: string }) => each.sessionId))).toEqual([
      ids.bergen,
      ids.oslo,
    ])
    expect(second.next).toBeUndefined()
  })

  test('says how many sessions it does not cover, and that the index is damaged', async () => {
    older = 3
    expect(await search('oslo')).toMatchObject({ unindexed: 3 })
    expect(await json(get('/v1/sessions?minCost=0'))).toMatchObject({ unindexed: 3 })
    expect(await json(get('/v1/usage'))).toMatchObject({ unindexed: 3 })
    expect(await json(get('/v1/sessions'))).not.toHaveProperty('unindexed')
    older = 0
    expect(await search('oslo')).not.toHaveProperty('unindexed')
    broken = 'index_damaged'
    const refused = await get('/v1/sessions?search=oslo')
    broken = undefined
    expect([refused.status, await json(refused)]).toMatchObject([
      503,
      { error: { code: 'index_damaged', remedy: expect.stringContaining('troupe store reindex') } },
    ])
  })

  test.each([
    ['/v1/sessions?since=yesterday', 'since'],
    ['/v1/sessions?until=2026-02-30', 'until'],
    ['/v1/sessions?since=2026-11-02&until=2026-11-01', 'until'],
    ['/v1/sessions?minCost=-1', 'minCost'],
    ['/v1/sessions?minCost=cheap', 'minCost'],
    ['/v1/sessions?maxCost=NaN', 'maxCost'],
    ['/v1/sessions?minCost=2&maxCost=1', 'maxCost'],
    ['/v1/sessions?minCost=', 'minCost'],
    ['/v1/sessions?maxCost=%20', 'maxCost'],
    ['/v1/sessions?search=a&search=b', 'search'],
    ['/v1/usage?by=colour', 'by'],
    ['/v1/usage?since=7', 'since'],
    ['/v1/usage?until=%F0%9F%9B%B6', 'until'],
    ['/v1/usage?person=', 'person'],
    ['/v1/usage?groups=day', undefined],
  ])('%s is refused', async (path, parameter) => {
    const refused = await get(path)
    expect([refused.status, (await json(refused)).error]).toMatchObject([
      400,
      { code: 'invalid_request', message: expect.any(String), ...(parameter !== undefined && { parameter }) },
    ])
  })
})

test.each([
  ['minCost=', 'minCost: expected US dollars, 0 or more', 'Write it like minCost=0.50, or leave it out.'],
  ['minCost=cheap', 'minCost: expected US dollars, 0 or more', 'Write it like minCost=0.50, or leave it out.'],
  ['search=', 'search: expected words', 'Write it like search=weekend%20oslo, or leave it out.'],
  ['minCost=2&maxCost=0.5', 'maxCost: expected at least minCost, 2, not 0.5', 'Raise maxCost, or lower minCost.'],
  [
    'since=2026-11-02&until=2026-11-01',
    'until: expected a time after since, 2026-11-02T00:00:00.000Z, not 2026-11-01T00:00:00.000Z',
    'Write a later until or an earlier since.',
  ],
])('a refused %s says what was expected and what to do', async (parameters, message, remedy) => {
  expect((await json(get(`/v1/sessions?${parameters}`))).error).toMatchObject({ message, remedy })
})

test.each(['/v1/sessions', '/v1/usage', '/v1/sessions/{id}/model-request'])('all parameters of %s are described', async (path) => {
  const { parameters } = (await json(get('/openapi.json'))).paths[path].get
  for (const each of parameters) expect(each, each.name).toMatchObject({ description: expect.stringMatching(/\w.*\.$/) })
  const cost = parameters.find(({ name }: { readonly name: string }) => name === 'minCost')
  if (cost) expect(cost).toMatchObject({ description: expect.stringContaining('US dollars'), schema: { type: 'number', minimum: 0 } })
})

describe('usage', () => {
  const usage = async (parameters: { readonly [name: string]: string } = {}, token = tokens.ann) =>
    json(get(`/v1/usage?${query(parameters)}`, token))
  const keys = ({ groups }: { readonly groups: readonly { readonly key: string; readonly turns: number }[] }) =>
    groups.map(({ key, turns }) => [key, turns])

  test('sums up own turns by day, agent, model and person', async () => {
    const report = await usage()
    const days = [startedAt, Date.now()].map((at) => new Date(at).toISOString().slice(0, 10))
    expect(report.groups.length).toBeGreaterThan(0)
    for (const { key } of report.groups) expect(days).toContain(key)
    expect(report).toMatchObject({ by: 'day', total: { turns: 2, requests: 2, costUsd: 0.02, unpriced: 0 } })
    expect(report.total.usage).toMatchObject({ input: 20, output: 10 })
    expect(keys(await usage({ by: 'agent' }))).toEqual([
      ['echo', 1],
      ['other', 1],
    ])
    expect(keys(await usage({ by: 'model', since: '1h' }))).toEqual([['test/echo', 2]])
    expect(keys(await usage({ by: 'person' }))).toEqual([['token:ann', 2]])
    expect(await usage({ until: '2020-01-01' })).toMatchObject({ groups: [], until: '2020-01-01T00:00:00.000Z' })
    expect(await usage({ since: '2026-11-01', until: '2999-01-01' })).toMatchObject({
      since: '2026-11-01T00:00:00.000Z',
      until: '2999-01-01T00:00:00.000Z',
    })
  })

  test('is about the last 30 days in UTC, unless a period is given', async () => {
    const dayMs = 86_400_000
    const startOf = (at: number) => at - (at % dayMs) - 29 * dayMs
    asked.length = 0
    const before = Date.now()
    await usage()
    expect([startOf(before), startOf(Date.now())]).toContain(asked[0]?.since)
    await usage({ until: '2026-11-01' })
    await usage({ since: '2026-10-01', until: '2026-11-01' })
    const until = Date.parse('2026-11-01')
    expect(asked.slice(1).map((given) => [given.since, given.until])).toEqual([
      [undefined, until],
      [Date.parse('2026-10-01'), until],
    ])
  })

  test('shows all, or one person, to admins only', async () => {
    expect(keys(await usage({ by: 'person' }, tokens.boss)).toSorted()).toEqual([
      ['token:ann', 2],
      ['token:bob', 1],
    ])
    expect(keys(await usage({ by: 'person', person: 'token:bob' }, tokens.boss))).toEqual([['token:bob', 1]])
    expect(keys(await usage({ by: 'person', person: 'token:ann' }))).toEqual([['token:ann', 2]])
    const refused = await get('/v1/usage?person=token%3Abob', tokens.ann)
    expect([refused.status, await json(refused)]).toMatchObject([403, { error: { parameter: 'person', remedy: expect.any(String) } }])
  })

  test('keeps the rows of a deleted session, and counts a copy once; texts of deleted sessions are not found', async () => {
    const token = await served.token({ name: 'carl' })
    const id = await say('Trondheim for a day', token)
    const forked = await json(served.fetch(`/v1/sessions/${id}/fork`, { token, json: {} }))
    expect((await usage({ by: 'person' }, token)).total).toMatchObject({ turns: 1, costUsd: 0.01 })
    expect((await found('trondheim', token)).toSorted()).toEqual([id, forked.sessionId].toSorted())
    expect((await served.fetch(`/v1/sessions/${id}`, { token, method: 'DELETE' })).status).toBe(204)
    expect(await found('trondheim', token)).toEqual([forked.sessionId])
    expect((await usage({ by: 'agent' }, token)).groups).toMatchObject([{ key: 'echo', turns: 1, costUsd: 0.01 }])
  })
})

describe('a model request', () => {
  const path = (id: string, parameters: { readonly [name: string]: string } = { step: 't1.s1' }) =>
    `/v1/sessions/${id}/model-request?${query(parameters)}`

  test('is what was sent, for admins', async () => {
    const [first] = sent
    for (const token of [undefined, tokens.boss]) {
      const answer = await get(path(ids.oslo ?? ''), token)
      expect([answer.status, await answer.text()]).toEqual([200, JSON.stringify(first)])
    }
    expect(await json(get(path(ids.oslo ?? '', { step: 't1.s1', attempt: '1', session: ids.oslo ?? '' })))).toEqual(first)
  })

  test('is refused to its owner without admin, who sees no tools in events, either', async () => {
    for (const id of [ids.oslo, ids.secret, 'missing'])
      expect((await get(path(id ?? ''), tokens.ann)).status, 'the answer does not depend on the session').toBe(403)
    const offers = async (token?: string) => {
      const { events } = await json(get(`/v1/sessions/${ids.oslo}/events`, token))
      return events.filter(({ type }: { readonly type: string }) => type === 'interaction.offer.recorded')
    }
    expect(await offers()).toMatchObject([{ tools: [{ name: 'peek', description: 'Reads /srv/secret.' }] }])
    expect(await offers(tokens.ann)).toMatchObject([{ tools: [], instructions: '' }])
  })

  test('that does not exist is 404, and wrong parameters are 400', async () => {
    const id = ids.oslo ?? ''
    for (const parameters of [{ step: 't9.s1' }, { step: '%' }, { step: 't1.s1', attempt: '2' }, { step: 't1.s1', session: 'nobody' }]) {
      const missing = await get(path(id, parameters))
      expect([missing.status, (await json(missing)).error]).toMatchObject([404, { code: 'step_unknown', remedy: expect.any(String) }])
    }
    for (const parameters of [
      {},
      { step: '' },
      { step: 't1.s1', attempt: '0' },
      { step: 't1.s1', attempt: 'x' },
      { step: 't1.s1', child: 'x' },
    ])
      expect((await get(path(id, parameters as { readonly [name: string]: string }))).status).toBe(400)
    expect((await get(path('missing'))).status).toBe(404)
  })
})
