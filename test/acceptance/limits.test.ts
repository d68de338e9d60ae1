import { describe, expect, test, vi } from 'vitest'
import { FakeClock, type ScriptedStep } from '../../src/testing/index.ts'
import { agent, bounded, elapsing, expectLegal, expectWhole, finish, journalOf, ofType, resultsIn, tool, world } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const call = (name = 'look', more: ScriptedStep = {}): ScriptedStep => ({ calls: [{ tool: name }], ...more })

describe('core.md, near the end: one last step with tools off and a notice to answer now; partial with the reason', () => {
  test('steps: calls in the last allowed one are skipped, and an answer from the reserve follows', async () => {
    let runs = 0
    const counted = tool('look', {
      execute: () => {
        runs += 1
        return 'ok'
      },
    })
    const { runtime, model, store } = world({
      limits: { maxToolTurns: 2 },
      steps: [call(), call(), { text: 'So far.' }],
      tools: [counted],
    })
    const outcome = await bounded(runtime.run('go'))
    expect([outcome.status, outcome.reason, outcome.report?.text]).toEqual(['partial', 'steps', 'So far.'])
    expect(runs, 'nothing could go on with the result of the second call').toBe(1)
    expect(outcome.accounting.flatMap((entry) => (entry.kind === 'call' ? [entry.status] : []))).toEqual(['completed', 'skipped'])
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'none'])
    expect(model.requests[2]?.tools, 'the tools stay in place, so that the prefix cache still hits').toEqual(model.requests[1]?.tools)
    expect(outcome.diagnostics).toContainEqual(
      expect.objectContaining({ code: 'limit_reached', remedy: expect.stringMatching(/limits\.maxToolTurns of .*--max-steps/) }),
    )
    const [, , third] = ofType(await journalOf(store, outcome.sessionId), 'interaction.step.started')
    expect(third?.last).toMatchObject({ reason: 'steps' })
    expect(JSON.stringify(model.requests[2]?.messages), 'the model reads the notice').toContain(
      JSON.stringify(third?.last?.notice).slice(1, -1),
    )
    expectLegal(await journalOf(store, outcome.sessionId))
  })

  test.each([1, 2, 3])('steps: an answer in the last of %i is completed, and tools were offered for it', async (maxToolTurns) => {
    const steps = [...Array.from({ length: maxToolTurns - 1 }, () => call()), { text: 'Done.' }]
    const { runtime, model } = world({ limits: { maxToolTurns }, steps, tools: [tool('look')] })
    const outcome = await bounded(runtime.run('go'))
    expect([outcome.status, outcome.reason, outcome.diagnostics]).toEqual(['completed', undefined, []])
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(Array(maxToolTurns).fill('auto'))
  })

  test('calls: an answer after exactly the allowed number is completed', async () => {
    const { runtime, model } = world({ limits: { maxCalls: 2 }, steps: [call(), call(), { text: 'Done.' }], tools: [tool('look')] })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'auto'])
  })

  test('a model that calls tools on the last step too: none runs, the turn ends, nothing hangs', async () => {
    let runs = 0
    const counted = tool('look', {
      execute: () => {
        runs += 1
        return 'ok'
      },
    })
    const { runtime, store, clock } = world({
      limits: { maxToolTurns: 2 },
      steps: Array.from({ length: 12 }, () => call('look', { text: 'hm' })),
      tools: [counted],
    })
    const outcome = await elapsing(clock, runtime.run('go'))
    expect(runs).toBe(1)
    expect(['partial', 'failed']).toContain(outcome.status)
    expectWhole(outcome)
    const events = await journalOf(store, outcome.sessionId)
    expectLegal(events)
    expect(new Set(ofType(events, 'interaction.step.started').map(({ stepId }) => stepId)).size, 'the limit, and the reserve').toBe(3)
  })

  test('calls: no more than the limit run; the others fail with a message; then a last answer', async () => {
    let runs = 0
    const counted = tool('look', {
      concurrency: 'shared',
      execute: () => {
        runs += 1
        return 'ok'
      },
    })
    const { runtime, model, store } = world({
      limits: { maxCalls: 2 },
      steps: [{ calls: [1, 2, 3].map(() => ({ tool: 'look' })) }, { text: 'So far.' }],
      tools: [counted],
    })
    const outcome = await bounded(runtime.run('go'))
    expect(runs).toBe(2)
    expect([outcome.status, outcome.reason]).toEqual(['partial', 'calls'])
    expect(resultsIn(model.requests[1]).map(({ ok }) => ok)).toEqual([true, true, false])
    expect(model.requests[1]?.toolChoice).toBe('none')
    const ends = ofType(await journalOf(store, outcome.sessionId), 'interaction.item.completed').map(({ item }) => item)
    expect(ends.some((item) => 'error' in item && item.error?.class === 'budget' && ['skipped', 'failed'].includes(item.status))).toBe(true)
    expectLegal(await journalOf(store, outcome.sessionId))
  })

  test('calls: per turn; the next turn has its own', async () => {
    const { runtime, store } = world({
      limits: { maxCalls: 1 },
      steps: [call(), { text: 'a' }, call(), { text: 'b' }],
      tools: [tool('look')],
    })
    const handle = runtime.stream('one')
    await handle.send('two')
    await finish(handle)
    const ran = ofType(await journalOf(store, handle.sessionId), 'interaction.item.completed').filter(
      ({ item }) => item.type === 'tool_call' && item.status === 'completed',
    )
    expect(ran).toHaveLength(2)
  })

  test('tokens: a reserve is held back from the start, and the turn does not overspend', async () => {
    const maxTokens = 12_000
    const { runtime, model, store } = world({
      limits: { maxTokens, maxToolTurns: 50 },
      steps: Array.from(
        { length: 50 },
        (_, i) => (request: { toolChoice: unknown }) =>
          request.toolChoice === 'none'
            ? { text: `So far ${i}.`, usage: { input: 1000, output: 200 } }
            : { calls: [{ tool: 'look', input: { n: i } }], usage: { input: 1000, output: 200 } },
      ),
      tools: [tool('look')],
    })
    const outcome = await bounded(runtime.run('go'))
    expect([outcome.status, outcome.reason]).toEqual(['partial', 'tokens'])
    expect(outcome.report?.text).toMatch(/^So far/)
    expect(outcome.usage.input + outcome.usage.output).toBeLessThanOrEqual(maxTokens)
    expect(model.requests.length).toBeGreaterThan(1)
    let spent = 0
    for (const event of await journalOf(store, outcome.sessionId)) {
      if (event.type === 'interaction.step.started')
        expect(spent + event.reservation.input + event.reservation.output, 'a reservation fits into what is left').toBeLessThanOrEqual(
          maxTokens,
        )
      if (event.type === 'interaction.step.completed') spent += event.usage.input + event.usage.output
    }
  })

  test('tokens: a reply is never allowed more than the remaining budget', async () => {
    const { runtime, model } = world({ limits: { maxTokens: 3000 }, steps: [{ text: 'x', usage: { input: 20, output: 5 } }] })
    await bounded(runtime.run('go'))
    const asked = model.requests[0]?.parameters.maxOutputTokens
    expect(asked, '"capped output tokens": the cap reaches the provider').toEqual(expect.any(Number))
    expect(asked as number).toBeLessThanOrEqual(3000)
  })

  test('tokens: failed attempts count as well', async () => {
    const { runtime, clock } = world({
      limits: { maxRetries: 1 },
      steps: [
        { text: 'half', fault: { class: 'network', message: 'gone' } },
        { text: 'x', usage: { input: 5, output: 1 } },
      ],
    })
    const outcome = await elapsing(clock, runtime.run('go'))
    expect(outcome.accounting).toHaveLength(2)
    expect(outcome.usage.input, 'what the first attempt cost is estimated, not forgotten').toBeGreaterThan(5)
  })

  test('session tokens: over turns', async () => {
    const { runtime, store } = world({
      limits: { maxSessionTokens: 10_000 },
      steps: Array.from({ length: 20 }, () => ({ text: 'x', usage: { input: 4000, output: 100 } })),
    })
    const handle = runtime.stream('one')
    for (let i = 0; i < 5; i += 1) await handle.send(`more ${i}`)
    await finish(handle)
    const spent = ofType(await journalOf(store, handle.sessionId), 'interaction.step.completed').reduce(
      (sum, { usage }) => sum + usage.input + usage.output,
      0,
    )
    expect(spent).toBeLessThanOrEqual(10_000 + 4100)
    const events = await journalOf(store, handle.sessionId)
    expectLegal(events)
    const ends = events.filter(({ type }) => /turn\.(completed|failed)/.test(type)) as { ending?: { reason?: string } }[]
    expect(ends.at(-1)?.ending?.reason).toBe('tokens')
  })

  test('time: a call that uses it up, then a last answer', async () => {
    const clock = new FakeClock()
    const { runtime, model } = world({
      clock,
      limits: { timeBudget: 10_000 },
      steps: [call(), { text: 'So far.' }],
      tools: [
        tool('look', {
          execute: () => {
            clock.advance(9_900)
            return 'ok'
          },
        }),
      ],
    })
    const outcome = await elapsing(clock, runtime.run('go'), [10, 2000])
    expect([outcome.status, outcome.reason, outcome.report?.text]).toEqual(['partial', 'time', 'So far.'])
    expect(model.requests[1]?.toolChoice).toBe('none')
  })

  test('time: a call that hangs is aborted at the end of the budget, with time left for the last answer', async () => {
    const clock = new FakeClock()
    let abortedAt: number | undefined
    const { runtime, store } = world({
      clock,
      limits: { timeBudget: 10_000, toolTimeout: 3_600_000 },
      steps: [call(), { text: 'So far.' }],
      tools: [
        tool('look', {
          execute: (_, { signal }) =>
            new Promise((resolve) =>
              signal.addEventListener('abort', () => {
                abortedAt = clock.monotonic()
                resolve('stopped')
              }),
            ),
        }),
      ],
    })
    const outcome = await elapsing(clock, runtime.run('go'), [100, 300])
    expect([outcome.status, outcome.reason, outcome.report?.text]).toEqual(['partial', 'time', 'So far.'])
    expect(abortedAt).toBeLessThanOrEqual(10_000)
    expectLegal(await journalOf(store, outcome.sessionId))
  })

  test('time: a model that hangs does not outlive the budget', async () => {
    const clock = new FakeClock()
    const { runtime } = world({
      clock,
      limits: { timeBudget: 10_000 },
      steps: [{ fault: 'silence' }, { text: 'So far.' }, { text: 'So far.' }],
    })
    const outcome = await elapsing(clock, runtime.run('go'), [100, 300])
    expect(['partial', 'failed']).toContain(outcome.status)
    expect(outcome.reason).toBe('time')
    expect(clock.monotonic()).toBeLessThanOrEqual(12_000)
  })

  test('time: retry delays count and do not outlive the budget', async () => {
    const clock = new FakeClock()
    const { runtime } = world({
      clock,
      limits: { timeBudget: 10_000 },
      steps: [{ fault: { class: 'rate_limit', message: 'wait', retryAfterMs: 50_000 } }, { text: 'late' }],
    })
    const outcome = await elapsing(clock, runtime.run('go'), [500, 300])
    expect(outcome.operations?.durationMs).toBeLessThanOrEqual(12_000)
    expect(['partial', 'failed']).toContain(outcome.status)
  })

  test('limits of the agent win over those of the config', async () => {
    const { runtime, model } = world({
      limits: { maxToolTurns: 9 },
      config: { agents: [{ ...agent, limits: { maxToolTurns: 1 } }] },
      steps: [call(), { text: 'x' }],
      tools: [tool('look')],
    })
    expect((await bounded(runtime.run('go'))).reason).toBe('steps')
    expect(model.requests).toHaveLength(2)
  })
})
