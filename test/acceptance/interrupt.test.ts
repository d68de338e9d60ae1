import { describe, expect, test, vi } from 'vitest'
import { FakeClock, gate } from '../../src/testing/index.ts'
import { elapsing, expectLegal, finish, journalOf, ofType, settle, tool, until, world } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

describe('core.md: stop = finish with a last answer; interrupt = signal, grace, kill', () => {
  test('stop during a call: one last step with tools off and a notice, outcome partial, reason stopped', async () => {
    const door = gate()
    const entered = gate()
    const { runtime, model, store } = world({
      steps: [{ calls: [{ tool: 'slow' }] }, { text: 'What I have.' }],
      tools: [
        tool('slow', {
          execute: async () => {
            entered.open()
            await door.promise
            return 'done'
          },
        }),
      ],
    })
    const handle = runtime.stream('go')
    await entered.promise
    await handle.stop()
    door.open()
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason, outcome.report?.text]).toEqual(['partial', 'stopped', 'What I have.'])
    expect(model.requests[1]?.toolChoice).toBe('none')
    const events = await journalOf(store, handle.sessionId)
    expectLegal(events)
    expect(ofType(events, 'interaction.step.started')[1]?.last).toMatchObject({ reason: 'stopped', notice: expect.any(String) })
    expect(ofType(events, 'interaction.cancel.requested')).toMatchObject([{ mode: 'stop' }])
  })

  test('stop while the model is asking for calls still gives a last answer', async () => {
    const door = gate()
    const { runtime, model, store } = world({
      steps: [{ wait: door.promise, calls: [{ tool: 'look' }] }, { text: 'Last.' }],
      tools: [tool('look')],
    })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    await handle.stop()
    door.open()
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason, outcome.report?.text]).toEqual(['partial', 'stopped', 'Last.'])
    expect(model.requests[1]?.toolChoice).toBe('none')
    expectLegal(await journalOf(store, handle.sessionId))
  })

  test('stop while the model is writing its answer keeps that answer', async () => {
    const door = gate()
    const { runtime, model } = world({ steps: [{ wait: door.promise, text: 'The answer.' }] })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    await handle.stop()
    door.open()
    const outcome = await finish(handle)
    expect(['completed', 'partial']).toContain(outcome.status)
    expect(outcome.report?.text).toBe('The answer.')
    expect(model.requests).toHaveLength(1)
  })

  test('interrupt while the model is silent ends the turn now', async () => {
    const { runtime, model, store } = world({ steps: [{ text: 'half', fault: 'silence' }] })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    await handle.interrupt()
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason]).toEqual(['interrupted', 'interrupted'])
    const events = await journalOf(store, handle.sessionId)
    expectLegal(events)
    expect(ofType(events, 'interaction.step.failed')).toMatchObject([{ failure: { class: 'cancelled' } }])
  })

  test('interrupt: a call that finished keeps its real result; one that did not is interrupted; the marker is committed before the end', async () => {
    const entered = gate()
    const { runtime, store } = world({
      steps: [{ calls: [{ tool: 'quick' }, { tool: 'slow' }] }],
      tools: [
        tool('quick', { concurrency: 'shared' }),
        tool('slow', {
          concurrency: 'shared',
          execute: (_, { signal }) =>
            new Promise((resolve) => {
              entered.open()
              signal.addEventListener('abort', () => resolve({ ok: false, error: { class: 'cancelled', message: 'stopped by signal' } }))
            }),
        }),
      ],
    })
    const handle = runtime.stream('go')
    await entered.promise
    await until('quick ended', async () => ofType(await journalOf(store, handle.sessionId), 'interaction.item.completed').length === 1)
    await handle.interrupt()
    const outcome = await finish(handle)
    expect(outcome.status).toBe('interrupted')
    const events = await journalOf(store, handle.sessionId)
    expectLegal(events)
    expect(ofType(events, 'interaction.item.completed').map(({ item }) => item.status)).toEqual(['completed', 'interrupted'])
    const types = events.map(({ type }) => type)
    expect(types.indexOf('interaction.cancel.requested')).toBeGreaterThan(0)
    expect(types.indexOf('interaction.cancel.requested')).toBeLessThan(types.indexOf('interaction.turn.interrupted'))
    expect(types.lastIndexOf('interaction.item.completed')).toBeLessThan(types.indexOf('interaction.turn.interrupted'))
  })

  test('interrupt: a call says what is known ("ran for … and may have changed files")', async () => {
    const clock = new FakeClock()
    const entered = gate()
    const { runtime, store } = world({
      clock,
      steps: [{ calls: [{ tool: 'slow' }] }],
      tools: [
        tool('slow', {
          execute: (_, { signal }) =>
            new Promise((_resolve, reject) => {
              entered.open()
              signal.addEventListener('abort', () => reject(signal.reason))
            }),
        }),
      ],
    })
    const handle = runtime.stream('go')
    await entered.promise
    await clock.elapse(3200)
    await handle.interrupt()
    await finish(handle)
    const [record] = ofType(await journalOf(store, handle.sessionId), 'interaction.item.completed')
    expect(record?.item).toMatchObject({ status: 'interrupted', latencyMs: 3200, content: expect.stringMatching(/3\.2 ?s/) })
  })

  test('interrupt: a tool that ignores its signal is given up after a grace', async () => {
    const entered = gate()
    const clock = new FakeClock()
    const { runtime, store } = world({
      clock,
      steps: [{ calls: [{ tool: 'deaf' }, { tool: 'next' }] }],
      tools: [
        tool('deaf', {
          execute: () => {
            entered.open()
            return new Promise<string>(() => undefined)
          },
        }),
        tool('next'),
      ],
    })
    const handle = runtime.stream('go')
    await entered.promise
    await handle.interrupt()
    const outcome = await elapsing(clock, handle.outcome, [500, 100])
    expect(outcome.status).toBe('interrupted')
    const events = await journalOf(store, handle.sessionId)
    expectLegal(events)
    const ends = ofType(events, 'interaction.item.completed').map(({ item }) => item.status)
    expect(ends).toHaveLength(2)
    expect(ends).toContain('skipped')
    expect(ends.some((status) => status === 'interrupted' || status === 'unknown')).toBe(true)
  })

  test('interrupt twice, stop then interrupt, interrupt after the end: one end, no throw', async () => {
    const { runtime, model, store } = world({ steps: [{ text: 'half', fault: 'silence' }] })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    await Promise.all([handle.stop(), handle.interrupt(), handle.interrupt()])
    const outcome = await finish(handle)
    expect(outcome.status).toBe('interrupted')
    await handle.interrupt()
    await handle.stop()
    await settle(20)
    const events = await journalOf(store, handle.sessionId)
    expectLegal(events)
    expect(ofType(events, 'interaction.turn.interrupted')).toHaveLength(1)
  })

  test('an interrupt after the end does not fall upon the next turn', async () => {
    const { runtime, store, model } = world({ steps: [{ text: 'one' }, { text: 'two' }] })
    const handle = runtime.stream('go')
    await finish(handle)
    await handle.interrupt()
    await settle(20)
    await handle.send('again')
    await until('the second turn ended', async () => {
      const events = await journalOf(store, handle.sessionId)
      return events.filter(({ type }) => /turn\.(completed|interrupted|failed)/.test(type)).length === 2
    })
    expect(ofType(await journalOf(store, handle.sessionId), 'interaction.turn.completed')).toHaveLength(2)
    model.assertDone()
  })

  test('interrupt during a retry delay ends immediately, without asking again', async () => {
    const { runtime, model, store } = world({
      steps: [{ fault: { class: 'rate_limit', message: 'slow down', retryAfterMs: 30_000 } }, { text: 'never' }],
    })
    const handle = runtime.stream('go')
    await until('failed once', async () => ofType(await journalOf(store, handle.sessionId), 'interaction.step.failed').length === 1)
    await handle.interrupt()
    const outcome = await finish(handle)
    expect(outcome.status).toBe('interrupted')
    expect(model.requests).toHaveLength(1)
  })
})
