import { describe, expect, test, vi } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, type ScriptedStep } from '../../src/testing/index.ts'
import {
  bounded,
  elapsing,
  expectLegal,
  inProcess,
  journalOf,
  ofType,
  parts,
  rawModel,
  resultsIn,
  settle,
  tool,
  until,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const call = (name = 'look', more: ScriptedStep = {}): ScriptedStep => ({ calls: [{ tool: name }], ...more })

describe('deadlines', () => {
  test('timeoutMs of a tool: its signal aborts, the call fails with class timeout, the session continues', async () => {
    const clock = new FakeClock()
    let aborted = false
    let entered = false
    const { runtime, model, store } = world({
      clock,
      steps: [call('slow'), { text: 'Without it.' }],
      tools: [
        tool('slow', {
          timeoutMs: 2000,
          execute: (_, { signal }) =>
            new Promise((_resolve, reject) => {
              entered = true
              signal.addEventListener('abort', () => {
                aborted = true
                reject(signal.reason)
              })
            }),
        }),
      ],
    })
    const run = runtime.run('go')
    await until('entered', () => entered)
    await clock.elapse(1999)
    expect(aborted).toBe(false)
    const outcome = await elapsing(clock, run, [100, 100])
    expect(aborted).toBe(true)
    expect(outcome.status).toBe('completed')
    expect(resultsIn(model.requests[1])[0]).toMatchObject({ ok: false, content: expect.stringMatching(/2(\.0)? ?s|2000|2,000/) })
    expect(ofType(await journalOf(store, outcome.sessionId), 'interaction.item.completed')[0]?.item).toMatchObject({
      error: { class: 'timeout' },
    })
  })

  test('toolTimeout of the agent, and a tool that ignores its signal: given up, what it says later is dropped', async () => {
    const clock = new FakeClock()
    const door = gate()
    const { runtime, model, store } = world({
      clock,
      limits: { toolTimeout: 5000 },
      steps: [{ calls: [{ tool: 'deaf' }, { tool: 'next' }] }, { text: 'Without it.' }],
      tools: [tool('deaf', { execute: () => door.promise.then(() => 'too late') }), tool('next')],
    })
    const outcome = await elapsing(clock, runtime.run('go'), [500, 200])
    expect(outcome.status).toBe('completed')
    door.open()
    await settle(20)
    const events = await journalOf(store, outcome.sessionId)
    expectLegal(events)
    expect(JSON.stringify(events)).not.toContain('too late')
    expect(resultsIn(model.requests[1]).map(({ name, ok }) => [name, ok])).toEqual([
      ['deaf', false],
      ['next', true],
    ])
  })

  test('a tool that ignores its signal and then rejects does not bring the process down', async () => {
    const clock = new FakeClock()
    const late = Promise.withResolvers<string>()
    const { runtime } = world({
      clock,
      limits: { toolTimeout: 1000 },
      steps: [call('deaf'), { text: 'x' }],
      tools: [tool('deaf', { execute: () => late.promise })],
    })
    const failures: unknown[] = []
    const note = (error: unknown) => failures.push(error)
    process.on('unhandledRejection', note)
    const outcome = await elapsing(clock, runtime.run('go'), [500, 100])
    late.reject(new Error('late'))
    await settle(20)
    process.off('unhandledRejection', note)
    expect([outcome.status, failures]).toEqual(['completed', []])
  })

  test('progress after the end is dropped', async () => {
    const clock = new FakeClock()
    let progress: ((text: string) => void) | undefined
    const { runtime, store } = world({
      clock,
      limits: { toolTimeout: 1000 },
      steps: [call('deaf'), { text: 'x' }],
      tools: [
        tool('deaf', {
          execute: (_, context) => {
            progress = (text) => context.progress(text)
            return new Promise<string>(() => undefined)
          },
        }),
      ],
    })
    const handle = runtime.stream('go')
    const seen: string[] = []
    const reading = (async () => {
      for await (const event of handle) seen.push(event.type === 'interaction.item.delta' ? `delta ${event.text}` : event.type)
    })()
    await elapsing(clock, handle.outcome, [500, 100])
    await bounded(reading)
    expect(() => progress?.('too late')).not.toThrow()
    await settle(10)
    expect(seen.join()).not.toContain('too late')
    expectLegal(await journalOf(store, handle.sessionId))
  })

  test('progress from a timer of a tool that was given up does not bring the process down', async () => {
    const { answer, ran } = await inProcess(`
      let report: (() => void) | undefined
      const runtime = createAgentRuntime({
        adapter: new ScriptedModel([{ calls: [{ tool: 'deaf' }] }]),
        config: { agents: [agent], tools: [{ name: 'deaf', description: 'd', inputSchema: { type: 'object' }, execute: (_: unknown, context: any) => { report = () => context.progress('still here'); return new Promise(() => {}) } }] },
      })
      const handle = runtime.stream('go')
      while (!report) await rounds(1)
      await handle.interrupt()
      const outcome = await handle.outcome
      setImmediate(report)
      await rounds()
      done({ status: outcome.status })
    `)
    expect(answer, ran.stderr.slice(0, 300)).toEqual({ status: 'interrupted' })
  })

  test('idleTimeout: a model that falls silent fails with class timeout and is tried again', async () => {
    const clock = new FakeClock()
    const { runtime, store } = world({
      clock,
      limits: { idleTimeout: 3000 },
      steps: [{ text: 'half', fault: 'silence' }, { text: 'Whole.' }],
    })
    const outcome = await elapsing(clock, runtime.run('go'), [500, 100])
    expect([outcome.status, outcome.report?.text]).toEqual(['completed', 'Whole.'])
    expect(ofType(await journalOf(store, outcome.sessionId), 'interaction.step.failed')).toMatchObject([{ failure: { class: 'timeout' } }])
  })

  test('llmTimeout: a model that ignores its signal too', async () => {
    const clock = new FakeClock()
    const { model } = rawModel([
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }),
      () =>
        parts([
          { type: 'text', text: 'Whole.' },
          { type: 'finish', reason: 'stop' },
        ]),
    ])
    const { runtime } = world({ clock, adapter: model, limits: { llmTimeout: 3000 } })
    const outcome = await elapsing(clock, runtime.run('go'), [500, 100])
    expect([outcome.status, outcome.report?.text]).toEqual(['completed', 'Whole.'])
  })

  test('interrupt: a model that ignores its signal does not hold the turn', async () => {
    const { model, requests } = rawModel([
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined), return: () => new Promise(() => undefined) }) }),
    ])
    const { runtime, clock } = world({ adapter: model })
    const handle = runtime.stream('go')
    await until('asked', () => requests.length === 1)
    await handle.interrupt()
    const outcome = await elapsing(clock, handle.outcome, [500, 100])
    expect(outcome.status).toBe('interrupted')
  })

  test('no timer is left behind: the clock has nothing pending when the session is idle', async () => {
    const clock = new FakeClock()
    const store = memoryStore()
    const { runtime } = world({ clock, store, limits: { timeBudget: 60_000 }, steps: [call(), { text: 'x' }], tools: [tool('look')] })
    await bounded(runtime.run('go'))
    await settle(10)
    expect(clock.pending).toBe(0)
  })
})

