import { describe, expect, it } from 'vitest'
import type { CallRecord, Hook, InteractionEvent, JsonObject, ToolOutput, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, ScriptedModel } from '../../src/testing/index.ts'
import { runtimeWith, tool } from '../runtime/helpers.ts'
import { storeOf } from '../runtime/journals.ts'
import { settle } from '../settle.ts'

const hook = (more: Partial<Hook>): Hook => ({ name: 'guard', onFailure: 'closed', timeoutMs: 5_000, ...more })

async function run(hooks: readonly Hook[], more: Parameters<typeof runtimeWith>[1] = {}) {
  const ran: JsonObject[] = []
  const target = tool('target', {
    inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'], additionalProperties: false },
    execute: (input) => {
      ran.push(input)
      return 'done'
    },
  })
  const store = memoryStore()
  const clock = new FakeClock()
  const model = new ScriptedModel([{ calls: [{ tool: 'target', input: { q: 'a' } }] }, { text: 'Done.' }])
  const outcome = await settle(runtimeWith(model, { tools: [target], hooks, store, clock, ...more }).run('Go.'), clock)
  const events = await store.journal.read(outcome.sessionId, 0)
  const record = events.flatMap((event) =>
    event.type === 'interaction.item.completed' && event.item.kind === 'call' ? [event.item] : [],
  )[0]
  return { ran, outcome, model, events, record: record as CallRecord }
}
const verdicts = (events: readonly InteractionEvent[]) =>
  events.flatMap((event) => (event.type === 'interaction.hook.completed' ? [`${event.verdict}: ${event.message}`] : []))

describe('a hook before a call', () => {
  it('blocks even without a reason, and however it fails', async () => {
    const { ran, record, events } = await run([hook({ onFailure: 'open', beforeCall: () => ({ kind: 'block' }) as never })])
    expect(ran).toEqual([])
    expect(record).toMatchObject({ status: 'failed', error: { class: 'blocked', message: 'The call was blocked: no reason was given' } })
    expect(verdicts(events)).toEqual(['blocked: no reason was given'])
  })

  it('need not say why it changes the arguments', async () => {
    const { ran, events } = await run([hook({ beforeCall: () => ({ kind: 'change', input: { q: 'b' } }) })])
    expect([ran, verdicts(events)]).toEqual([[{ q: 'b' }], ['changed: no reason was given']])
  })

  it('whose answer has unknown keys has failed, and the error says what was expected', async () => {
    const wrong = () => ({ kind: 'continue', input: { q: 'b' }, why: 'safer' }) as never
    const said =
      'it answered "continue" with the unknown keys "input", "why"; expected {"kind":"continue"} or {"kind":"change","input":{…},"reason":"…"} or {"kind":"block","reason":"…"}'
    const closed = await run([hook({ beforeCall: wrong })])
    expect([closed.ran, verdicts(closed.events)]).toEqual([[], [`failed: ${said}`]])
    expect(closed.record.error?.message).toBe(`The call was blocked: hook "guard" failed: ${said}`)
    const open = await run([hook({ onFailure: 'open', beforeCall: wrong })])
    expect([open.ran, verdicts(open.events)]).toEqual([[{ q: 'a' }], [`failed: ${said}`]])
  })

  it('that blocks with a key too many blocks, however it fails', async () => {
    const { ran, events } = await run([
      hook({ onFailure: 'open', beforeCall: () => ({ kind: 'block', reason: 'No.', severity: 5 }) as never }),
    ])
    expect([ran, verdicts(events)]).toEqual([[], ['blocked: No. (it answered "block" with the unknown key "severity")']])
  })

  it.each([undefined, null, 'text', 7, [], true])('that changes the arguments to %j blocks the call', async (input) => {
    const { ran, record } = await run([hook({ beforeCall: () => ({ kind: 'change', input, reason: 'r' }) as never })])
    expect(ran).toEqual([])
    expect(record.error).toMatchObject({ class: 'blocked', message: expect.stringContaining('not an object') })
  })

  it('that changes them to invalid ones is named to the model', async () => {
    const { ran, record } = await run([hook({ beforeCall: () => ({ kind: 'change', input: { q: {} }, reason: 'r' }) })])
    expect(ran).toEqual([])
    expect(record.error).toMatchObject({ class: 'invalid_input', message: expect.stringContaining('Hook "guard" changed the call.') })
  })

  it('that never answers blocks the call where it is closed, and lets it through where it is open', async () => {
    const never = () => new Promise<never>(() => {})
    const closed = await run([hook({ beforeCall: never })])
    expect(closed.ran).toEqual([])
    expect(closed.record.error).toMatchObject({ class: 'blocked', message: expect.stringContaining('did not answer within 5000 ms') })
    const open = await run([hook({ beforeCall: never, onFailure: 'open' })])
    expect(open.ran).toEqual([{ q: 'a' }])
    expect(verdicts(open.events)).toEqual(['failed: it did not answer within 5000 ms'])
  })

  it('may be a promise of any make', async () => {
    // biome-ignore lint/suspicious/noThenProperty: that is what it is about
    const answer = { then: (resolve: (verdict: object) => void) => resolve({ kind: 'block', reason: 'Not now.' }) }
    expect((await run([hook({ beforeCall: () => answer as never })])).ran).toEqual([])
  })

  it('cannot change its mind afterwards', async () => {
    const verdict = { kind: 'change', input: { q: 'b' }, reason: 'r' }
    const { ran } = await run([
      hook({ beforeCall: () => verdict as never }),
      hook({
        beforeCall: () => {
          verdict.input.q = 'c'
          return { kind: 'continue' }
        },
      }),
    ])
    expect(ran).toEqual([{ q: 'b' }])
  })

  it('has secrets taken out of its reasons', async () => {
    const config = { overlay: { API_KEY: 'sk-very-secret-1' } }
    const says = (kind: 'block' | 'change') =>
      hook({ beforeCall: () => ({ kind, input: { q: 'b' }, reason: 'sk-very-secret-1' }) as never })
    const crash = hook({ onFailure: 'open', beforeCall: () => Promise.reject(new Error('sk-very-secret-1')) })
    const after = hook({ onFailure: 'open', afterCall: () => ({ kind: 'context', text: 'sk-very-secret-1' }) })
    for (const hooks of [[says('block')], [says('change')], [crash], [after]]) {
      const { events, model, outcome } = await run(hooks, { config })
      expect(outcome.status).toBe('completed')
      expect(JSON.stringify([events, model.requests])).not.toContain('sk-very-secret-1')
    }
  })

  it('that thinks does not hold up an interrupt: the call never ran, and the hook is not blamed', async () => {
    const asked = gate()
    const clock = new FakeClock()
    const store = memoryStore()
    const thinking = hook({
      beforeCall: () => {
        asked.open()
        return new Promise(() => {})
      },
    })
    const later = hook({ name: 'later', beforeCall: () => expect.unreachable() })
    const model = new ScriptedModel([{ calls: [{ tool: 'target' }] }])
    const handle = runtimeWith(model, { tools: [tool('target')], hooks: [thinking, later], clock, store }).stream('Go.')
    await asked.promise
    await handle.interrupt()
    expect(await settle(handle.outcome, clock)).toMatchObject({ status: 'interrupted' })
    const events = await store.journal.read(handle.sessionId, 0)
    expect(verdicts(events)).toEqual([])
    expect(events.flatMap((event) => (event.type === 'interaction.item.completed' ? [event.item.status] : []))).toEqual(['skipped'])
  })
})

