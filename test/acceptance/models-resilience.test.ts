/* Issue 3, Deliver 2: validity of an attempt, classes, backoff, server delays, rotation, drops, the last answer, silence. */
import { describe, expect, test } from 'vitest'
import type { AgentLimits, InteractionEvent, Model, ModelAdapter, ModelFailureClass, Outcome } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, ScriptedModel, type ScriptedStepSource, sequentialIds } from '../../src/testing/index.ts'
import {
  agent,
  bounded,
  collect,
  durable,
  elapsing,
  expectLegal,
  ofType,
  parts,
  rawModel,
  requestText,
  settle,
  tool,
  until,
  world,
} from './support.ts'

let ran = 0
const counted = (): string => {
  ran += 1
  return `ran ${ran}`
}

interface Told {
  readonly outcome: Outcome
  readonly events: InteractionEvent[]
  readonly clock: FakeClock
  readonly models: Readonly<Record<string, ScriptedModel>>
}
/** Runs an agent with several scripted models on a fake clock that is turned until the turn ends. */
async function told(
  scripts: Readonly<Record<string, readonly ScriptedStepSource[]>>,
  setup: { limits?: Partial<AgentLimits>; tools?: ReturnType<typeof tool>[]; prefix?: string } = {},
): Promise<Told> {
  const models = Object.fromEntries(Object.entries(scripts).map(([id, steps]) => [id, new ScriptedModel(steps, { id })]))
  const adapter: ModelAdapter = { resolve: (name) => models[name] as Model }
  const clock = new FakeClock()
  const { runtime } = world({
    adapter,
    clock,
    ...(setup.tools && { tools: setup.tools }),
    ...(setup.prefix && { ids: sequentialIds(setup.prefix) }),
    config: { agents: [{ ...agent, model: undefined as never, models: Object.keys(scripts), limits: setup.limits ?? {} }] },
  })
  const handle = runtime.stream('go')
  const all = collect(handle)
  const outcome = await elapsing(clock, handle.outcome, [100, 5000])
  return { outcome, events: durable(await bounded(all)), clock, models }
}
const fault = (kind: ModelFailureClass, retryAfterMs?: number): ScriptedStepSource => ({
  fault: { class: kind, message: `${kind}!`, ...(retryAfterMs !== undefined && { retryAfterMs }) },
})
const order = (events: readonly InteractionEvent[]): string[] => ofType(events, 'interaction.step.started').map(({ model }) => model)
const failed = (events: readonly InteractionEvent[]) => ofType(events, 'interaction.step.failed')
const waits = (events: readonly InteractionEvent[]): number[] => {
  const starts = ofType(events, 'interaction.step.started')
  return failed(events).map((each) => (starts.find(({ seq }) => seq > each.seq)?.at ?? Number.NaN) - each.at)
}

describe('an attempt is valid only if it ends with stop or tool-calls and no error came', () => {
  const call = { type: 'call', id: 'c1', name: 'act', input: '{"reason":"r"}' }
  test.each([
    ['cut behind the call', [call]],
    ['length', [call, { type: 'finish', reason: 'length' }]],
    ['other', [call, { type: 'finish', reason: 'other' }]],
    ['error', [call, { type: 'finish', reason: 'error' }]],
    ['content-filter', [call, { type: 'finish', reason: 'content-filter' }]],
    [
      'an error part before the finish',
      [call, { type: 'error', failure: { class: 'network', message: 'gone' } }, { type: 'finish', reason: 'tool-calls' }],
    ],
    ['the same id twice', [call, call, { type: 'finish', reason: 'tool-calls' }]],
  ])('%s: no call runs', async (_, list) => {
    ran = 0
    const { model } = rawModel([() => parts(list)])
    const { runtime, clock } = world({
      adapter: model,
      limits: { maxRetries: 0 },
      tools: [tool('act', { execute: () => counted() })],
    })
    const outcome = await elapsing(clock, runtime.run('go'))
    expect(ran).toBe(0)
    expect(outcome.status).not.toBe('completed')
  })
  test('an answer that was cut is asked for again, and only the whole one counts', async () => {
    const { outcome, events } = await told({ a: [{ text: 'Half an ans', fault: 'cut' }, { text: 'The whole answer.' }] })
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'The whole answer.' } })
    expect(failed(events)).toHaveLength(1)
    expectLegal(events)
  })
  test('arguments are mended on a whole reply, never on a cut one', async () => {
    const inputs: unknown[] = []
    const act = tool('act', {
      schema: { type: 'object', properties: { n: { type: 'number' } } },
      execute: (input) => `${inputs.push(input)}`,
    })
    const { outcome } = await told(
      {
        a: [
          { calls: [{ tool: 'act', input: '{"n": 1, "reason": "r"' }], fault: 'cut' },
          { calls: [{ tool: 'act', input: "{n: 2, 'reason': 'r',}" }] },
          { text: 'Done.' },
        ],
      },
      { tools: [act] },
    )
    expect(outcome.status).toBe('completed')
    expect(inputs).toEqual([{ n: 2 }])
  })
})

