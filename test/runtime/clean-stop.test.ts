import { describe, expect, it } from 'vitest'
import type { ChildResult, InteractionEvent, Store, ToolContext } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { bounded, elapsing, journalOf, tool, until, world } from '../acceptance/support.ts'
import { changedStore } from './changed-store.ts'

/** Nothing may end on a clean stop: no turn, no child, no item but a call that really finished. A request in flight is lost. */
const ends = (events: readonly InteractionEvent[]): readonly string[] =>
  events.flatMap((event) => {
    if (/turn\.(completed|failed|interrupted|suspended)$|step\.failed$|subagent\.(completed|failed)$|cancel\./.test(event.type))
      return [event.type]
    return event.type === 'interaction.item.completed' && event.item.status !== 'completed' ? [`${event.item.id} ${event.item.status}`] : []
  })

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

/** For expressions: the first is done for its effect. */
const having = <Result>(_done: unknown, result: Result): Result => result

describe('closing a runtime leaves turns open', () => {
  it('records calls that finish in their grace, and leaves the others to be recovered on resume', async () => {
    const store = memoryStore()
    const ran: string[] = []
    const begin = (context: ToolContext, name: string): void => void ran.push(`${name} ${context.callId}`)
    const tools = (mode: 'first' | 'second') => [
      tool('look', {
        effect: 'read',
        concurrency: 'shared',
        execute: (_, context) => having(begin(context, 'look'), mode === 'first' ? aborted(context.signal) : 'seen'),
      }),
      tool('put', {
        effect: 'idempotent',
        concurrency: 'shared',
        execute: (_, context) => having(begin(context, 'put'), mode === 'first' ? new Promise(() => {}) : 'put'),
      }),
      tool('send', { concurrency: 'shared', execute: (_, context) => having(begin(context, 'send'), aborted(context.signal)) }),
      tool('save', {
        concurrency: 'shared',
        execute: async (_, context) => {
          begin(context, 'save')
          await aborted(context.signal).catch(() => {})
          return 'saved'
        },
      }),
    ]
    const calls = { calls: ['look', 'put', 'send', 'save'].map((name) => ({ tool: name })) }
    const one = world({ store, tools: tools('first'), steps: [calls] })
    const handle = one.runtime.stream('go')
    await until('all run', () => ran.length === 4)
    await elapsing(one.clock, one.runtime.close(), [50, 20])
    expect(await bounded(handle.outcome)).toMatchObject({ status: 'suspended', reason: 'released' })
    const left = await journalOf(store, handle.sessionId)
    expect(ends(left)).toEqual([])
    expect(left.filter(({ type }) => type === 'interaction.item.completed').map(({ itemId }) => itemId)).toEqual(['t1.s1.4'])

    const other = world({ store, tools: tools('second'), steps: [{ text: 'Done.' }] })
    const outcome = await bounded((await other.runtime.open(handle.sessionId)).outcome)
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    expect(outcome.accounting.flatMap((entry) => (entry.kind === 'call' ? [`${entry.tool} ${entry.status}`] : [])).toSorted()).toEqual([
      'look completed',
      'put completed',
      'save completed',
      'send unknown',
    ])
    expect(outcome.diagnostics.map(({ code }) => code)).toContain('call_unknown')
    const [look, put, , , ...again] = ran
    expect(again).toEqual([look, put])
  })

  it('while a model answers; what the cut reply took is recorded, not all that was reserved for it', async () => {
    const store = memoryStore()
    const door = gate()
    const limits = { maxTokens: 50_000 }
    const one = world({ store, limits, steps: [{ wait: door.promise, text: 'Late.' }] })
    const handle = one.runtime.stream('go')
    await until('asked', () => one.model.requests.length === 1)
    await bounded(one.runtime.close())
    expect(await handle.outcome).toMatchObject({ status: 'suspended', reason: 'released', remedy: expect.stringMatching(/open/i) })
    expect(ends(await journalOf(store, handle.sessionId))).toEqual(['interaction.step.failed'])
    const other = world({ store, limits, steps: [{ text: 'Done.' }] })
    const outcome = await bounded((await other.runtime.open(handle.sessionId)).outcome)
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    expect(outcome.usage.output).toBeLessThan(100)
  })

  it('however early: the input is kept, and the turn begins where it is opened', async () => {
    const store = memoryStore()
    const [claiming, door] = [gate(), gate()]
    const claim: Store['journal']['claim'] = async (tree, owner) => {
      claiming.open()
      await door.promise
      return store.journal.claim(tree, owner)
    }
    const one = world({ store: changedStore(store, { claim }) })
    const handle = one.runtime.stream('go')
    await claiming.promise
    const closing = one.runtime.close()
    door.open()
    await bounded(closing)
    expect(await handle.outcome).toMatchObject({ status: 'suspended', reason: 'released' })
    const other = world({ store, steps: [{ text: 'Done.' }] })
    expect(await bounded((await other.runtime.open(handle.sessionId)).outcome)).toMatchObject({ status: 'completed' })
  })

  it('a call whose intent is not durable has not begun, and is not unknown later', async () => {
    const store = memoryStore()
    const second = gate()
    let asked = 0
    const hook = {
      name: 'slow',
      onFailure: 'closed' as const,
      beforeCall: () => {
        asked++
        return asked === 2 ? second.promise.then(() => ({ kind: 'continue' as const })) : { kind: 'continue' as const }
      },
    }
    let ran = 0
    const write = tool('write', { execute: () => `${++ran}` })
    const steps = [{ calls: [{ tool: 'write' }, { tool: 'write', input: { again: true } }] }]
    const one = world({ store, tools: [write], hooks: [hook], steps })
    const handle = one.runtime.stream('go')
    await until('the second is reviewed', () => asked === 2)
    await bounded(one.runtime.close())
    const other = world({ store, tools: [write], steps: [{ text: 'Done.' }] })
    const outcome = await bounded((await other.runtime.open(handle.sessionId)).outcome)
    expect({ status: outcome.status, ran, codes: outcome.diagnostics.map(({ code }) => code) }).toEqual({
      status: 'completed',
      ran: 2,
      codes: [],
    })
  })

  it('a result that a hook was to look at is not recorded without it', async () => {
    const store = memoryStore()
    const looking = gate()
    const hook = { name: 'looks', onFailure: 'closed' as const, afterCall: () => having(looking.open(), new Promise<never>(() => {})) }
    const write = tool('write')
    const one = world({ store, tools: [write], hooks: [hook], steps: [{ calls: [{ tool: 'write' }] }] })
    const handle = one.runtime.stream('go')
    await looking.promise
    await bounded(one.runtime.close())
    const other = world({ store, tools: [write], steps: [{ text: 'Done.' }] })
    const outcome = await bounded((await other.runtime.open(handle.sessionId)).outcome)
    expect(outcome.diagnostics.map(({ code }) => code)).toContain('call_unknown')
  })
})

