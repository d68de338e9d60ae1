import { describe, expect, test, vi } from 'vitest'
import { type Model, type ModelAdapter, TroupeError } from '../../src/index.ts'
import { FakeClock, type ScriptedStep } from '../../src/testing/index.ts'
import {
  agent,
  bounded,
  elapsing,
  expectLegal,
  expectWhole,
  inProcess,
  journalOf,
  ofType,
  parts,
  rawModel,
  resultsIn,
  settle,
  textReply,
  tool,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const ran: string[] = []
const look = tool('look', {
  execute: (input) => {
    ran.push(JSON.stringify(input))
    return 'ok'
  },
})
const finish = (reason: string, more = {}) => ({ type: 'finish', reason, ...more })
const lookCall = (id: unknown = 'c1', input: unknown = '{}') => ({ type: 'call', id, name: 'look', input })

/** First a bad reply, then good ones: gives what became of it. */
async function following(bad: (signal: AbortSignal) => unknown, { retries = 2, good = 'Whole.' } = {}) {
  ran.length = 0
  const clock = new FakeClock()
  const { model, requests } = rawModel([(_, signal) => bad(signal), textReply(good), textReply(good), textReply(good)])
  const { runtime, store } = world({ clock, adapter: model, tools: [look], limits: { maxRetries: retries, llmTimeout: 5000 } })
  const handle = runtime.stream('go')
  const outcome = await elapsing(clock, handle.outcome, [500, 200])
  expectWhole(outcome)
  const events = await journalOf(store, handle.sessionId)
  expectLegal(events)
  return { outcome, events, requests, failed: ofType(events, 'interaction.step.failed') }
}

describe('issue: a model that answers nonsense gives a typed failure or a clean retry, never a tool run from a partial call', () => {
  const partial: { [name: string]: readonly unknown[] } = {
    'a stream cut after a whole call': [lookCall()],
    'a stream cut after half a call': [lookCall('c1', '{"wor')],
    'length after a call': [lookCall(), finish('length')],
    'length after a truncated call': [lookCall('c1', '{"wo'), finish('length')],
    'content-filter after a call': [lookCall(), finish('content-filter')],
    'other after a call': [lookCall(), finish('other')],
    'error after a call': [lookCall(), finish('error')],
    'an unknown finish reason after a call': [lookCall(), finish('banana')],
    'an error part after a call': [lookCall(), { type: 'error', failure: { class: 'network', message: 'gone' } }],
    'an error part before a good finish': [
      lookCall(),
      { type: 'error', failure: { class: 'network', message: 'gone' } },
      finish('tool-calls'),
    ],
    'an error part that says nothing': [lookCall(), { type: 'error' }],
    'duplicate call ids': [lookCall('same'), lookCall('same'), finish('tool-calls')],
    'a call without an id': [{ ...lookCall(), id: undefined }, finish('tool-calls')],
    'a call with an empty id': [lookCall(''), finish('tool-calls')],
    'a call with an empty name': [{ type: 'call', id: 'c1', name: '', input: '{}' }, finish('tool-calls')],
    'a call without a name': [{ type: 'call', id: 'c1', input: '{}' }, finish('tool-calls')],
    'a call whose name is no text': [{ type: 'call', id: 'c1', name: 7, input: '{}' }, finish('tool-calls')],
    'a part of no known type': [{ type: 'banana' }, finish('stop')],
    'a part that is null': [null, finish('stop')],
    'a part that is undefined': [undefined, finish('stop')],
    'a part that is a number': [42, finish('stop')],
    'a part that is a text': ['hello', finish('stop')],
    'a text that is no text': [{ type: 'text', text: 42 }, finish('stop')],
    'a text that is missing': [{ type: 'text' }, finish('stop')],
    'nothing at all': [],
    'an empty finish': [{ type: 'finish' }],
  }
  for (const [name, list] of Object.entries(partial))
    test(`${name}: no tool runs; retried cleanly or failed with a class`, async () => {
      const { outcome, failed, requests } = await following(() => parts(list))
      expect(ran, 'nothing runs from a bad reply').toEqual([])
      if (outcome.status === 'completed') {
        if (failed.length > 0) expect(outcome.report?.text).toBe('Whole.')
        for (const { failure } of failed)
          expect(failure).toMatchObject({ class: expect.stringMatching(/^[a-z_]+$/), message: expect.stringMatching(/\S/) })
        expect(JSON.stringify(requests.at(-1)?.messages), 'the bad reply is not in the history').not.toContain('"c1"')
      } else expect(outcome).toMatchObject({ reason: expect.stringMatching(/^(model|tokens)$/) })
    })

  test('a call whose input is an object instead of text runs unchanged or not at all', async () => {
    const { outcome } = await following(() => parts([lookCall('c1', { word: 'a' }), finish('tool-calls')]))
    expect(['completed', 'failed']).toContain(outcome.status)
    for (const input of ran) expect(input).toBe('{"word":"a"}')
  })

  test('parts after the finish are not taken: no call after the end runs', async () => {
    await following(() => parts([{ type: 'text', text: 'Done.' }, finish('stop'), lookCall(), finish('tool-calls')]))
    expect(ran).toEqual([])
  })

  test('the same id in a later step is no duplicate: both calls run, each has its result', async () => {
    ran.length = 0
    const { model, requests } = rawModel([
      () => parts([lookCall('call_0'), finish('tool-calls')]),
      () => parts([lookCall('call_0', '{"n":2}'), finish('tool-calls')]),
      textReply('x'),
    ])
    const { runtime, store } = world({ adapter: model, tools: [look] })
    const outcome = await bounded(runtime.run('go'))
    expect(outcome.status).toBe('completed')
    expect(ran).toHaveLength(2)
    expect(resultsIn(requests[2])).toMatchObject([{ id: 'call_0', ok: true }])
    expectLegal(await journalOf(store, outcome.sessionId))
  })

  test('stop with calls is a valid attempt: "valid only if it finishes with `stop` or `tool-calls`"', async () => {
    ran.length = 0
    const { model } = rawModel([() => parts([lookCall(), finish('stop')]), textReply('x')])
    const { runtime } = world({ adapter: model, tools: [look] })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
    expect(ran).toHaveLength(1)
  })

  test('tool-calls without a call, and stop without a text: the turn ends all the same', async () => {
    for (const reason of ['tool-calls', 'stop']) {
      const { outcome } = await following(() => parts([finish(reason)]))
      expect(['completed', 'failed']).toContain(outcome.status)
    }
  })

  const throwing: { [name: string]: (signal: AbortSignal) => unknown } = {
    'stream() throws': () => {
      throw new Error('contract broken')
    },
    'stream() throws nothing': () => {
      throw undefined
    },
    'stream() answers undefined': () => undefined,
    'stream() answers a promise': () => Promise.resolve(parts([{ type: 'text', text: 'x' }, finish('stop')])),
    'stream() answers a list': () => [{ type: 'text', text: 'x' }, finish('stop')],
    'the iterator throws at once': async function* () {
      yield* []
      throw new Error('contract broken')
    },
    'the iterator throws after a call': async function* () {
      yield lookCall()
      throw new Error('contract broken')
    },
    'the iterator throws a text': async function* () {
      yield lookCall()
      throw 'contract broken'
    },
    'the iterator throws null': async function* () {
      yield lookCall()
      throw null
    },
    'next() answers nonsense': () => ({ [Symbol.asyncIterator]: () => ({ next: () => 42 }) }),
    'next() throws synchronously': () => ({
      [Symbol.asyncIterator]: () => ({
        next() {
          throw new Error('contract broken')
        },
      }),
    }),
    'return() throws': () => ({
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: { type: 'error', failure: { class: 'network', message: 'gone' } } }),
        return() {
          throw new Error('contract broken')
        },
      }),
    }),
  }
  for (const [name, bad] of Object.entries(throwing))
    test(`${name}: an outcome, no tool`, async () => {
      const { outcome } = await following(bad)
      expect(ran).toEqual([])
      expect(['completed', 'failed']).toContain(outcome.status)
      if (outcome.status === 'failed') expect(outcome.reason).toBe('model')
    })

  test('the iterator throws an error whose message throws: the process lives, the run has an outcome', async () => {
    const { answer, ran: process } = await inProcess(`
      const bad = { id: 'raw/bad', abilities: ['tools'], stream: () => (async function* () { throw Object.defineProperty(new Error('x'), 'message', { get() { throw new Error('gotcha') } }) })() }
      const runtime = createAgentRuntime({ adapter: bad as any, config: { agents: [agent], limits: { maxRetries: 0 } } })
      const outcome = await runtime.run('go')
      await rounds()
      done({ status: outcome.status, reason: outcome.reason })
    `)
    expect(answer, process.stderr.slice(0, 300)).toEqual({ status: 'failed', reason: 'model' })
  })

  test('model.ts: "A throw is taken as class `model`"', async () => {
    const { failed } = await following(async function* () {
      yield { type: 'text', text: 'half' }
      throw new Error('broken')
    })
    expect(failed[0]?.failure.class).toBe('model')
    expect(failed[0]?.failure.message).toContain('broken')
  })

  const odd: { [name: string]: unknown } = {
    negative: { input: -5, output: -5, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    NaN: { input: Number.NaN, output: Number.NaN, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    infinite: { input: Number.POSITIVE_INFINITY, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    text: { input: '12', output: '3', cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    empty: {},
    null: null,
  }
  for (const [name, usage] of Object.entries(odd))
    test(`usage that is ${name}: figures in the outcome stay figures`, async () => {
      const { outcome } = await following(() => parts([{ type: 'text', text: 'x' }, finish('stop', { usage })]))
      expect(['completed', 'failed']).toContain(outcome.status)
      for (const figure of [outcome.usage.input, outcome.usage.output]) {
        expect(Number.isFinite(figure), JSON.stringify(outcome.usage)).toBe(true)
        expect(figure).toBeGreaterThanOrEqual(0)
      }
    })

  test('invariant 6: usage without figures does not switch the token limit off', async () => {
    const { model, requests } = rawModel(
      Array.from(
        { length: 40 },
        () => (request) =>
          parts(
            request.toolChoice === 'none'
              ? [{ type: 'text', text: 'So far.' }, finish('stop', { usage: {} })]
              : [lookCall(), finish('tool-calls', { usage: {} })],
          ),
      ),
    )
    const { runtime } = world({
      adapter: model,
      tools: [tool('look', { execute: () => 'word '.repeat(2000) })],
      limits: { maxTokens: 20_000, maxToolTurns: 40 },
    })
    const outcome = await bounded(runtime.run('go'))
    expect(outcome.reason).toBe('tokens')
    expect(requests.length).toBeLessThan(15)
  })

  test('a cost that is NaN or negative does not become the bill', async () => {
    for (const costUsd of [Number.NaN, -1, Number.POSITIVE_INFINITY, '1']) {
      const { outcome } = await following(() => parts([{ type: 'text', text: 'x' }, finish('stop', { costUsd })]))
      expect(
        outcome.cost === 'unknown' || (Number.isFinite(outcome.cost) && (outcome.cost as number) >= 0),
        `${costUsd} → ${outcome.cost}`,
      ).toBe(true)
    }
  })

  test('metadata that is no JSON does not break the journal', async () => {
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    for (const metadata of [cyclic, { n: 1n }, { f: () => 1 }, { u: undefined }, 'text', 42]) {
      const { outcome, events } = await following(() => parts([{ type: 'text', text: 'x', metadata }, finish('stop')]))
      expect(['completed', 'failed']).toContain(outcome.status)
      expect(() => JSON.stringify(events)).not.toThrow()
    }
  })

  test('texts with lone surrogates and NUL get through the journal', async () => {
    const { outcome } = await following(() => parts([{ type: 'text', text: 'a\ud800b\u0000c' }, finish('stop')]))
    expect(outcome.status).toBe('completed')
  })

  test('calls unknown tools for ever: the step cap ends it, partial', async () => {
    const steps = Array.from(
      { length: 30 },
      () =>
        (request: { toolChoice: unknown }): ScriptedStep =>
          request.toolChoice === 'none' ? { text: 'I give up.' } : { calls: [{ tool: 'nope' }] },
    )
    const { runtime, model } = world({ limits: { maxToolTurns: 6 }, steps, tools: [look] })
    const outcome = await bounded(runtime.run('go'))
    expect([outcome.status, outcome.reason, outcome.report?.text]).toEqual(['partial', 'steps', 'I give up.'])
    expect(model.requests, 'six, and the answer from the reserve').toHaveLength(7)
  })

  test('a thousand calls in one step: no more run at once than allowed, every one ends', async () => {
    let now = 0
    let most = 0
    const { runtime, store } = world({
      steps: [{ calls: Array.from({ length: 1000 }, () => ({ tool: 'many' })) }, { text: 'x' }],
      tools: [
        tool('many', {
          concurrency: 'shared',
          execute: async () => {
            now += 1
            most = Math.max(most, now)
            await new Promise((resolve) => setImmediate(resolve))
            now -= 1
            return 'ok'
          },
        }),
      ],
    })
    const outcome = await bounded(runtime.run('go'), 'a thousand calls', 15_000)
    expect(outcome.status).toBe('completed')
    expect(most).toBeLessThanOrEqual(4)
    expectLegal(await journalOf(store, outcome.sessionId))
  })

  test('never stops: a stream that continues for ever ends at replyTimeout', async () => {
    const clock = new FakeClock()
    const { model } = rawModel([
      async function* () {
        for (;;) {
          clock.advance(10)
          yield { type: 'text', text: 'and on ' }
          await new Promise((resolve) => setImmediate(resolve))
        }
      },
      textReply('Whole.'),
    ])
    const { runtime } = world({ clock, adapter: model, limits: { replyTimeout: 2000 } })
    const outcome = await elapsing(clock, runtime.run('go'), [100, 500])
    expect([outcome.status, outcome.report?.text]).toEqual(['completed', 'Whole.'])
  })

  test('never stops and never lets go: a stream that floods without a pause does not take the process', async () => {
    const { answer, ran: process } = await inProcess(
      `
      const flood = { id: 'raw/flood', abilities: ['tools'], stream: () => (async function* () { for (;;) yield { type: 'text', text: 'and on and on ' } })() }
      const runtime = createAgentRuntime({ adapter: flood as any, config: { agents: [agent], limits: { replyTimeout: 500, maxRetries: 0, timeBudget: 2000 } } })
      const outcome = await runtime.run('go')
      done({ status: outcome.status, reason: outcome.reason })
    `,
      15_000,
    )
    expect(process.killed, process.stderr).toBe(false)
    expect(answer, process.stderr.slice(0, 300)).toMatchObject({ status: 'failed' })
  })
})

describe('models that can not be had', () => {
  const resolving = async (adapter: unknown) => {
    const { runtime, store, clock } = world({ adapter: adapter as Model, config: { agents: [{ ...agent, model: 'acme/one' }] } })
    let outcome: Awaited<ReturnType<typeof runtime.run>> | undefined
    let thrown: unknown
    try {
      outcome = await elapsing(clock, runtime.run('go'), [500, 50])
    } catch (error) {
      thrown = error
    }
    return { outcome, thrown, store }
  }
  test('resolve throws model_unknown: an outcome (or that error) that names the model and what exists', async () => {
    const adapter: ModelAdapter = {
      resolve: (name) => {
        throw new TroupeError('model_unknown', `There is no model ${name}. There are acme/two, acme/three.`)
      },
    }
    const { outcome, thrown } = await resolving(adapter)
    expect(`${outcome?.message} ${outcome?.failure?.message} ${thrown}`).toMatch(/acme\/one[\s\S]*acme\/two/)
    if (outcome) {
      expect(outcome.status).toBe('failed')
      expect(['config', 'model']).toContain(outcome.reason)
      expectWhole(outcome)
    }
  })

  for (const [name, answer] of [
    ['nothing', undefined],
    ['null', null],
    ['an object without stream', { id: 'a/b', abilities: [] }],
    ['a number', 42],
  ] as const)
    test(`resolve answers ${name}: an outcome or a TroupeError, never a bare TypeError`, async () => {
      const { outcome, thrown } = await resolving({ resolve: () => answer })
      if (thrown) expect(thrown).toBeInstanceOf(TroupeError)
      else expect(outcome?.status).toBe('failed')
    })

  test('resolve never answers: interrupt ends the turn', async () => {
    const { runtime, clock } = world({ adapter: { resolve: () => new Promise<never>(() => undefined) } })
    const handle = runtime.stream('go')
    await bounded(handle.interrupt(), 'handle.interrupt()', 30_000)
    for (let i = 0; i < 20; i += 1) await clock.elapse(1000)
    expect((await bounded(handle.outcome, 'the outcome', 30_000)).status).toBe('interrupted')
  })

  test('resolve never answers: close() ends all the same', async () => {
    const { runtime, clock } = world({ adapter: { resolve: () => new Promise<never>(() => undefined) } })
    runtime.stream('go')
    await settle(10)
    const closed = runtime.close()
    for (let i = 0; i < 20; i += 1) await clock.elapse(1000)
    await bounded(closed, 'close()', 30_000)
  })
})
