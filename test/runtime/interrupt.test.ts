import { describe, expect, it } from 'vitest'
import type { InteractionEvent, SessionId, StreamEvent, Tool, TreeId } from '../../src/contracts/index.ts'
import type { AgentRuntime } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate } from '../../src/testing/index.ts'
import { bounded, expectLegal, finish, journalOf, ofType, settle, tool, until, world } from '../acceptance/support.ts'
import { ask, type Script, team } from '../subagents/team.ts'

// An interrupt ends the turn within two seconds, keeps what was said, and holds what was not read.

/** A tool that ignores its signal and has long to end. It returns when the test lets it. */
function deaf(more: Partial<Tool> = {}) {
  const entered = gate()
  const late = gate()
  const execute = async () => {
    entered.open()
    await late.promise
    return 'came late'
  }
  return { entered: entered.promise, late, tool: tool('deaf', { execute, ...more }) }
}

const turnEnds = /^interaction\.turn\.(completed|failed|interrupted)$/
const endsOf = (events: readonly InteractionEvent[]) =>
  events.filter(({ type }) => turnEnds.test(type)).map(({ agentPath, type }) => `${agentPath} ${type.slice(17)}`)
const callsOf = (events: readonly InteractionEvent[]) =>
  ofType(events, 'interaction.item.completed').flatMap(({ agentPath, item }) =>
    item.kind === 'call' ? [`${agentPath} ${item.status}: ${item.content}`] : [],
  )
const inputsOf = (events: readonly StreamEvent[]) => ofType(events, 'interaction.turn.started').map(({ inputs }) => inputs)

/** Interrupts, and returns after how long the turn has ended. */
async function interrupt(clock: FakeClock, runtime: AgentRuntime, id: SessionId | TreeId): Promise<number> {
  const before = clock.now()
  await runtime.sessions.cancel(id, 'interrupt')
  let isOver = false
  const ended = runtime.sessions.outcome(id).then(() => {
    isOver = true
  })
  for (let ms = 0; ms < 15_000 && !isOver; ms += 50) {
    await clock.elapse(50)
    await settle(2)
  }
  await bounded(ended)
  return clock.now() - before
}