describe('backoff', () => {
  test('is 200 ms doubled each time, ten per cent more or less', async () => {
    const { outcome, events } = await told({ a: [fault('network'), fault('network'), fault('network'), { text: 'Hello.' }] })
    expect(outcome.status).toBe('completed')
    const delays = failed(events).map(({ delayMs }) => delayMs)
    expect(delays).toHaveLength(3)
    for (const [n, delay] of delays.entries()) {
      expect(delay).toBeGreaterThanOrEqual(180 * 2 ** n)
      expect(delay).toBeLessThanOrEqual(220 * 2 ** n)
    }
    for (const [n, wait] of waits(events).entries()) expect(wait).toBeGreaterThanOrEqual(Math.floor(delays[n] as number))
  })
  test('is seeded: the same session waits the same, another one differently', async () => {
    const script = () => ({ a: [fault('network'), fault('network'), { text: 'Hello.' }] })
    const delays = async (prefix: string) => failed((await told(script(), { prefix })).events).map(({ delayMs }) => delayMs)
    const first = await delays('seed-one')
    expect(await delays('seed-one')).toEqual(first)
    expect(await delays('seed-two')).not.toEqual(first)
  })
  test.each([0, 1, 4])('with maxRetries %i there is that many further attempts, then the turn fails', async (maxRetries) => {
    const { outcome, models, events } = await told({ a: Array.from({ length: 9 }, () => fault('network')) }, { limits: { maxRetries } })
    expect(models.a?.requests).toHaveLength(maxRetries + 1)
    expect(outcome).toMatchObject({ status: 'failed', reason: 'model', failure: { class: 'network' } })
    expect(outcome.accounting).toHaveLength(maxRetries + 1)
    expectLegal(events)
  })
  test.each(['rate_limit', 'network', 'timeout', 'invalid_response', 'model'] as const)('class %s is tried again', async (kind) => {
    const { outcome } = await told({ a: [fault(kind), { text: 'Hello.' }] })
    expect(outcome.status).toBe('completed')
  })
  test('retries begin anew with each step', async () => {
    const { outcome } = await told(
      { a: [fault('network'), { calls: [{ tool: 'act', input: { reason: 'r' } }] }, fault('network'), { text: 'Hello.' }] },
      { limits: { maxRetries: 1 }, tools: [tool('act')] },
    )
    expect(outcome.status).toBe('completed')
  })
})

describe('the delay of a server', () => {
  test.each([5000, 60_000])('%i ms are waited', async (ms) => {
    const { events, outcome } = await told({ a: [fault('rate_limit', ms), { text: 'Hello.' }] })
    expect(outcome.status).toBe('completed')
    const [wait] = waits(events)
    expect(wait).toBeGreaterThanOrEqual(ms)
    expect(wait).toBeLessThanOrEqual(ms * 1.1 + 200)
  })
  test('an hour is not waited: at most 60 s', async () => {
    const { events, outcome } = await told({ a: [fault('rate_limit', 3_600_000), { text: 'Hello.' }] })
    if (outcome.status === 'completed') expect(waits(events)[0]).toBeLessThanOrEqual(66_000)
    else expect(outcome.failure).toMatchObject({ class: 'rate_limit' })
  })
  test('none at all is the backoff', async () => {
    const { events } = await told({ a: [fault('rate_limit', 0), { text: 'Hello.' }] })
    expect(failed(events)[0]?.delayMs).toBeLessThanOrEqual(220)
  })
})

