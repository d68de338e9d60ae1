import { describe, expect, test, vi } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, type ScriptedStep, sequentialIds } from '../../src/testing/index.ts'
import {
  bounded,
  collect,
  durable,
  elapsing,
  expectLegal,
  expectWhole,
  finish,
  journalOf,
  ofType,
  settle,
  tool,
  until,
  world,
} from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

describe('core.md, inbox: nothing accepted is dropped', () => {
  test('a message that waits behind a turn that fails is still answered', async () => {
    const door = gate()
    const { runtime, store, model } = world({
      steps: [{ wait: door.promise, fault: { class: 'auth', message: 'no' } }, { text: 'second' }],
    })
    const handle = runtime.stream('one')
    await until('asked', () => model.requests.length === 1)
    await handle.send('two')
    door.open()
    await until('the second turn', async () => ofType(await journalOf(store, handle.sessionId), 'interaction.turn.completed').length === 1)
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('two')
    expectLegal(await journalOf(store, handle.sessionId))
  })

  test('a message that waits behind a turn that is interrupted is not lost: it is answered before the next one', async () => {
    const store = memoryStore()
    const one = world({ store, steps: [{ fault: 'silence', text: 'x' }, { text: 'second' }, { text: 'third' }] })
    const handle = one.runtime.stream('one')
    await until('asked', () => one.model.requests.length === 1)
    await handle.send('two')
    await handle.interrupt()
    await finish(handle)
    await settle(20)
    expect(one.model.requests).toHaveLength(1)
    await handle.send('three')
    await until('both are answered', () => one.model.requests.length === 3)
    expect(one.model.requests.map(({ messages }) => JSON.stringify(messages.at(-1))).slice(1)).toEqual([
      expect.stringContaining('two'),
      expect.stringContaining('three'),
    ])
    expectLegal(await journalOf(store, handle.sessionId), { settled: false })
  })

  test('steer that arrives during the forced last step is not lost', async () => {
    const door = gate()
    const { runtime, model, store } = world({
      limits: { maxToolTurns: 2 },
      steps: [{ calls: [{ tool: 'look' }] }, { wait: door.promise, text: 'So far.' }, { text: 'And this.' }],
      tools: [tool('look')],
    })
    const handle = runtime.stream('one')
    await until('the last step', () => model.requests.length === 2)
    await handle.steer('wait, also this')
    door.open()
    await until('it is answered', () => model.requests.length === 3)
    await finish(handle)
    expect(JSON.stringify(model.requests[2]?.messages)).toContain('wait, also this')
    expectLegal(await journalOf(store, handle.sessionId))
  })

  test('sends keep their order, ten concurrently', async () => {
    const door = gate()
    const { runtime, model, store } = world({
      steps: [{ wait: door.promise, text: 'a' }, ...Array.from({ length: 12 }, (): ScriptedStep => ({ text: 'b' }))],
    })
    const handle = runtime.stream('m0')
    await until('asked', () => model.requests.length === 1)
    await Promise.all(Array.from({ length: 10 }, (_, i) => handle.send(`m${i + 1}`)))
    door.open()
    await finish(handle)
    const texts = ofType(await journalOf(store, handle.sessionId), 'interaction.input.accepted').map(({ parts }) =>
      parts[0]?.type === 'text' ? parts[0].text : '',
    )
    expect(texts).toEqual(Array.from({ length: 11 }, (_, i) => `m${i}`))
  })

  test('sessions.send with mode steer enters the present turn', async () => {
    const door = gate()
    const entered = gate()
    const { runtime, model } = world({
      steps: [{ calls: [{ tool: 'slow' }] }, { text: 'x' }],
      tools: [
        tool('slow', {
          execute: async () => {
            entered.open()
            await door.promise
            return 'ok'
          },
        }),
      ],
    })
    const treeId = await runtime.sessions.start('go')
    await entered.promise
    await runtime.sessions.send(treeId, 'rather this', { mode: 'steer' })
    door.open()
    expect((await bounded(runtime.sessions.outcome(treeId))).turnId).toBe('t1')
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('rather this')
  })

  test('the same client id with another text is refused: the first applies', async () => {
    const { runtime, model, store } = world({ steps: [{ text: 'a' }, { text: 'b' }] })
    const handle = runtime.stream('one')
    await finish(handle)
    await handle.send('first', { clientId: 'x' as never })
    await until('answered', () => model.requests.length === 2)
    await expect(handle.send('second', { clientId: 'x' as never })).rejects.toMatchObject({ code: 'client_id_taken' })
    expect(await handle.send('first', { clientId: 'x' as never })).toMatchObject({ clientId: 'x' })
    await settle(20)
    expect(JSON.stringify(await journalOf(store, handle.sessionId))).not.toContain('"second"')
  })
})