describe('an interrupted turn', () => {
  it.each([
    ['a long grace', { graceMs: 60_000 }],
    ['no grace of its own', {}],
  ])('waits a second for a tool with %s that ignores its signal; what it returns later changes nothing', async (_, grace) => {
    const clock = new FakeClock()
    const call = deaf(grace)
    const { runtime, store, model } = world({ clock, steps: [{ calls: [{ tool: 'deaf' }] }, { text: 'Next.' }], tools: [call.tool] })
    const { sessionId } = runtime.stream('go')
    await call.entered
    expect(await interrupt(clock, runtime, sessionId)).toBe(1_000)
    const events = await journalOf(store, sessionId)
    expect(callsOf(events)).toEqual([expect.stringMatching(/^root interrupted: .*"deaf" ran for 1\.0 s.* It may have taken effect\.$/)])
    call.late.open()
    await settle(20)
    expect(await journalOf(store, sessionId)).toEqual(events)
    await runtime.sessions.send(sessionId, 'and now?')
    await until('asked again', () => model.requests.length === 2)
    expect(JSON.stringify(model.requests[1])).not.toContain('came late')
    await bounded(runtime.sessions.outcome(sessionId))
    expectLegal(await journalOf(store, sessionId))
  })

  it('waits no longer for a call that is already past its own deadline', async () => {
    const clock = new FakeClock()
    const call = deaf({ graceMs: 60_000, timeoutMs: 5_000 })
    const { runtime, store } = world({ clock, steps: [{ calls: [{ tool: 'deaf' }] }], tools: [call.tool] })
    const { sessionId } = runtime.stream('go')
    await call.entered
    await clock.elapse(6_000)
    expect(await interrupt(clock, runtime, sessionId)).toBe(1_000)
    expect(callsOf(await journalOf(store, sessionId))).toEqual([expect.stringMatching(/^root failed: .*time limit was reached/)])
  })

  it('waits as little for children, called or spawned, whose tools ignore their signal', async () => {
    const clock = new FakeClock()
    const call = deaf({ concurrency: 'shared' })
    const working: Script = () => ({ calls: [{ tool: 'deaf' }] })
    const lead: Script = () => ({ calls: [ask('scout', 'Look'), { tool: 'deaf' }] })
    const begin: Script = () => ({ calls: [{ tool: 'spawn_agent', input: { agent: 'scout', prompt: 'Look' } }, ask('lead', 'Lead')] })
    const store = memoryStore()
    const { runtime } = team(
      {
        boss: { script: begin, agents: ['lead', 'scout'], childControl: true },
        lead: { script: lead, agents: ['scout'], tools: ['deaf'] },
        scout: { script: working, tools: ['deaf'] },
      },
      { clock, store, tools: [call.tool] },
    )
    const { sessionId } = runtime.stream('go')
    await until('three calls run', async () => {
      const started = ofType(await journalOf(store, sessionId), 'interaction.item.started')
      return started.filter(({ item }) => item.kind === 'call' && item.tool === 'deaf').length === 3
    })
    expect(await interrupt(clock, runtime, sessionId)).toBeLessThanOrEqual(1_250)
    const events = await journalOf(store, sessionId)
    expect(endsOf(events).toSorted()).toEqual([
      'root interrupted',
      'root/lead#1 interrupted',
      'root/lead#1/scout#1 interrupted',
      'root/scout#1 interrupted',
    ])
    expect(endsOf(events).at(-1)).toBe('root interrupted')
    expect(callsOf(events).filter((each) => each.includes('interrupted'))).toHaveLength(5)
    call.late.open()
    await settle(20)
    expect(await journalOf(store, sessionId)).toEqual(events)
    await runtime.close()
  })

  it('waits for no source of tools that the turn was to begin with, and the next turn has them', async () => {
    const clock = new FakeClock()
    const answered = gate()
    const listing = gate()
    let lists = 0
    let change = (): void => {}
    const source = {
      name: 'hub',
      open: () => ({
        list: async () => {
          if (++lists === 2) listing.open()
          if (lists === 2) await answered.promise
          return [tool(lists === 1 ? 'hub/find' : 'hub/open')]
        },
        onChange: (listener: () => void) => {
          change = listener
          return () => {}
        },
      }),
    }
    const first = gate()
    const { runtime, store, model } = world({
      clock,
      config: { tools: [source] },
      steps: [{ text: 'One.', wait: first.promise }, { text: 'Two.' }],
    })
    const handle = runtime.stream('one')
    await until('asked', () => model.requests.length === 1)
    await handle.send('two')
    change()
    first.open()
    await listing.promise
    await Promise.all([handle.interrupt(), handle.send('three')])
    await until('it has ended', async () => endsOf(await journalOf(store, handle.sessionId)).length === 2)
    expect(endsOf(await journalOf(store, handle.sessionId))).toEqual(['root completed', 'root interrupted'])
    await settle(20)
    answered.open()
    expect(await bounded(runtime.sessions.outcome(handle.sessionId))).toMatchObject({ status: 'completed', report: { text: 'Two.' } })
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name).filter((name) => name.startsWith('hub')))).toEqual([
      ['hub__find'],
      ['hub__open'],
    ])
    expectLegal(await journalOf(store, handle.sessionId))
  })

  it('leaves its text so far in the journal, in the outcome and in the next request', async () => {
    const { runtime, store, model } = world({ steps: [{ text: 'Half an answer', fault: 'silence' }, { text: 'The rest.' }] })
    const handle = runtime.stream('go')
    for await (const event of handle) if (event.type === 'interaction.item.delta') break
    await handle.interrupt()
    expect(await finish(handle)).toMatchObject({ status: 'interrupted', report: { text: 'Half an answer' } })
    const [text] = ofType(await journalOf(store, handle.sessionId), 'interaction.item.completed')
    expect(text?.item).toMatchObject({ type: 'agent_message', status: 'interrupted', text: 'Half an answer' })
    await handle.send('go on')
    await until('asked again', () => model.requests.length === 2)
    expect(model.requests[1]?.messages.slice(-3)).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'Half an answer' }] },
      { role: 'user', parts: [{ type: 'text', text: 'go on' }] },
    ])
  })
})

