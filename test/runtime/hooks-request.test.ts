import { describe, expect, it } from 'vitest'
import type { Hook, InteractionEvent, ModelRequest, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { runtimeWith, tool } from './helpers.ts'
import { storeOf } from './journals.ts'
import { textOf, windowed } from './windows.ts'

const words = (request: ModelRequest | undefined): readonly string[] => request?.messages.map(textOf) ?? []
const asking = (beforeRequest: NonNullable<Hook['beforeRequest']>, more: Partial<Hook> = {}): Hook => ({
  name: 'weather',
  onFailure: 'closed',
  beforeRequest,
  ...more,
})

async function run(hooks: readonly Hook[], steps: readonly ScriptedStepSource[], more: Parameters<typeof runtimeWith>[1] = {}) {
  const store = more.store ?? memoryStore()
  const clock = (more.clock as FakeClock | undefined) ?? new FakeClock()
  const model = new ScriptedModel(steps)
  const outcome = await settle(runtimeWith(model, { tools: [tool('look')], ...more, hooks, store, clock }).run('Go.'), clock)
  return { outcome, model, events: await store.journal.read(outcome.sessionId, 0), store }
}
const contexts = (events: readonly InteractionEvent[]) =>
  events.flatMap((event) => (event.type === 'interaction.context.added' ? [`${event.source}: ${event.text}`] : []))
const verdicts = (events: readonly InteractionEvent[]) =>
  events.flatMap((event) => (event.type === 'interaction.hook.completed' ? [`${event.hook} ${event.verdict}: ${event.message}`] : []))

describe('a hook before a request', () => {
  it('gets the model and the size of the request, once for each step', async () => {
    const seen: object[] = []
    const hook = asking((request) => {
      seen.push(request)
      return { kind: 'continue' }
    })
    const { model, events } = await run([hook], [{ calls: [{ tool: 'look' }] }, { text: 'Done.' }])
    const size = expect.any(Number)
    expect(seen).toEqual([
      { agent: 'clerk', model: 'scripted/model', size, step: 1 },
      { agent: 'clerk', model: 'scripted/model', size, step: 2 },
    ])
    expect(model.requests).toHaveLength(2)
    expect(verdicts(events)).toEqual([])
  })

  it('adds context to this request, which stays in every later one and in the journal', async () => {
    let times = 0
    const { model, events } = await run(
      [asking(() => ({ kind: 'context', text: `It rains (${++times}).` }))],
      [{ calls: [{ tool: 'look' }] }, { text: 'Done.' }],
    )
    expect(words(model.requests[0])).toEqual(['Go.', 'It rains (1).'])
    expect(words(model.requests[1])).toEqual(['Go.', 'It rains (1).', 'look {}', 'look', 'It rains (2).'])
    expect(contexts(events)).toEqual(['hook weather: It rains (1).', 'hook weather: It rains (2).'])
    expect(verdicts(events)).toEqual(['weather context: It rains (1).', 'weather context: It rains (2).'])
  })

  it('is not asked again for a further attempt of the same step', async () => {
    let times = 0
    const { model, outcome } = await run(
      [asking(() => ({ kind: 'context', text: `Asked ${++times} times.` }))],
      [{ fault: { class: 'model', message: 'no' } }, { text: 'Done.' }],
    )
    expect(outcome.status).toBe('completed')
    expect(words(model.requests[1])).toEqual(['Go.', 'Asked 1 times.'])
  })

  it('and the next one each see what the one before added, in their order', async () => {
    const sizes: number[] = []
    const hooks = ['one', 'two'].map((name) =>
      asking(
        ({ size }) => {
          sizes.push(size)
          return { kind: 'context', text: name }
        },
        { name },
      ),
    )
    const { model } = await run(hooks, [{ text: 'Done.' }])
    expect(words(model.requests[0])).toEqual(['Go.', 'one', 'two'])
    expect(sizes[1]).toBeGreaterThan(sizes[0] ?? 0)
  })

  it('has secrets taken out of what it says, and endless texts cut', async () => {
    const config = { overlay: { API_KEY: 'sk-very-secret-1' } }
    const said = `The key is sk-very-secret-1. ${'a'.repeat(40_000)}`
    const { model, events } = await run([asking(() => ({ kind: 'context', text: said }))], [{ text: 'Done.' }], { config })
    expect(JSON.stringify([model.requests, events])).not.toContain('sk-very-secret-1')
    expect(words(model.requests[0])[1]?.length).toBeLessThan(17_000)
    expect(words(model.requests[0])[1]).toMatch(/^The key is \[.*left out …$/s)
  })

  it('is not asked for a summary of the history', async () => {
    let times = 0
    const model = windowed(4_000, [
      ...[1, 2, 3, 4, 5].map((q) => ({ calls: [{ tool: 'look', input: { q: `${q}` } }] })),
      { text: 'In short: nothing.' },
      { text: 'Done.' },
    ])
    const look = tool('look', { effect: 'read', execute: ({ q }) => `${String(q)} ${'x'.repeat(2_700)}` })
    const hook = asking(() => {
      times += 1
      return { kind: 'continue' }
    })
    const clock = new FakeClock()
    expect((await settle(runtimeWith(model, { tools: [look], hooks: [hook], clock }).run('Go.'), clock)).status).toBe('completed')
    expect([model.requests.length, times]).toEqual([7, 6])
  })
})

const failures: readonly [what: string, hook: NonNullable<Hook['beforeRequest']>, message: RegExp][] = [
  [
    'throws',
    () => {
      throw new Error('out of order')
    },
    /out of order/,
  ],
  ['rejects', () => Promise.reject(new Error('out of order')), /out of order/],
  ['never answers', () => new Promise(() => {}), /did not answer within 5000 ms/],
  ['answers a word', () => 'continue' as never, /it answered "continue", expected a kind of continue, context/],
  ['answers a number', () => Promise.resolve(7 as never), /it answered 7/],
  ['answers what is for another place', () => ({ kind: 'block', reason: 'no' }) as never, /it answered \{"kind":"block"/],
  [
    'says something where it goes on',
    () => ({ kind: 'continue', context: 'It rains.' }) as never,
    /it answered "continue" with the unknown key "context"; expected \{"kind":"continue"\} or \{"kind":"context","text":"…"\}/,
  ],
  ['adds nothing', () => ({ kind: 'context' }) as never, /"context" without a text/],
  ['adds a number', () => ({ kind: 'context', text: 5 }) as never, /"context" without a text/],
  [
    'answers a trap',
    () =>
      ({
        kind: 'context',
        get text() {
          throw new Error('looked at')
        },
      }) as never,
    /looked at/,
  ],
]

describe.each(failures)('a hook before a request that %s', (_, beforeRequest, message) => {
  it('ends the turn before anybody is asked, where it is closed', async () => {
    const { outcome, model, events } = await run([asking(beforeRequest, { timeoutMs: 5_000 })], [])
    expect(model.requests).toEqual([])
    expect(outcome).toMatchObject({ status: 'failed', reason: 'hook', message: expect.stringMatching(message) })
    expect(outcome.message).toContain('The hook "weather" failed before the request')
    expect(verdicts(events)).toEqual([expect.stringMatching(/^weather failed: /)])
  })

  it('is passed over where it is open', async () => {
    const { outcome, events } = await run([asking(beforeRequest, { onFailure: 'open', timeoutMs: 5_000 })], [{ text: 'Done.' }])
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    expect(verdicts(events)).toEqual([expect.stringMatching(message)])
    expect(contexts(events)).toEqual([])
  })
})

describe('a hook that may take its time', () => {
  it('has a minute where it does not say otherwise', async () => {
    const clock = new FakeClock()
    const { outcome } = await run([asking(() => new Promise(() => {}))], [], { clock })
    expect(outcome.message).toContain('within 60000 ms')
    expect(clock.monotonic()).toBeGreaterThanOrEqual(60_000)
  })

  it('does not keep a second model from being refused, too', async () => {
    const config = { agents: [{ name: 'clerk', description: 'Looks', prompt: 'You look.', models: ['one', 'two'] }] }
    const closed = asking(() => Promise.reject(new Error('no')))
    const { outcome, model } = await run([closed], [], { config })
    expect([outcome.status, model.requests]).toEqual(['failed', []])
  })

  it('is given a signal that fires at its time limit', async () => {
    const signals: AbortSignal[] = []
    const hook = asking(((_: unknown, { signal }: { signal: AbortSignal }) => {
      signals.push(signal)
      return new Promise(() => {})
    }) as never)
    await run([{ ...hook, onFailure: 'open' }], [{ text: 'Done.' }])
    expect(signals[0]?.aborted).toBe(true)
  })

  it('does not hold up an interrupt: nobody is asked, and nobody is blamed', async () => {
    const asked = gate()
    const signals: AbortSignal[] = []
    const hook = asking(((_: unknown, { signal }: { signal: AbortSignal }) => {
      signals.push(signal)
      asked.open()
      return new Promise(() => {})
    }) as never)
    const later = asking(() => expect.unreachable(), { name: 'later' })
    const clock = new FakeClock()
    const store = memoryStore()
    const model = new ScriptedModel([])
    const handle = runtimeWith(model, { hooks: [hook, later], clock, store }).stream('Go.')
    await asked.promise
    await handle.interrupt()
    expect(await settle(handle.outcome, clock)).toMatchObject({ status: 'interrupted' })
    expect(signals[0]?.aborted).toBe(true)
    expect(verdicts(await store.journal.read(handle.sessionId, 0))).toEqual([])
    expect(model.requests).toEqual([])
  })
})

describe('context from a hook', () => {
  it('survives a driver that dies at any event, and is not said twice', async () => {
    const hooks = [asking(() => ({ kind: 'context', text: 'It rains.' }))]
    const answer: ScriptedStepSource = (request) =>
      request.messages.some(({ role }) => role === 'tool') ? { text: 'Done.' } : { calls: [{ tool: 'look', id: 'c1' }] }
    const first = await run(hooks, [answer, answer])
    const treeId = first.outcome.sessionId as TreeId
    const from = first.events.findIndex(({ type }) => type === 'interaction.turn.started') + 1
    for (let length = from; length < first.events.length - 1; length += 1) {
      const store = await storeOf(first.events.slice(0, length))
      const model = new ScriptedModel([answer, answer])
      const clock = new FakeClock()
      const runtime = runtimeWith(model, { tools: [tool('look', { effect: 'read' })], hooks, store, clock })
      const outcome = await settle((await runtime.open(treeId)).outcome, clock)
      expect([length, outcome.status]).toEqual([length, 'completed'])
      expect([length, contexts(await store.journal.read(treeId, 0)).length]).toEqual([length, 2])
      await runtime.close()
    }
  })
})
