import { describe, expect, it } from 'vitest'
import type { Model, ModelPart } from '../../src/contracts/index.ts'
import { modelAdapter } from '../../src/models/by-name/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { FakeClock, gate, ScriptedModel } from '../../src/testing/index.ts'
import { applyEvent, emptyTree } from '../../src/view/index.ts'
import { runtimeWith } from './helpers.ts'

/** Sends the parts, each when its gate opens. */
function gatedModel(parts: readonly ModelPart[], more: Partial<Model> = {}) {
  const gates = parts.map(() => gate())
  const sent = parts.map(() => gate())
  const model: Model = {
    id: 'gated/model',
    abilities: [],
    async *stream() {
      for (const [i, part] of parts.entries()) {
        await gates[i]?.promise
        yield part
        sent[i]?.open()
      }
      await new Promise(() => {})
    },
    ...more,
  }
  return {
    model,
    /** Resolves when the loop has taken the part in and asks for the next. */
    async send(i: number) {
      gates[i]?.open()
      await sent[i]?.promise
    },
  }
}

describe('a model that falls silent', () => {
  const limits = { idleTimeout: 1_000, llmTimeout: 10_000, maxRetries: 0 }

  it('is given up after the idle timeout, counted from what it said last', async () => {
    const clock = new FakeClock()
    const { model, send } = gatedModel([{ type: 'text', text: 'One' }, { type: 'working' }])
    const handle = runtimeWith(model, { clock, limits }).stream('Go')
    await send(0)
    await clock.elapse(900)
    await send(1)
    await clock.elapse(900)
    await clock.elapse(100)
    expect(await handle.outcome).toMatchObject({
      status: 'failed',
      failure: {
        class: 'timeout',
        limit: 'idleTimeout',
        message: 'The model stopped sending output for 1000 ms.',
        remedy: 'Raise idleTimeout.',
      },
      report: { text: 'One' },
    })
    expect(clock.monotonic()).toBe(1_900)
  })

  it('may think until llmTimeout before it begins', async () => {
    const clock = new FakeClock()
    const { model, send } = gatedModel([{ type: 'notice', message: 'no temperature' }])
    const handle = runtimeWith(model, { clock, limits }).stream('Go')
    await send(0)
    await clock.elapse(9_999)
    await clock.elapse(1)
    expect(await handle.outcome).toMatchObject({ failure: { message: 'The model sent no output within 10000 ms.' } })
  })
})

describe('a reply that streams', () => {
  it('is not cut by llmTimeout, however long it takes', async () => {
    const clock = new FakeClock()
    const words = ['One', ' two', ' three', ' four']
    const { model, send } = gatedModel([...words.map((text) => ({ type: 'text', text }) as const), { type: 'finish', reason: 'stop' }])
    const handle = runtimeWith(model, { clock, limits: { llmTimeout: 1_000, idleTimeout: 900 } }).stream('Go')
    for (let i = 0; i < words.length; i++) {
      await clock.elapse(800)
      await send(i)
    }
    void send(words.length)
    expect(await handle.outcome).toMatchObject({ status: 'completed', report: { text: 'One two three four' } })
    expect(clock.monotonic()).toBe(3_200)
  })

  it.each(['llmTimeout', 'idleTimeout', 'replyTimeout'] as const)('is repeated once when %s cut it, then the turn fails', async (limit) => {
    const clock = new FakeClock()
    let asked = 0
    const model: Model = {
      id: 'slow/model',
      abilities: [],
      async *stream() {
        asked += 1
        if (limit === 'idleTimeout') yield { type: 'text', text: 'Well' }
        while (limit === 'replyTimeout') {
          clock.advance(600)
          yield { type: 'text', text: 'and on ' }
        }
        await new Promise(() => {})
      },
    }
    const running = runtimeWith(model, { clock, limits: { maxRetries: 3, [limit]: 1_000 } }).run('Go')
    await clock.elapse(10_000)
    expect(await running).toMatchObject({ status: 'failed', failure: { class: 'timeout', limit, remedy: `Raise ${limit}.` } })
    expect(asked).toBe(2)
  })
})

describe('time to the first token', () => {
  const whole: readonly ModelPart[] = [
    { type: 'working' },
    { type: 'reasoning', text: '' },
    { type: 'text', text: 'One' },
    { type: 'finish', reason: 'stop' },
  ]

  it.each([
    ['is that of the first piece, not of a sign of life', 700, 2_100],
    ['is not recorded if the reply came whole', 0, undefined],
  ])('%s', async (_, pauseMs, firstTokenMs) => {
    const clock = new FakeClock()
    const { model, send } = gatedModel(whole)
    const runtime = runtimeWith(model, { clock })
    const handle = runtime.stream('Go')
    for (let i = 0; i < whole.length - 1; i++) {
      await clock.elapse(i === 0 || pauseMs > 0 ? 700 : 0)
      await send(i)
    }
    await clock.elapse(pauseMs)
    void send(whole.length - 1)
    const { sessionId } = await handle.outcome
    const tree = emptyTree()
    for await (const event of runtime.sessions.events(sessionId, { until: 'turn', live: false })) applyEvent(tree, event)
    const [attempt] = tree.roots[0]?.turns[0]?.steps[0]?.attempts ?? []
    expect([attempt?.firstTokenMs, attempt?.latencyMs]).toEqual([firstTokenMs, pauseMs > 0 ? 2_800 : 700])
  })
})

