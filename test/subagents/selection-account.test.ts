import { setImmediate as macrotask } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Model, ModelRequest } from '../../src/contracts/index.ts'
import { createAgentRuntime, type RuntimeOptions } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, sequentialIds } from '../../src/testing/index.ts'
import { type Script, scripted } from './team.ts'

// The question who is to speak is asked at somebody's cost, in somebody's time, and may be called off.

const isQuestion = ({ system }: ModelRequest): boolean => system.startsWith('Choose')
const usage = { input: 100, output: 50 }
const perToken = { input: 1e-5, output: 1e-4 }
const price: NonNullable<Model['costOf']> = ({ input, output }) => input * perToken.input + output * perToken.output
const chooses: Script = (request) => ({ text: isQuestion(request) ? '{"agent":"cook"}' : 'Done.', usage })

interface Setting extends Partial<Omit<RuntimeOptions, 'config' | 'adapter'>> {
  readonly limits?: RuntimeOptions['config']['limits']
  readonly queues?: RuntimeOptions['config']['queues']
  readonly model?: Model
}

function choosing({ limits, queues, model = scripted('m', chooses, { isFree: false, costOf: price }), ...options }: Setting = {}) {
  const agent = (name: string) => ({ name, description: `${name}s`, prompt: `You are a ${name}.`, model: 'm', tools: [] })
  return createAgentRuntime({
    config: {
      agents: [agent('clerk'), agent('cook')],
      agentSelection: { infer: 'model' },
      ...(limits && { limits }),
      ...(queues && { queues }),
    },
    adapter: model,
    store: memoryStore(),
    ids: sequentialIds(),
    ...options,
  })
}

/** Never answers the question, and tells whether it was told to stop. */
function silent(): { readonly model: Model; readonly signals: AbortSignal[]; readonly asked: Promise<void> } {
  const signals: AbortSignal[] = []
  const asked = gate()
  const usual = scripted('m', chooses)
  const model: Model = {
    ...usual,
    async *stream(request, options) {
      if (!isQuestion(request)) return yield* usual.stream(request, options)
      signals.push(options.signal)
      asked.open()
      await new Promise(() => {})
    },
  }
  return { model, signals, asked: asked.promise }
}

