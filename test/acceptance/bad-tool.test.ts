import { describe, expect, test, vi } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import {
  bounded,
  expectLegal,
  expectWhole,
  inProcess,
  journalOf,
  ofType,
  resultsIn,
  settle,
  temporaryFolder,
  tool,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

const throws: { [name: string]: () => unknown } = {
  'an Error': () => {
    throw new Error('boom')
  },
  'a text': () => {
    throw 'boom'
  },
  null: () => {
    throw null
  },
  undefined: () => {
    throw undefined
  },
  'a number': () => {
    throw 42
  },
  'a symbol': () => {
    throw Symbol('boom')
  },
  'a plain object': () => {
    throw { code: 'E_BOOM' }
  },
  'an object that can not be shown': () => {
    throw Object.create(null)
  },
  'an Error whose message throws': () => {
    throw Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('gotcha')
      },
    })
  },
  'a Proxy that refuses everything': () => {
    throw new Proxy(
      {},
      {
        get() {
          throw new Error('no')
        },
        getPrototypeOf() {
          throw new Error('no')
        },
      },
    )
  },
  'an Error with a cycle': () => {
    throw Object.assign(new Error('boom'), { self: cyclic })
  },
  'a rejection': () => Promise.reject(new Error('boom')),
  'a rejection with nothing': () => Promise.reject(),
  'an AbortError of its own': () => Promise.reject(new DOMException('aborted', 'AbortError')),
}
const returns: { [name: string]: unknown } = {
  undefined: undefined,
  null: null,
  'a number': 42,
  true: true,
  'an empty object': {},
  'ok without content': { ok: true },
  'content that is a number': { ok: true, content: 42 },
  'content that is an object': { ok: true, content: { a: 1 } },
  'not ok without an error': { ok: false },
  'not ok with a text for an error': { ok: false, error: 'boom' },
  'an error without a class': { ok: false, error: { message: 'boom' } },
  'an error with an unknown class': { ok: false, error: { class: 'banana', message: 'boom' } },
  'an error whose message is no text': { ok: false, error: { class: 'failed', message: { a: 1 } } },
  'ok that is a text': { ok: 'yes', content: 'x' },
  'a cycle': cyclic,
  'a value with a cycle': { ok: true, content: 'x', value: cyclic },
  'a value with a BigInt': { ok: true, content: 'x', value: { n: 10n } },
  'a value with a function': { ok: true, content: 'x', value: { f: () => 1 } },
  'a value with NaN': { ok: true, content: 'x', value: Number.NaN },
  'a function': () => 'x',
  'a list': ['a'],
  'a Buffer': Buffer.from('abc'),
  'a getter that throws': Object.defineProperty({}, 'ok', {
    get() {
      throw new Error('gotcha')
    },
  }),
  'a Proxy that refuses everything': new Proxy(
    {},
    {
      get(_, key) {
        if (key === 'then') return undefined
        throw new Error('no')
      },
    },
  ),
  'a value of 3,000 levels': { ok: true, content: 'x', value: JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`) },
}

async function calls(execute: () => unknown) {
  const { runtime, model, store } = world({
    steps: [{ calls: [{ tool: 'bad' }, { tool: 'good' }] }, { text: 'Went on.' }],
    tools: [tool('bad', { concurrency: 'shared', execute: execute as never }), tool('good', { concurrency: 'shared' })],
    store: sqliteStore({ path: temporaryFolder() }),
  })
  const outcome = await bounded(runtime.run('go'), 'the run')
  expectWhole(outcome)
  const events = await journalOf(store, outcome.sessionId)
  expectLegal(events)
  expect([outcome.status, outcome.report?.text], outcome.message).toEqual(['completed', 'Went on.'])
  const results = resultsIn(model.requests[1])
  expect(results.map(({ name }) => name)).toEqual(['bad', 'good'])
  expect(results[1]).toMatchObject({ ok: true, content: 'good done' })
  expect(results[0]?.content).toEqual(expect.stringMatching(/\S/))
  const [bad] = ofType(events, 'interaction.item.started').filter(({ item }) => 'tool' in item && item.tool === 'bad')
  const record = ofType(events, 'interaction.item.completed').find(({ itemId }) => itemId === bad?.itemId)?.item
  return { result: results[0], record, outcome }
}

describe('issue: a tool that throws … costs that call, not the session', () => {
  for (const [name, execute] of Object.entries(throws))
    test(`throws ${name}: failed, class failed`, async () => {
      const { result, record } = await calls(execute)
      expect(result?.ok).toBe(false)
      expect(record).toMatchObject({ status: 'failed', error: { class: 'failed' } })
    })

  test('the thrown message is sent to the model', async () => {
    expect((await calls(throws['an Error'] as never)).result?.content).toContain('boom')
    expect((await calls(throws['a text'] as never)).result?.content).toContain('boom')
  })
})

describe('issue: a tool that returns nonsense costs that call, not the session', () => {
  for (const [name, value] of Object.entries(returns))
    test(`returns ${name}`, async () => {
      const { record } = await calls(() => value)
      expect(['completed', 'failed']).toContain(record?.status)
      if (record && 'error' in record && record.error)
        expect(record.error.class).toMatch(
          /^(failed|config|model|network|auth|timeout|cancelled|sandbox|budget|denied|blocked|invalid_input|unknown_tool)$/,
        )
    })
  test('something that is no output is a failure, not a silent success', async () => {
    for (const value of [undefined, null, 42, {}, { ok: false }, { ok: true, content: { a: 1 } }]) {
      const { result } = await calls(() => value)
      expect(result?.ok, JSON.stringify(value)).toBe(false)
    }
  })

  test('an empty output is fine', async () => {
    const { runtime, model } = world({
      steps: [{ calls: [{ tool: 'quiet' }] }, { text: 'x' }],
      tools: [tool('quiet', { execute: () => '' })],
    })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
    expect(resultsIn(model.requests[1])[0]).toMatchObject({ ok: true })
  })

  test('outputs with lone surrogates, NUL and escapes get through journal and request', async () => {
    const text = 'a\ud800b\u0000c\u001b[31md\r\n\ufeff'
    const { runtime, model, store } = world({
      store: sqliteStore({ path: temporaryFolder() }),
      steps: [{ calls: [{ tool: 'odd' }] }, { text: 'x' }],
      tools: [tool('odd', { execute: () => text })],
    })
    const outcome = await bounded(runtime.run('go'))
    expect(outcome.status).toBe('completed')
    const record = ofType(await journalOf(store, outcome.sessionId), 'interaction.item.completed')[0]?.item
    expect(record && 'content' in record && record.content, '"journal and model see the same"').toBe(
      resultsIn(model.requests[1])[0]?.content,
    )
  })
})

describe('issue: a tool that misuses its context', () => {
  test('progress with nonsense', async () => {
    const { runtime } = world({
      steps: [{ calls: [{ tool: 'noisy' }] }, { text: 'x' }],
      tools: [
        tool('noisy', {
          execute: (_, { progress }) => {
            for (const text of [undefined, null, 42, {}, '', 'x'.repeat(1_000_000)]) progress(text as never)
            return 'ok'
          },
        }),
      ],
    })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
  })

  test('progress, taken out of its context, still works: it is a function of the port', async () => {
    const { runtime } = world({
      steps: [{ calls: [{ tool: 'noisy' }] }, { text: 'x' }],
      tools: [
        tool('noisy', {
          execute: (_, context) => {
            const { progress, storedOutput } = context
            progress('half way')
            void storedOutput
            return 'ok'
          },
        }),
      ],
    })
    const handle = runtime.stream('go')
    const seen: string[] = []
    for await (const event of handle) if (event.type === 'interaction.item.delta') seen.push(`${event.kind} ${event.text}`)
    expect(seen).toContain('progress half way')
  })

  test('a tool that calls the runtime from inside: a second tree, no deadlock', async () => {
    const inner = world({ steps: [{ calls: [{ tool: 'outer' }] }, { text: 'inner' }, { text: 'outer' }], tools: [] })
    const { runtime } = world({
      steps: [{ calls: [{ tool: 'nest' }] }, { text: 'outer' }],
      tools: [tool('nest', { execute: async () => `got ${(await inner.runtime.run('in')).status}` })],
    })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
  })

  test('a tool that blocks on its own session (waits for the outcome of its turn) can be interrupted', async () => {
    const { runtime, clock } = world({
      limits: { toolTimeout: 1000 },
      steps: [{ calls: [{ tool: 'selfish' }] }, { text: 'x' }],
      tools: [tool('selfish', { execute: async () => (await handle.outcome).status })],
    })
    const handle = runtime.stream('go')
    for (let i = 0; i < 20; i += 1) await clock.elapse(500)
    expect((await bounded(handle.outcome)).status).toBe('completed')
  })

  test('late rejections of tools that were given up do not become unhandled rejections', async () => {
    const { answer, ran } = await inProcess(`
      const late: any[] = []
      const runtime = createAgentRuntime({
        adapter: new ScriptedModel([{ calls: [{ tool: 'deaf' }] }]),
        config: { agents: [agent], tools: [{ name: 'deaf', description: 'd', inputSchema: { type: 'object' }, execute: () => new Promise((_, reject) => late.push(reject)) }] },
      })
      const handle = runtime.stream('go')
      while (late.length === 0) await rounds(1)
      await handle.interrupt()
      const outcome = await handle.outcome
      for (const reject of late) reject(new Error('late'))
      await rounds()
      done({ status: outcome.status })
    `)
    expect(ran.killed).toBe(false)
    expect(answer, ran.stderr).toEqual({ status: 'interrupted' })
  })

  test('a tool that throws from a timer or listener of its own is not ours; one that throws in its abort listener is', async () => {
    const { runtime, store } = world({
      steps: [{ calls: [{ tool: 'rude' }] }],
      tools: [
        tool('rude', {
          execute: (_, { signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(undefined))
            }),
        }),
      ],
    })
    const handle = runtime.stream('go')
    await settle(10)
    await handle.interrupt()
    expect((await bounded(handle.outcome)).status).toBe('interrupted')
    expectLegal(await journalOf(store, handle.sessionId))
  })
})