describe('core.md, retry', () => {
  const fault = (kind: string, more = {}) => ({ fault: { class: kind, message: `${kind} happened`, ...more } }) as ScriptedStep

  test('200 ms·2ⁿ ±10 %, at most maxRetries further attempts, then a typed failure', async () => {
    const clock = new FakeClock()
    const { runtime, model, store } = world({ clock, limits: { maxRetries: 3 }, steps: [1, 2, 3, 4].map(() => fault('network')) })
    const outcome = await elapsing(clock, runtime.run('go'), [10, 1000])
    expect([outcome.status, outcome.reason, outcome.failure?.class]).toEqual(['failed', 'model', 'network'])
    model.assertDone()
    const delays = ofType(await journalOf(store, outcome.sessionId), 'interaction.step.failed').map(({ delayMs }) => delayMs)
    for (const [n, nominal] of [200, 400, 800].entries()) {
      expect(delays[n]).toBeGreaterThanOrEqual(nominal * 0.9)
      expect(delays[n]).toBeLessThanOrEqual(nominal * 1.1)
    }
    expect(outcome.accounting.map((entry) => entry.kind === 'model' && [entry.attempt, entry.status])).toEqual([
      [1, 'failed'],
      [2, 'failed'],
      [3, 'failed'],
      [4, 'failed'],
    ])
  })

  test('it really waits that long', async () => {
    const clock = new FakeClock()
    const { runtime, model } = world({ clock, steps: [fault('network'), { text: 'x' }] })
    const run = runtime.run('go')
    await until('asked', () => model.requests.length === 1)
    await clock.elapse(179)
    expect(model.requests).toHaveLength(1)
    await clock.elapse(42)
    await bounded(run)
    expect(model.requests).toHaveLength(2)
  })

  test('a server’s delay wins up to 60 s', async () => {
    for (const [asked, given] of [
      [7_000, 7_000],
      [600_000, 60_000],
    ] as const) {
      const clock = new FakeClock()
      const { runtime, store } = world({ clock, steps: [fault('rate_limit', { retryAfterMs: asked }), { text: 'x' }] })
      const outcome = await elapsing(clock, runtime.run('go'), [1000, 700])
      const [failed] = ofType(await journalOf(store, outcome.sessionId), 'interaction.step.failed')
      expect(outcome.status).toBe('completed')
      expect(failed?.delayMs).toBeGreaterThanOrEqual(given)
      expect(failed?.delayMs).toBeLessThanOrEqual(given * 1.1)
    }
  })

  const several = (replies: { [name: string]: readonly ScriptedStep[] }, names: readonly string[]) => {
    const asked: string[] = []
    const left = new Map(Object.entries(replies).map(([name, steps]) => [name, [...steps]]))
    const clock = new FakeClock()
    const made = world({
      clock,
      config: { agents: [{ name: 'clerk', description: 'd', prompt: 'p', models: names }] },
      adapter: {
        resolve: (name) => ({
          id: name,
          abilities: ['tools'],
          stream: (_request, _call) => {
            asked.push(name)
            const step = left.get(name)?.shift() ?? { fault: { class: 'config', message: 'asked too often' } }
            const failure = step.fault
            return parts(
              failure && typeof failure === 'object'
                ? [{ type: 'error', failure }]
                : [
                    { type: 'text', text: step.text },
                    { type: 'finish', reason: 'stop' },
                  ],
            )
          },
        }),
      },
    })
    return { ...made, asked, clock }
  }

  test('rotates over the agent’s models in order, without sleeping while another is free', async () => {
    const { runtime, asked, clock } = several({ 'a/1': [fault('rate_limit')], 'b/2': [{ text: 'From b.' }] }, ['a/1', 'b/2'])
    const outcome = await bounded(runtime.run('go'))
    expect([outcome.status, outcome.report?.text, asked, clock.monotonic()]).toEqual(['completed', 'From b.', ['a/1', 'b/2'], 0])
  })

  test('auth and quota drop that model', async () => {
    for (const kind of ['auth', 'quota']) {
      const { runtime, asked, clock } = several(
        { 'a/1': [fault(kind)], 'b/2': [fault('network'), fault('network'), { text: 'From b.' }] },
        ['a/1', 'b/2'],
      )
      const outcome = await elapsing(clock, runtime.run('go'), [100, 200])
      expect([outcome.report?.text, asked]).toEqual(['From b.', ['a/1', 'b/2', 'b/2', 'b/2']])
    }
  })

  test('auth on the only model: failed immediately, class auth', async () => {
    const { runtime, asked, clock } = several({ 'a/1': [fault('auth')] }, ['a/1'])
    const outcome = await bounded(runtime.run('go'))
    expect([outcome.status, outcome.failure?.class, asked, clock.monotonic()]).toEqual(['failed', 'auth', ['a/1'], 0])
  })

  test('retries never re-run a tool, transport errors are not shown to the model, text of failed attempts is not in the history', async () => {
    let runs = 0
    const { runtime, model, clock, store } = world({
      steps: [call(), { text: 'half an ans', fault: { class: 'network', message: 'ECONNRESET' } }, { text: 'Whole answer.' }],
      tools: [
        tool('look', {
          execute: () => {
            runs += 1
            return 'ok'
          },
        }),
      ],
    })
    const handle = runtime.stream('go')
    const deltas: [number, string][] = []
    const reading = (async () => {
      for await (const event of handle) if (event.type === 'interaction.item.delta') deltas.push([event.attempt, event.text])
    })()
    const outcome = await elapsing(clock, handle.outcome, [100, 100])
    await bounded(reading)
    expect([runs, outcome.report?.text]).toEqual([1, 'Whole answer.'])
    expect(model.requests[2]?.messages).toEqual(model.requests[1]?.messages)
    expect(deltas).toEqual([
      [1, 'half an ans'],
      [2, 'Whole answer.'],
    ])
    const events = await journalOf(store, handle.sessionId)
    expectLegal(events)
    expect(JSON.stringify(outcome.snapshot.history)).not.toContain('half an ans')
  })
})