describe('what a provider will not do', () => {
  it('is a diagnostic, once per turn', async () => {
    const notice: ModelPart = { type: 'notice', message: 'temperature is not supported' }
    let asked = 0
    const model: Model = {
      id: 'picky/model',
      abilities: ['tools'],
      async *stream() {
        asked += 1
        yield notice
        yield notice
        if (asked === 1) yield { type: 'call', id: '1', name: 'nothing', input: '{}' }
        else yield { type: 'text', text: 'Done.' }
        yield { type: 'finish', reason: asked === 1 ? 'tool-calls' : 'stop' }
      },
    }
    const { diagnostics } = await runtimeWith(model).run('Go')
    expect(diagnostics).toEqual([{ code: 'model_notice', severity: 'info', message: 'temperature is not supported' }])
  })
})

describe('the cost of an attempt', () => {
  const usage = { input: 1_000, output: 10 }
  const costOf: NonNullable<Model['costOf']> = ({ input, output }) => input * 1e-6 + output * 1e-5
  const run = (step: { costUsd?: number }, price?: Model['costOf']) => {
    const model = Object.assign(new ScriptedModel([{ text: 'Done.', usage, ...step }]), price && { costOf: price })
    return runtimeWith(model).run('Go')
  }

  it('is what the provider reports, else what the price says, else unknown', async () => {
    expect((await run({ costUsd: 0.5 }, costOf)).cost).toBe(0.5)
    expect((await run({}, costOf)).cost).toBeCloseTo(0.0011)
    expect((await run({})).cost).toBe('unknown')
    expect((await run({}, () => undefined)).cost).toBe('unknown')
    expect((await run({}, () => Number.NaN)).cost).toBe('unknown')
    const throwing = () => {
      throw new Error('no table')
    }
    expect(await run({}, throwing)).toMatchObject({ status: 'completed', cost: 'unknown' })
  })
})

describe('a model that fails with an unknown class', () => {
  it('has sent nonsense', async () => {
    const model: Model = {
      id: 'odd/model',
      abilities: [],
      async *stream() {
        yield { type: 'error', failure: { class: 'tired' as never, message: 'not today' } }
      },
    }
    const outcome = await runtimeWith(model, { limits: { maxRetries: 0 } }).run('Go')
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'invalid_response' } })
  })
})

describe('which failures use up a retry', () => {
  const refusing = (kind: 'auth' | 'network', id: string): Model => ({
    id,
    abilities: [],
    async *stream() {
      yield { type: 'error', failure: { class: kind, message: 'no' } }
    },
  })
  const models: { readonly [name: string]: Model } = {
    a: refusing('auth', 'x/a'),
    b: refusing('auth', 'x/b'),
    c: new ScriptedModel([{ text: 'Here.' }]),
  }
  it('a model that refuses us is left out, whatever maxRetries says', async () => {
    const agents = [{ name: 'clerk', description: 'd', prompt: 'p', models: ['a', 'b', 'c'] }]
    const runtime = createAgentRuntime({
      config: { agents, limits: { maxRetries: 0 } },
      adapter: { resolve: (name) => models[name] ?? refusing('network', 'x/z') },
    })
    expect(await runtime.run('Go')).toMatchObject({ status: 'completed', report: { text: 'Here.' } })
  })

  it('time that ran out is none: the last answer is asked for', async () => {
    const clock = new FakeClock()
    const entered = gate()
    let asked = 0
    const model: Model = {
      id: 'slow/model',
      abilities: ['tools'],
      async *stream(request) {
        asked += 1
        if (request.toolChoice === 'none') {
          yield { type: 'text', text: 'In short: no.' }
          yield { type: 'finish', reason: 'stop' }
          return
        }
        entered.open()
        await new Promise(() => {})
      },
    }
    const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' }]
    const handle = runtimeWith(model, { clock, tools, limits: { maxRetries: 0, timeBudget: 10_000 } }).stream('Go')
    await entered.promise
    await clock.elapse(8_000)
    expect(await handle.outcome).toMatchObject({ status: 'partial', reason: 'time', report: { text: 'In short: no.' } })
    expect(asked).toBe(2)
  })
})

describe('a model that never waits', () => {
  it('is ended at its deadline, though no timer can fire', async () => {
    const clock = new FakeClock()
    const model: Model = {
      id: 'flood/model',
      abilities: [],
      async *stream() {
        for (;;) {
          clock.advance(1)
          yield { type: 'working' }
        }
      },
    }
    const outcome = await runtimeWith(model, { clock, limits: { maxRetries: 0, replyTimeout: 500 } }).run('Go')
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'timeout', limit: 'replyTimeout' } })
  })
})

it('a fault of a script fires in every session, also with the same prompt, and only once in each', async () => {
  const readFile = async () => 'steps: [{ fault: model }, { text: One }]'
  const agents = [{ name: 'clerk', description: 'd', prompt: 'p', model: 'script/a.yaml', limits: { maxRetries: 0 } }]
  const runtime = createAgentRuntime({ config: { agents }, adapter: modelAdapter({ variables: {}, readFile }) })
  const failed = { status: 'failed', failure: { message: 'the provider failed (scripted)' } }
  const handle = runtime.stream('Go')
  expect(await handle.outcome).toMatchObject(failed)
  expect(await runtime.run('Go')).toMatchObject(failed)
  await handle.send('Again')
  expect(await runtime.sessions.outcome(handle.sessionId)).toMatchObject({ status: 'completed', report: { text: 'One' } })
  expect(await runtime.run('Go')).toMatchObject(failed)
  await runtime.close()
})