describe('a hook after a call', () => {
  it('that fails costs nothing but, where it is closed, the trust in what came', async () => {
    const crash = () => Promise.reject(new Error('out of order'))
    const closed = await run([hook({ afterCall: crash })])
    expect(closed.record).toMatchObject({
      status: 'completed',
      content: expect.stringMatching(/^done\n\nThe hook "guard" failed after this call/),
    })
    const open = await run([hook({ afterCall: crash, onFailure: 'open' })])
    expect(open.record).toMatchObject({ status: 'completed', content: 'done' })
    for (const { events } of [closed, open]) expect(verdicts(events)).toEqual(['failed: out of order'])
  })

  it('that never answers is given up', async () => {
    const { record, events } = await run([hook({ afterCall: () => new Promise(() => {}), onFailure: 'open' })])
    expect(record).toMatchObject({ status: 'completed', content: 'done' })
    expect(verdicts(events)).toEqual(['failed: it did not answer within 5000 ms'])
  })

  it('cannot change what came by touching it, nor what the next one is shown', async () => {
    const given: ToolOutput = { ok: true, content: 'done', value: { a: { b: 1 } }, extras: { mine: { c: 1 } } }
    const seen: unknown[] = []
    const rude = hook({
      afterCall: ({ output, input }) => {
        seen.push(JSON.parse(JSON.stringify(output)))
        const { value, extras } = output as unknown as { value?: { a: object }; extras?: { mine: object } }
        for (const each of [value?.a, extras?.mine, input]) Object.assign(each ?? {}, { b: 'stolen', c: 'stolen' })
        Object.assign(output, { ok: false, content: 'stolen', value: 'stolen' })
        return { kind: 'continue' }
      },
    })
    const { record, events } = await run([rude, rude], { tools: [tool('target', { execute: () => given })] })
    expect(record).toMatchObject({ status: 'completed', content: 'done', value: { a: { b: 1 } } })
    expect(given).toEqual({ ok: true, content: 'done', value: { a: { b: 1 } }, extras: { mine: { c: 1 } } })
    const shown = { ok: true, content: 'done', extras: { mine: { c: 1 } } }
    expect(seen).toEqual([shown, shown])
    expect(verdicts(events)).toEqual([])
  })

  it.each<[string, ToolOutput]>([
    ['a result', { ok: true, content: 'It is sk-very-secret-1.', value: { key: 'sk-very-secret-1' }, extras: { key: 'sk-very-secret-1' } }],
    [
      'a failure',
      {
        ok: false,
        error: { class: 'failed', message: 'no sk-very-secret-1', remedy: 'use sk-very-secret-1' },
        partial: 'sk-very-secret-1',
      },
    ],
  ])('sees %s without secrets', async (_, output) => {
    const seen: string[] = []
    const looks = hook({
      afterCall: (call) => {
        seen.push(JSON.stringify(call.output))
        return { kind: 'continue' }
      },
    })
    await run([looks], { tools: [tool('target', { execute: () => output })], config: { overlay: { API_KEY: 'sk-very-secret-1' } } })
    expect(seen).toEqual([expect.stringContaining('[redacted:API_KEY]')])
    expect(seen.join()).not.toContain('sk-very-secret-1')
  })

  it('sees a limited part, marked as cut; never half a secret', async () => {
    const seen: object[] = []
    const looks = hook({
      afterCall: ({ output: { extras: _, ...output } }) => {
        seen.push(output)
        return { kind: 'continue' }
      },
    })
    const most = 262_144
    const long = `${'x'.repeat(most - 5)}sk-very-secret-1`
    const outputs: readonly ToolOutput[] = [
      { ok: true, content: long },
      { ok: false, error: { class: 'failed', message: 'm'.repeat(3_000) }, partial: long },
    ]
    for (const output of outputs)
      await run([looks], { tools: [tool('target', { execute: () => output })], config: { overlay: { API_KEY: 'sk-very-secret-1' } } })
    const cut = `${'x'.repeat(most - 5)}[reda`
    expect(seen).toEqual([
      { ok: true, content: cut, cut: true },
      { ok: false, error: { class: 'failed', message: 'm'.repeat(2_000) }, partial: cut, cut: true },
    ])
  })

  it('may look at extras that are no JSON: they are not there', async () => {
    const seen: unknown[] = []
    const looks = hook({
      afterCall: ({ output }) => {
        seen.push(output.extras)
        return { kind: 'continue' }
      },
    })
    const extras = { count: 1n }
    const { record } = await run([looks], { tools: [tool('target', { execute: () => ({ ok: true, content: 'done', extras }) })] })
    expect([seen, record.content]).toEqual([[undefined], 'done'])
  })

  it('adds to the text of a failure, too', async () => {
    const failing = tool('target', { execute: () => ({ ok: false, error: { class: 'failed', message: 'broke' } }) })
    const adds = hook({ afterCall: () => ({ kind: 'context', text: 'It often does.' }) })
    const { record } = await run([adds], { tools: [failing] })
    expect(record).toMatchObject({ status: 'failed', content: expect.stringMatching(/broke[\s\S]*It often does\./) })
  })
})

describe('a driver that dies while a hook thinks', () => {
  it('leaves a call that the hook is asked about again', async () => {
    const first = await run([hook({ beforeCall: () => ({ kind: 'change', input: { q: 'b' }, reason: 'r' }) })])
    const end = first.events.findIndex(({ type }) => type === 'interaction.step.completed') + 1
    const treeId = first.outcome.sessionId as TreeId
    const store = await storeOf(first.events.slice(0, end))
    const ran: JsonObject[] = []
    const target = tool('target', {
      execute: (input) => {
        ran.push(input)
        return 'done'
      },
    })
    const clock = new FakeClock()
    const changes = hook({ beforeCall: () => ({ kind: 'change', input: { q: 'c' }, reason: 'r' }) })
    const runtime = runtimeWith(new ScriptedModel([{ text: 'Done.' }]), { tools: [target], hooks: [changes], store, clock })
    expect((await settle((await runtime.open(treeId)).outcome, clock)).status).toBe('completed')
    expect(ran).toEqual([{ q: 'c' }])
  })
})
