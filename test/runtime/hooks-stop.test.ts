import { describe, expect, it } from 'vitest'
import type { Hook, InteractionEvent, ModelRequest, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { runtimeWith, tool } from './helpers.ts'
import { storeOf } from './journals.ts'
import { textOf } from './windows.ts'

const words = (request: ModelRequest | undefined): readonly string[] => request?.messages.map(textOf) ?? []
const atStop = (ask: NonNullable<Hook['atStop']>, more: Partial<Hook> = {}): Hook => ({
  name: 'judge',
  onFailure: 'closed',
  atStop: ask,
  ...more,
})

async function run(hooks: readonly Hook[], steps: readonly ScriptedStepSource[], more: Parameters<typeof runtimeWith>[1] = {}) {
  const store = more.store ?? memoryStore()
  const clock = (more.clock as FakeClock | undefined) ?? new FakeClock()
  const model = new ScriptedModel(steps)
  const outcome = await settle(runtimeWith(model, { tools: [tool('look')], ...more, hooks, store, clock }).run('Go.'), clock)
  return { outcome, model, events: await store.journal.read(outcome.sessionId, 0), store }
}
const verdicts = (events: readonly InteractionEvent[]) =>
  events.flatMap((event) => (event.type === 'interaction.hook.completed' ? [`${event.hook} ${event.verdict}: ${event.message}`] : []))

describe('a hook at the stop', () => {
  it('sends the model back to work with a reason, in the same turn', async () => {
    const seen: object[] = []
    const hook = atStop((stop) => {
      seen.push(stop)
      return stop.text === 'Tested.' ? { kind: 'continue' } : { kind: 'resume', reason: 'Run the tests first.' }
    })
    const { outcome, model, events } = await run([hook], [{ text: 'Done.' }, { calls: [{ tool: 'look' }] }, { text: 'Tested.' }])
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Tested.' } })
    expect(seen).toEqual([
      { agent: 'clerk', text: 'Done.', resumed: 0 },
      { agent: 'clerk', text: 'Tested.', resumed: 1 },
    ])
    expect(words(model.requests[1])).toEqual(['Go.', 'Done.', 'Run the tests first.'])
    expect(verdicts(events)).toEqual(['judge resumed: Run the tests first.'])
    expect(events.filter(({ type }) => type === 'interaction.turn.completed')).toHaveLength(1)
  })

  it('does so at most three times; it is asked a last time, and overruled in the open where it still objects', async () => {
    const asked: number[] = []
    const hook = atStop(({ resumed }) => {
      asked.push(resumed)
      return { kind: 'resume', reason: 'Once more.' }
    })
    const agrees = atStop(() => ({ kind: 'continue' }), { name: 'mild' })
    const { outcome, events } = await run(
      [agrees, hook],
      ['a', 'b', 'c', 'd'].map((text) => ({ text })),
    )
    expect(outcome).toMatchObject({ status: 'partial', reason: 'hook', report: { text: 'd' } })
    expect(outcome.diagnostics).toEqual([
      {
        code: 'hook_overruled',
        severity: 'warning',
        message:
          'The hook "judge" still rejects the answer, and hooks have sent the model back 3 times, the maximum in one turn: Once more.',
        remedy: expect.stringContaining('Send another message'),
      },
    ])
    expect([asked, verdicts(events).length]).toEqual([[0, 1, 2, 3], 3])
    const [told, ended] = ['interaction.diagnostic', 'interaction.turn.completed'].map((type) =>
      events.findIndex((event) => event.type === type),
    )
    expect(told).toBeGreaterThan(0)
    expect(told).toBeLessThan(ended ?? 0)
  })

  it('is content with the last answer where that is right', async () => {
    const hook = atStop(({ text }) => (text === 'd' ? { kind: 'continue' } : { kind: 'resume', reason: 'Once more.' }))
    const { outcome } = await run(
      [hook],
      ['a', 'b', 'c', 'd'].map((text) => ({ text })),
    )
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'd' }, diagnostics: [] })
  })

  it('is reported with every other one that still objects', async () => {
    const never = (name: string) => atStop(() => ({ kind: 'resume', reason: `Not for ${name}.` }), { name })
    const { outcome } = await run(
      [never('one'), never('two')],
      ['a', 'b', 'c', 'd'].map((text) => ({ text })),
    )
    expect(outcome.diagnostics.map(({ message }) => message)).toEqual([
      expect.stringMatching(/"one" still rejects the answer.*Not for one\./),
      expect.stringMatching(/"two" still rejects the answer.*Not for two\./),
    ])
  })

  it('is not called overruled where somebody steers while it thinks a last time', async () => {
    const asked = gate()
    const answer = gate()
    const hook = atStop(async ({ text }) => {
      if (text === 'e') return { kind: 'continue' }
      if (text === 'd') {
        asked.open()
        await answer.promise
      }
      return { kind: 'resume', reason: 'Once more.' }
    })
    const clock = new FakeClock()
    const model = new ScriptedModel(['a', 'b', 'c', 'd', 'e'].map((text) => ({ text })))
    const handle = runtimeWith(model, { hooks: [hook], clock }).stream('Go.')
    await asked.promise
    await handle.steer('In blue.')
    answer.open()
    expect(await settle(handle.outcome, clock)).toMatchObject({ status: 'completed', report: { text: 'e' }, diagnostics: [] })
  })

  it('may send it back again in the next turn', async () => {
    const clock = new FakeClock()
    const model = new ScriptedModel(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((text) => ({ text })))
    const runtime = runtimeWith(model, { hooks: [atStop(() => ({ kind: 'resume', reason: 'Once more.' }))], clock })
    const { sessionId: treeId } = await settle(runtime.run('Go.'), clock)
    await runtime.sessions.send(treeId, 'And?')
    expect((await settle(runtime.sessions.outcome(treeId), clock)).report).toMatchObject({ text: 'h' })
  })

  it('asks hooks in their order; after one that sends back the later ones are not asked', async () => {
    const asked: string[] = []
    const named = (name: string, isFirst: boolean) =>
      atStop(
        ({ resumed }) => {
          asked.push(`${name} ${resumed}`)
          return isFirst && resumed === 0 ? { kind: 'resume', reason: 'No.' } : { kind: 'continue' }
        },
        { name },
      )
    await run([named('one', true), named('two', false)], [{ text: 'a' }, { text: 'b' }])
    expect(asked).toEqual(['one 0', 'one 1', 'two 1'])
  })

  it('is not asked about an answer that was forced, or about a failure', async () => {
    const never = atStop(() => expect.unreachable())
    const forced = await run([never], [{ calls: [{ tool: 'look' }] }, { text: 'All I have.' }], { limits: { maxToolTurns: 1 } })
    expect(forced.outcome).toMatchObject({ status: 'partial', reason: 'steps' })
    const failed = await run([never], [{ fault: { class: 'auth', message: 'no key' } }])
    expect(failed.outcome.status).toBe('failed')
  })

  it('has secrets removed from its reason; without one, its verdict still applies', async () => {
    let asked = 0
    const hook = atStop(() => {
      asked += 1
      if (asked === 1) return { kind: 'resume', reason: 'You printed sk-very-secret-1.' }
      return asked === 2 ? ({ kind: 'resume' } as never) : { kind: 'continue' }
    })
    const config = { overlay: { API_KEY: 'sk-very-secret-1' } }
    const { model, events } = await run(
      [hook],
      ['a', 'b', 'c'].map((text) => ({ text })),
      { config },
    )
    expect(JSON.stringify([model.requests, events])).not.toContain('sk-very-secret-1')
    expect(words(model.requests[2]).at(-1)).toBe('no reason was given')
  })

  it('sees an answer only when it is durable', async () => {
    const store = memoryStore()
    const stored: string[] = []
    const hook = atStop(async () => {
      const [entry] = await store.trees.list()
      for (const event of await store.journal.read(entry?.treeId as TreeId, 0)) stored.push(event.type)
      return { kind: 'continue' }
    })
    await run([hook], [{ text: 'Done.' }], { store })
    expect(stored).toContain('interaction.step.completed')
    expect(stored).not.toContain('interaction.turn.completed')
  })

  it('is asked about answers in JSON that are right, and may want another', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const agents = [
      { name: 'clerk', description: 'Counts', prompt: 'You count.', model: 'any', output: { format: 'json', schema } as const },
    ]
    const hook = atStop(({ text }) => (text.includes('1') ? { kind: 'resume', reason: 'More.' } : { kind: 'continue' }))
    const { outcome } = await run([hook], [{ text: '{"n":"one"}' }, { text: '{"n":1}' }, { text: '{"n":2}' }], { config: { agents } })
    expect(outcome).toMatchObject({ status: 'completed', report: { value: { n: 2 } } })
  })
})