describe('rotation over models', () => {
  test('a limited model makes room for the next one at once', async () => {
    const { outcome, events } = await told({ a: [fault('rate_limit', 30_000)], b: [{ text: 'From b.' }] })
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'From b.' } })
    expect(order(events)).toEqual(['a', 'b'])
    expect(waits(events)).toEqual([0])
  })
  test('goes in the order of the agent and sleeps only when every model is limited', async () => {
    const { outcome, events } = await told(
      { a: [fault('rate_limit'), { text: 'From a.' }], b: [fault('rate_limit')], c: [fault('rate_limit')] },
      { limits: { maxRetries: 3 } },
    )
    expect(order(events)).toEqual(['a', 'b', 'c', 'a'])
    expect(outcome.report?.text).toBe('From a.')
    expect(waits(events).slice(0, 2)).toEqual([0, 0])
    expect(waits(events)[2]).toBeGreaterThan(0)
  })
  test('of all that are limited, the one that is free first is asked', async () => {
    const { events } = await told({ a: [fault('rate_limit', 40_000)], b: [fault('rate_limit', 2000), { text: 'From b.' }] })
    expect(order(events)).toEqual(['a', 'b', 'b'])
  })
  test.each(['auth', 'quota'] as const)('class %s drops a model for the turn', async (kind) => {
    const { outcome, events, models } = await told(
      {
        a: [fault(kind)],
        b: [fault('network'), { calls: [{ tool: 'act', input: { reason: 'r' } }] }, { text: 'From b.' }],
      },
      { tools: [tool('act')] },
    )
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'From b.' } })
    expect(models.a?.requests).toHaveLength(1)
    expect(order(events)).toEqual(['a', 'b', 'b', 'b'])
  })
  test.each(['auth', 'quota'] as const)('class %s of the only model ends the turn without a second try', async (kind) => {
    const { outcome, models } = await told({ a: [fault(kind), { text: 'never' }] })
    expect(outcome).toMatchObject({ status: 'failed', reason: 'model', failure: { class: kind } })
    expect(models.a?.requests).toHaveLength(1)
  })
  test('one retry is enough to reach the second model', async () => {
    const { outcome } = await told({ a: [fault('network')], b: [{ text: 'From b.' }] }, { limits: { maxRetries: 1 } })
    expect(outcome.report?.text).toBe('From b.')
  })
  test('the accounting has each attempt, with the model that it went to', async () => {
    const { outcome } = await told({ a: [fault('quota')], b: [{ text: 'From b.', usage: { input: 3, output: 2 } }] })
    expect(outcome.accounting).toMatchObject([
      { kind: 'model', model: 'a', status: 'failed', failure: { class: 'quota' } },
      { kind: 'model', model: 'b', status: 'completed', usage: { input: 3, output: 2 } },
    ])
  })
})

describe('a retry', () => {
  test('never runs a tool again, and does not tell the model of the transport', async () => {
    ran = 0
    const { outcome, models } = await told(
      { a: [{ calls: [{ tool: 'act', input: { reason: 'r' } }] }, fault('network'), { fault: 'cut', text: 'Ha' }, { text: 'Done.' }] },
      { tools: [tool('act', { execute: () => counted() })] },
    )
    expect(outcome.status).toBe('completed')
    expect(ran).toBe(1)
    const [, first, second, third] = models.a?.requests ?? []
    expect(second).toEqual(first)
    expect(third).toEqual(first)
    expect(requestText(third)).not.toContain('network!')
  })
  test('live text names the attempt that it belongs to', async () => {
    const { runtime, clock } = world({ steps: [{ text: 'Half', fault: 'cut', chunks: ['Ha', 'lf'] }, { text: 'Whole.' }] })
    const handle = runtime.stream('go')
    const all = collect(handle)
    await elapsing(clock, handle.outcome)
    const deltas = ofType(await all, 'interaction.item.delta')
    expect(deltas.map(({ text, attempt }) => `${attempt} ${text}`)).toEqual(['1 Ha', '2 Whole.'])
  })
})