describe('streams and suspension', () => {
  test('README: "for await (const event of handle)" ends when the turn is suspended, so that outcome can be looked at', async () => {
    const { runtime } = world({
      steps: [{ calls: [{ tool: 'ask' }] }],
      tools: [tool('ask', { approval: () => ({ keys: [], summary: 's' }) })],
      approver: { decide: () => 'suspend' },
    })
    const handle = runtime.stream('go')
    const events = durable(await bounded(collect(handle), 'the stream', 30_000))
    expect(events.at(-1)?.type).toBe('interaction.turn.suspended')
    expect((await finish(handle)).status).toBe('suspended')
  })

  test('the approver’s signal aborts on interrupt', async () => {
    let aborted = false
    const asked = gate()
    const { runtime } = world({
      steps: [{ calls: [{ tool: 'ask' }] }],
      tools: [tool('ask', { approval: () => ({ keys: [], summary: 's' }) })],
      approver: {
        decide: (_, signal) => {
          asked.open()
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => {
              aborted = true
              reject(signal.reason)
            }),
          )
        },
      },
    })
    const handle = runtime.stream('go')
    await asked.promise
    await handle.interrupt()
    expect((await finish(handle)).status).toBe('interrupted')
    expect(aborted).toBe(true)
  })

  test('open() twice in one runtime, and open() of a tree that is running here: no second driver, no second answer', async () => {
    const door = gate()
    const { runtime, model, store } = world({ steps: [{ wait: door.promise, text: 'once' }] })
    const handle = runtime.stream('go')
    await until('asked', () => model.requests.length === 1)
    const again = await runtime.open(handle.sessionId).catch((error) => error as { code: string })
    door.open()
    await finish(handle)
    if ('outcome' in again) expect((await bounded(again.outcome)).report?.text).toBe('once')
    else expect(again.code).toBe('session_driven')
    expect(model.requests).toHaveLength(1)
    expectLegal(await journalOf(store, handle.sessionId))
  })
})

describe('budgets at the edge', () => {
  test('a token limit too small for a single step: an outcome with reason tokens, not an overspent turn', async () => {
    const { runtime, model } = world({ limits: { maxTokens: 5 }, steps: [{ text: 'x', usage: { input: 20, output: 2 } }] })
    const outcome = await bounded(runtime.run('a question that is longer than five tokens, by any count of tokens'))
    expectWhole(outcome)
    expect(outcome.reason).toBe('tokens')
    expect(['partial', 'failed']).toContain(outcome.status)
    expect(model.requests.length).toBeLessThanOrEqual(1)
  })

  test('invariant 7: retries use a seeded source: the same session gives the same delays', async () => {
    const delays = async () => {
      const clock = new FakeClock()
      const { runtime, store } = world({
        clock,
        ids: sequentialIds('seed'),
        steps: [1, 2, 3].map((): ScriptedStep => ({ fault: { class: 'network', message: 'gone' } })).concat([{ text: 'x' }]),
      })
      const { sessionId: treeId } = await elapsing(clock, runtime.run('go'), [50, 200])
      return ofType(await journalOf(store, treeId), 'interaction.step.failed').map(({ delayMs }) => delayMs)
    }
    expect(await delays()).toEqual(await delays())
  })

  test('a step that failed and was tried again counts as one step', async () => {
    const clock = new FakeClock()
    const fault: ScriptedStep = { fault: { class: 'network', message: 'gone' } }
    const { runtime } = world({
      clock,
      limits: { maxToolTurns: 2 },
      steps: [fault, { calls: [{ tool: 'look' }] }, fault, { text: 'x' }],
      tools: [tool('look')],
    })
    const outcome = await elapsing(clock, runtime.run('go'), [100, 100])
    expect(outcome.operations?.steps.map(({ attempts, calls }) => [attempts.length, calls.length])).toEqual([
      [2, 1],
      [2, 0],
    ])
  })
})

describe('event times', () => {
  test('at is the wall clock; latencies and durations come from the monotonic one, whatever somebody does to the wall clock', async () => {
    const clock = new FakeClock(1_000_000)
    const { runtime, store } = world({
      clock,
      steps: [{ calls: [{ tool: 'look' }] }, { text: 'x' }],
      tools: [
        tool('look', {
          execute: () => {
            clock.advance(250)
            clock.jump(-500_000)
            return 'ok'
          },
        }),
      ],
    })
    const outcome = await bounded(runtime.run('go'))
    const events = await journalOf(store, outcome.sessionId)
    expect(events[0]?.at).toBe(1_000_000)
    expect(outcome.accounting.find(({ kind }) => kind === 'call')?.latencyMs).toBe(250)
    expect(outcome.operations?.durationMs).toBeGreaterThanOrEqual(0)
    expect(outcome.operations?.durationMs).toBeLessThan(1000)
  })

  test('a wall clock that jumps forward does not use up the time budget', async () => {
    const clock = new FakeClock(1_000_000)
    const { runtime } = world({
      clock,
      limits: { timeBudget: 10_000 },
      steps: [{ calls: [{ tool: 'look' }] }, { text: 'x' }],
      tools: [
        tool('look', {
          execute: () => {
            clock.jump(3_600_000)
            return 'ok'
          },
        }),
      ],
    })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
  })
})