describe('messages that an interrupt found unread', () => {
  /** A session whose first turn was interrupted with three unread messages. */
  async function held() {
    const store = memoryStore()
    const texts = ['a', 'b', 'c', 'd'].map((text) => ({ text }))
    const first = world({ store, steps: [{ text: 'x', fault: 'silence' }, ...texts] })
    const handle = first.runtime.stream('go')
    await until('asked', () => first.model.requests.length === 1)
    await handle.send('one', { clientId: 'one' })
    await handle.send('two', { clientId: 'two', mode: 'steer' })
    await handle.send('three', { clientId: 'three' })
    await handle.interrupt()
    expect((await finish(handle)).status).toBe('interrupted')
    await settle(20)
    return { ...first, store, texts, id: handle.sessionId, events: () => journalOf(store, handle.sessionId) }
  }

  it('begin no turn, also in another process, until the next message, which comes last', async () => {
    const { store, model, runtime, id, texts, events } = await held()
    expect([model.requests.length, (await events()).at(-1)?.type]).toEqual([1, 'interaction.session.idle'])
    await runtime.close()
    const other = world({ store, steps: texts })
    const handle = await other.runtime.open(id)
    await settle(20)
    expect([(await other.runtime.sessions.outcome(id)).status, other.model.requests.length]).toEqual(['interrupted', 0])
    await handle.send('four', { clientId: 'four', mode: 'steer' })
    await until('all are answered', () => other.model.requests.length === 4)
    expect((await bounded(other.runtime.sessions.outcome(id))).report?.text).toBe('d')
    expect(inputsOf(await events()).slice(1)).toEqual([['one'], ['two'], ['three'], ['four']])
    expectLegal(await events())
  })

  it('begin turns when they are sent, once', async () => {
    const { runtime, model, id, events } = await held()
    expect(await runtime.sessions.sendHeld(id, 'Ada')).toMatchObject({ driven: true })
    await until('all are answered', () => model.requests.length === 4)
    await bounded(runtime.sessions.outcome(id))
    await runtime.sessions.sendHeld(id)
    await bounded(runtime.sessions.outcome(id))
    expect(ofType(await events(), 'interaction.held.sent').map(({ by }) => by)).toEqual(['Ada', 'caller'])
    expect(inputsOf(await events()).slice(1)).toEqual([['one'], ['two'], ['three']])
    await expect(runtime.sessions.sendHeld(id, 7 as never)).rejects.toMatchObject({ code: 'usage' })
    expectLegal(await events())
  })

  it('are sent by a message that comes while the turn ends', async () => {
    const clock = new FakeClock()
    const call = deaf()
    const { runtime, store } = world({
      clock,
      steps: [{ calls: [{ tool: 'deaf' }] }, { text: 'a' }, { text: 'b' }],
      tools: [call.tool],
    })
    const { sessionId } = runtime.stream('go')
    await call.entered
    await runtime.sessions.send(sessionId, 'before', { clientId: 'before' })
    await runtime.sessions.cancel(sessionId, 'interrupt')
    await runtime.sessions.send(sessionId, 'after', { clientId: 'after' })
    await settle(20)
    await clock.elapse(1_000)
    await bounded(runtime.sessions.outcome(sessionId))
    expect(inputsOf(await journalOf(store, sessionId)).slice(1)).toEqual([['before'], ['after']])
  })
})