describe('the forced last answer', () => {
  const again: ScriptedStepSource = (_, index) => ({
    calls: [{ tool: 'act', input: { n: index, reason: 'r' } }],
    usage: { input: 100, output: 20 },
  })
  const act = tool('act', { schema: { type: 'object', properties: { n: { type: 'number' } } } })
  test('the last step has its tools in place but switched off, and a notice to answer now', async () => {
    const { outcome, models, events } = await told(
      { a: [again, again, { text: 'What I have.' }] },
      { limits: { maxToolTurns: 2 }, tools: [act] },
    )
    expect(outcome).toMatchObject({ status: 'partial', reason: 'steps', report: { text: 'What I have.' } })
    const requests = models.a?.requests ?? []
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'none'])
    expect(requests[2]?.tools).toEqual(requests[0]?.tools)
    const last = ofType(events, 'interaction.step.started').at(-1)?.last
    expect(last).toMatchObject({ reason: 'steps', notice: expect.any(String) })
    expect(requestText(requests[2])).toContain(JSON.stringify(last?.notice).slice(1, -1))
  })
  test('a call in spite of that does not run', async () => {
    ran = 0
    const { outcome } = await told(
      { a: [again, again, again, again] },
      { limits: { maxToolTurns: 2, maxRetries: 0 }, tools: [tool('act', { schema: act.inputSchema, execute: () => counted() })] },
    )
    expect(ran).toBe(1)
    expect(outcome.status).not.toBe('completed')
  })
  test('a reserve of tokens is kept for it: the limit is not overrun by tools', async () => {
    const many: ScriptedStepSource[] = Array.from(
      { length: 30 },
      () => (request, index) =>
        request.toolChoice === 'none'
          ? { text: 'What I have.', usage: { input: 100, output: 10 } }
          : { calls: [{ tool: 'act', input: { n: index, reason: 'r' } }], usage: { input: 400, output: 100 } },
    )
    const { outcome } = await told({ a: many }, { limits: { maxToolTurns: 30, maxTokens: 6000 }, tools: [act] })
    expect(outcome).toMatchObject({ status: 'partial', reason: 'tokens', report: { text: 'What I have.' } })
    expect(outcome.usage.input + outcome.usage.output).toBeLessThanOrEqual(6000)
  })
  test('is tried again and on another model like any step', async () => {
    const { outcome } = await told({ a: [again, fault('auth')], b: [{ text: 'From b.' }] }, { limits: { maxToolTurns: 1 }, tools: [act] })
    expect(outcome).toMatchObject({ status: 'partial', reason: 'steps', report: { text: 'From b.' } })
  })
})

describe('time', () => {
  async function* silence(signal: AbortSignal): AsyncGenerator<never> {
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const silent = (list: readonly unknown[]) =>
    rawModel([
      async function* (_request: unknown, signal: AbortSignal) {
        yield* parts(list)
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      } as never,
    ])
  async function timed(list: readonly unknown[], limits: Partial<AgentLimits>) {
    const { model, requests } = silent(list)
    const { runtime, clock } = world({ adapter: model, limits: { maxRetries: 0, ...limits }, store: memoryStore() })
    const began = clock.now()
    const running = runtime.run('go')
    await until('it is asked', () => requests.length === 1)
    await settle()
    const outcome = await elapsing(clock, running, [1000, 500])
    return { outcome, took: outcome.accounting[0]?.latencyMs ?? clock.now() - began }
  }
  test('a model that says nothing at all is given up after llmTimeout', async () => {
    const { outcome, took } = await timed([], { llmTimeout: 30_000, idleTimeout: 5000 })
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout' } })
    expect(took).toBe(30_000)
  })
  test('one that falls silent in its reply is given up after idleTimeout', async () => {
    const { outcome, took } = await timed([{ type: 'text', text: 'Well' }], { llmTimeout: 90_000, idleTimeout: 5000 })
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout' } })
    expect(took).toBe(5000)
  })
  test.each([0, 2])(
    'where the time of the turn runs out, the last answer is asked for out of its reserve (maxRetries %i)',
    async (maxRetries) => {
      const { model, requests } = rawModel([
        ((_request: unknown, signal: AbortSignal) => silence(signal)) as never,
        () =>
          parts([
            { type: 'text', text: 'What I have.' },
            { type: 'finish', reason: 'stop' },
          ]),
      ])
      const { runtime, clock } = world({ adapter: model, limits: { maxRetries, timeBudget: 60_000 }, tools: [tool('act')] })
      const outcome = await elapsing(clock, runtime.run('go'), [500, 400])
      expect(outcome).toMatchObject({ status: 'partial', reason: 'time', report: { text: 'What I have.' } })
      expect(requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'none'])
    },
  )
  test('a sign of work is no silence', async () => {
    const clock = new FakeClock()
    const { model } = rawModel([
      async function* () {
        yield { type: 'text', text: 'Well' }
        for (let i = 0; i < 5; i += 1) {
          await new Promise<void>((resolve) => clock.after(4000, resolve))
          yield { type: 'working' }
        }
        yield { type: 'text', text: ', done.' }
        yield { type: 'finish', reason: 'stop' }
      } as never,
    ])
    const { runtime } = world({ adapter: model, clock, limits: { maxRetries: 0, idleTimeout: 5000 } })
    expect(await elapsing(clock, runtime.run('go'))).toMatchObject({ status: 'completed', report: { text: 'Well, done.' } })
  })
  test('timers do not outlive the run', async () => {
    const { clock, outcome } = await told({ a: [fault('network'), { text: 'Hello.' }] })
    expect(outcome.status).toBe('completed')
    expect(clock.pending).toBe(0)
  })
})