describe('children are released with their parent', () => {
  const agents = [
    { name: 'boss', description: 'Leads', prompt: 'Lead.', model: 'scripted/model', agents: ['clerk'], tools: ['*'] },
    { name: 'clerk', description: 'Works', prompt: 'Work.', model: 'scripted/model', tools: ['*'] },
  ]
  const config = { agents, agentSelection: { agent: 'boss' } }
  const ask = { calls: [{ tool: 'agent__clerk', input: { prompt: 'work' } }] }

  it('and continue with it', async () => {
    const store = memoryStore()
    const begun = gate()
    const stuck = tool('stuck', { effect: 'read', execute: () => having(begun.open(), new Promise(() => {})) })
    const one = world({ store, config, tools: [stuck], steps: [ask, { calls: [{ tool: 'stuck' }] }] })
    const handle = one.runtime.stream('go')
    await begun.promise
    await elapsing(one.clock, one.runtime.close(), [50, 300])
    const outcome = await handle.outcome
    expect(outcome).toMatchObject({ status: 'suspended', reason: 'released' })
    expect(outcome.operations?.steps[0]?.calls[0]?.child).toMatchObject({ agentPath: 'root/clerk#1' })
    expect(ends(await journalOf(store, handle.sessionId))).toEqual([])
    const freed = tool('stuck', { effect: 'read', execute: () => 'free' })
    const other = world({ store, config, tools: [freed], steps: [{ text: 'Worked.' }, { text: 'Led.' }] })
    expect(await bounded((await other.runtime.open(handle.sessionId)).outcome)).toMatchObject({
      status: 'completed',
      report: { text: 'Led.' },
    })
    const events = await journalOf(store, handle.sessionId)
    expect(events.filter(({ type }) => type === 'interaction.session.created')).toHaveLength(2)
    expect(ends(events).filter((type) => /interrupted|failed|unknown/.test(type))).toEqual([])
  })

  it('also where a tool answers without waiting for its child', async () => {
    const store = memoryStore()
    const begun = gate()
    const delegate = tool('delegate', {
      effect: 'idempotent',
      execute: async (_, { startChild }) => {
        const end: ChildResult | undefined = await startChild({ agent: 'clerk', input: [{ type: 'text', text: 'work' }] }).catch(
          () => undefined,
        )
        return end ? 'delegated' : 'whatever'
      },
    })
    const stuck = tool('stuck', { effect: 'read', execute: () => having(begun.open(), new Promise(() => {})) })
    const step = { calls: [{ tool: 'delegate' }] }
    const one = world({ store, config, tools: [delegate, stuck], steps: [step, { calls: [{ tool: 'stuck' }] }] })
    const handle = one.runtime.stream('go')
    await begun.promise
    await elapsing(one.clock, one.runtime.close(), [50, 300])
    const events = await journalOf(store, handle.sessionId)
    expect(ends(events)).toEqual([])
    expect(events.filter((event) => event.type === 'interaction.item.completed' && event.item.kind === 'call')).toEqual([])
  })
})