const failures: readonly [what: string, hook: NonNullable<Hook['atStop']>, message: RegExp][] = [
  [
    'throws',
    () => {
      throw new Error('out of order')
    },
    /out of order/,
  ],
  ['never answers', () => new Promise(() => {}), /did not answer within 5000 ms/],
  ['answers nonsense', () => ({ kind: 'banana' }) as never, /expected a kind of continue, resume/],
]

describe.each(failures)('a hook at the stop that %s', (_, ask, message) => {
  it('fails the turn where it is closed; what was said is kept', async () => {
    const { outcome, events } = await run([atStop(ask, { timeoutMs: 5_000 })], [{ text: 'Done.' }])
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: 'hook',
      report: { text: 'Done.' },
      message: expect.stringMatching(message),
    })
    expect(outcome.message).toContain('The hook "judge" failed at the end')
    expect(verdicts(events)).toEqual([expect.stringMatching(/^judge failed: /)])
  })

  it('accepts the answer if it is open', async () => {
    const { outcome, events } = await run([atStop(ask, { onFailure: 'open', timeoutMs: 5_000 })], [{ text: 'Done.' }])
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    expect(verdicts(events)).toEqual([expect.stringMatching(message)])
  })
})

describe('while a hook at the stop thinks', () => {
  const thinking = () => {
    const asked = gate()
    const answer = gate()
    const hook = atStop(async ({ text }) => {
      if (text !== 'Done.') return { kind: 'continue' }
      asked.open()
      await answer.promise
      return { kind: 'continue' }
    })
    return { asked, answer, hook }
  }

  it('steering is taken into the same turn', async () => {
    const { asked, answer, hook } = thinking()
    const clock = new FakeClock()
    const model = new ScriptedModel([{ text: 'Done.' }, { text: 'Done in blue.' }])
    const store = memoryStore()
    const handle = runtimeWith(model, { hooks: [hook], clock, store }).stream('Go.')
    await asked.promise
    await handle.steer('In blue.')
    answer.open()
    const outcome = await settle(handle.outcome, clock)
    expect(outcome.report).toMatchObject({ text: 'Done in blue.' })
    expect(words(model.requests[1])).toEqual(['Go.', 'Done.', 'In blue.'])
    const events = await store.journal.read(handle.sessionId, 0)
    expect(events.filter(({ type }) => type === 'interaction.turn.started')).toHaveLength(1)
  })

  it('an interrupt does not wait: the answer that is there is given', async () => {
    const { asked, hook } = thinking()
    const clock = new FakeClock()
    const handle = runtimeWith(new ScriptedModel([{ text: 'Done.' }]), { hooks: [hook], clock }).stream('Go.')
    await asked.promise
    await handle.interrupt()
    expect(await settle(handle.outcome, clock)).toMatchObject({ report: { text: 'Done.' } })
  })

  it('a driver that dies leaves an answer that hooks are asked about again', async () => {
    const first = await run([atStop(() => ({ kind: 'continue' }))], [{ text: 'Done.' }])
    const treeId = first.outcome.sessionId as TreeId
    const end = first.events.findIndex(({ type }) => type === 'interaction.step.completed') + 1
    const store = await storeOf(first.events.slice(0, end))
    const clock = new FakeClock()
    const model = new ScriptedModel([{ text: 'Done again.' }])
    const hook = atStop(({ text }) => (text === 'Done.' ? { kind: 'resume', reason: 'Again.' } : { kind: 'continue' }))
    const runtime = runtimeWith(model, { hooks: [hook], store, clock })
    expect(await settle((await runtime.open(treeId)).outcome, clock)).toMatchObject({
      status: 'completed',
      report: { text: 'Done again.' },
    })
  })
})