describe('the question who is to speak', () => {
  it('is in the account, the totals and the operations of the turn that it was asked for', async () => {
    const outcome = await choosing().run('Dinner')
    const cost = 2 * (price({ ...usage, cacheRead: 0, cacheWrite: 0, reasoning: 0 }) ?? 0)
    expect(outcome).toMatchObject({
      status: 'completed',
      usage: { input: 200, output: 100 },
      snapshot: { selectedAgent: { name: 'cook' } },
    })
    expect(outcome.cost).toBeCloseTo(cost, 10)
    expect(outcome.accounting).toMatchObject([
      { kind: 'model', stepId: 't1.s0', status: 'completed', model: 'team/m', usage },
      { kind: 'model', stepId: 't1.s1', status: 'completed', usage },
    ])
    expect(outcome.operations?.steps.map(({ stepId }) => stepId)).toEqual(['t1.s0', 't1.s1'])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('the table is gone')
      },
    ],
    ['is no number', () => Number.NaN],
    ['is below zero', () => -5],
  ] satisfies [string, NonNullable<Model['costOf']>][])(
    'costs nobody knows what where the price %s, and the budget holds',
    async (_, costOf) => {
      const model = scripted('m', chooses, { isFree: false, costOf })
      const outcome = await choosing({ model }).run('Dinner')
      expect(outcome).toMatchObject({ status: 'completed', cost: 'unknown', accounting: [{ cost: 'unknown' }, { cost: 'unknown' }] })
      const bound = await choosing({ model, limits: { maxCostUsd: 1 } }).run('Dinner')
      expect(bound).toMatchObject({ status: 'failed', reason: 'config', message: expect.stringContaining('has no price') })
    },
  )

  it('is estimated where what the model says that it took is no number of tokens', async () => {
    const usual = scripted('m', chooses)
    const model: Model = {
      ...usual,
      async *stream(request, options) {
        for await (const part of usual.stream(request, options))
          yield part.type === 'finish' ? { ...part, usage: { ...part.usage, input: Number.NaN } as never } : part
      },
    }
    const { accounting } = await choosing({ model }).run('Dinner')
    expect(accounting).toMatchObject([{ usage: { estimated: true } }, { usage: { estimated: true } }])
  })

  it('is paid once: a further turn has its own account', async () => {
    const runtime = choosing()
    const { sessionId: treeId } = await runtime.run('Dinner')
    await runtime.sessions.send(treeId, 'And tomorrow?')
    const second = await runtime.sessions.outcome(treeId)
    expect(second).toMatchObject({ usage: { input: 100, output: 50 }, accounting: [{ stepId: 't2.s1' }] })
  })

  it('counts against the limits of the turn', async () => {
    const left: (number | undefined)[] = []
    const model = scripted('m', (request) => {
      if (!isQuestion(request)) left.push(request.parameters.maxOutputTokens)
      return chooses(request, 1)
    })
    const asked = await choosing({ limits: { maxTokens: 4_000 }, model }).run('Dinner')
    expect(asked.status).toBe('completed')
    const named = choosing({ limits: { maxTokens: 4_000 }, model })
    await named.run('Dinner', { agent: 'cook' })
    const [after = 0, without = 0] = left
    // What the question took is gone.
    expect(without - after).toBe(150)
  })

  it.each([
    ['tokens', { maxTokens: 2_000 }, /^default: .*half of the token budget$/],
    ['money', { maxCostUsd: 0.2 }, /^default: .*half of the cost budget$/],
  ])('is not asked where it could take more than half of the %s', async (_, limits, reason) => {
    const questions: ModelRequest[] = []
    const model = scripted('m', (request) => {
      if (isQuestion(request)) questions.push(request)
      return { text: 'Done.', usage }
    })
    const runtime = choosing({ limits, model: { ...model, costOf: price } })
    const handle = runtime.stream('Dinner')
    let said: string | undefined
    for await (const event of handle) if (event.type === 'interaction.subagent.selected') said = event.reason
    expect(said).toMatch(reason)
    expect(questions).toEqual([])
    expect((await handle.outcome).accounting).toHaveLength(1)
  })

  it('needs a price where there is a budget of money', async () => {
    const outcome = await choosing({ limits: { maxCostUsd: 1 }, model: scripted('m', chooses) }).run('Dinner')
    expect(outcome).toMatchObject({ status: 'failed', reason: 'config', message: expect.stringMatching(/m has no price/) })
  })

  it.each([
    ['llmTimeout', { limits: { llmTimeout: 100 }, ms: 100, failure: 'timeout' }],
    ['timeBudget', { limits: { timeBudget: 1_000 }, ms: 500, failure: 'budget' }],
  ])('ends with its time (%s), is aborted, and that time is the time of the turn', async (_, { limits, ms, failure }) => {
    const { model, signals, asked } = silent()
    const clock = new FakeClock()
    const running = choosing({ limits, model, clock }).run('Dinner')
    await asked
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    clock.advance(ms)
    const outcome = await running
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(outcome).toMatchObject({
      status: 'completed',
      snapshot: { selectedAgent: { name: 'clerk' } },
      accounting: [{ stepId: 't1.s0', status: 'failed', failure: { class: failure }, usage: { estimated: true } }, {}],
      operations: { durationMs: ms },
    })
  })

  it('is called off by an interrupt: the request is aborted, and its slot is free again', async () => {
    const { model, signals, asked } = silent()
    const runtime = choosing({ model, queues: { team: { concurrent: 1 } } })
    const handle = runtime.stream('Dinner')
    await asked
    await handle.interrupt()
    expect(await handle.outcome).toMatchObject({ status: 'interrupted' })
    expect(signals[0]?.aborted).toBe(true)
    expect(await runtime.run('Dinner', { agent: 'cook' })).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
  })

  it('is called off while it waits in line', async () => {
    const [busy, open] = [gate(), gate()]
    const model = scripted('m', async (request) => {
      if (isQuestion(request)) throw new Error('It was asked.')
      busy.open()
      await open.promise
      return { text: 'Done.' }
    })
    const runtime = choosing({ model, queues: { team: { concurrent: 1 } } })
    const first = runtime.run('Dinner', { agent: 'cook' })
    await busy.promise
    const handle = runtime.stream('Supper')
    await macrotask()
    await handle.interrupt()
    expect(await handle.outcome).toMatchObject({ status: 'interrupted', usage: { input: 0, output: 0 } })
    open.open()
    expect((await first).status).toBe('completed')
  })
})