describe('a question that nobody has answered', () => {
  it('stays open, whatever the approver says to its signal', async () => {
    const store = memoryStore()
    const send = tool('send', { approval: () => ({ keys: [], summary: 'Send it' }) })
    const asked = gate()
    const approver = { decide: (_: unknown, signal: AbortSignal) => having(asked.open(), aborted(signal)) }
    const one = world({ store, approver, tools: [send], steps: [{ calls: [{ tool: 'send' }] }] })
    const handle = one.runtime.stream('go')
    await asked.promise
    await bounded(one.runtime.close())
    expect(await handle.outcome).toMatchObject({ status: 'suspended', reason: 'released' })
    expect(ends(await journalOf(store, handle.sessionId))).toEqual([])
    const yes = { decide: () => ({ decision: { kind: 'approve', breadth: 'once' } as const, by: 'test' }) }
    const other = world({ store, approver: yes, tools: [send], steps: [{ text: 'Done.' }] })
    expect(await bounded((await other.runtime.open(handle.sessionId)).outcome)).toMatchObject({ status: 'completed' })
  })
})

describe('close({ drain: true })', () => {
  it('finishes running turns and begins no further ones; close() releases what is left', async () => {
    const store = memoryStore()
    const [first, second] = [gate(), gate()]
    const { runtime, model } = world({
      store,
      steps: [
        { wait: first.promise, text: 'One.' },
        { wait: second.promise, text: 'Two.' },
      ],
    })
    const one = runtime.stream('one')
    await until('asked', () => model.requests.length === 1)
    await one.send('queued')
    const two = runtime.stream('two')
    await until('asked twice', () => model.requests.length === 2)
    const draining = runtime.close({ drain: true })
    first.open()
    expect(await bounded(one.outcome)).toMatchObject({ status: 'completed', report: { text: 'One.' } })
    expect(model.requests).toHaveLength(2)
    await bounded(runtime.close())
    await bounded(draining)
    expect(await two.outcome).toMatchObject({ status: 'suspended', reason: 'released' })
    const other = world({ store, steps: [{ text: 'Later.' }] })
    expect(await bounded((await other.runtime.open(one.sessionId)).outcome)).toMatchObject({ report: { text: 'Later.' } })
  })

  it('refuses options that it does not have', () => {
    const { runtime } = world()
    expect(() => runtime.close({ drian: true } as object)).toThrow(/drain/)
  })
})
