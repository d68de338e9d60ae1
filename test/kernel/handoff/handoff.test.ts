import { describe, expect, it } from 'vitest'
import type { HandoffReason, InteractionEvent, Outcome, SessionId, TreeId } from '../../../src/contracts/index.ts'
import { handoffTool, returnControlTool } from '../../../src/kernel/handoff/handoff-tool.ts'
import type { AgentRuntime } from '../../../src/runtime/index.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import { FakeClock, gate } from '../../../src/testing/index.ts'
import { resultsOf, type Script, send, team, textOf } from '../../subagents/team.ts'
import { echo, handoffTeam, returned, types as typesOf } from './handoff-team.ts'

/** Sends a message and waits until the session rests again. */
async function say(runtime: AgentRuntime, id: SessionId, text: string): Promise<Outcome> {
  await runtime.sessions.send(id, text)
  return runtime.sessions.outcome(id)
}

/** What the kernel does at `/back`. */
const back = (runtime: AgentRuntime, id: SessionId) => runtime.sessions.send(id, '/back', { endsHandoff: true })

const eventsOf = (store: ReturnType<typeof memoryStore>, id: SessionId): Promise<readonly InteractionEvent[]> =>
  Promise.resolve(store.journal.read(id as string as TreeId, 0))

async function reasonOf(store: ReturnType<typeof memoryStore>, id: SessionId): Promise<readonly HandoffReason[]> {
  return (await eventsOf(store, id)).flatMap((event) => (event.type === 'interaction.handoff.completed' ? [event.reason] : []))
}

describe('a handoff', () => {
  it('lets the person talk to the child over several turns, until it returns control', async () => {
    const store = memoryStore()
    const systems: string[] = []
    const { runtime } = handoffTeam(
      (request, step) => {
        systems.push(request.system)
        return echo(request, step)
      },
      { store, input: { task: 'Train', context: { level: 3 } } },
    )
    const first = await runtime.run('Hello')
    expect(first).toMatchObject({
      status: 'suspended',
      reason: 'input',
      report: { text: 'heard Train\n\nContext:\n{\n  "level": 3\n}' },
      speaker: { agent: 'coach', agentPath: 'root/coach#1' },
    })
    expect(systems[0]).toMatch(/^You are coach\.\n\nYou talk to the person directly now/)
    const id = first.sessionId
    expect(await say(runtime, id, 'one')).toMatchObject({ status: 'suspended', report: { text: 'heard one' } })
    expect(await say(runtime, id, 'two')).toMatchObject({ status: 'suspended', report: { text: 'heard two' } })
    const last = await say(runtime, id, 'done')
    expect(last).toMatchObject({ status: 'completed', report: { text: 'boss: all set | Hello' } })
    expect(last.speaker).toBeUndefined()
    expect(await reasonOf(store, id)).toEqual(['done'])
    const types = (await eventsOf(store, id)).map(({ type }) => type)
    expect(types.filter((type) => type === 'interaction.handoff.started')).toHaveLength(1)
    // It ends with its call.
    expect(types.indexOf('interaction.subagent.closed')).toBeLessThan(types.lastIndexOf('interaction.step.started'))
    expect(await say(runtime, id, 'thanks')).toMatchObject({ status: 'completed', report: { text: 'boss: all set | thanks' } })
  })

  it('ends when the person asks for the caller, while the child is idle', async () => {
    const store = memoryStore()
    const { runtime } = handoffTeam(undefined, { store })
    const { sessionId: id } = await runtime.run('Hello')
    await back(runtime, id)
    expect(await runtime.sessions.outcome(id)).toMatchObject({
      status: 'completed',
      report: {
        text: 'boss: The conversation of coach with the person ended before the task was done: the person asked for you.\nIts last answer:\nheard Train | Hello',
      },
    })
    expect(await reasonOf(store, id)).toEqual(['asked'])
  })

  it('ends while the child works: it is interrupted, and what it says then is not delivered', async () => {
    const store = memoryStore()
    const working = gate()
    const late = gate()
    const { runtime } = handoffTeam(
      async (request) => {
        if (textOf(request) !== 'think') return { text: 'ready' }
        working.open()
        await late.promise
        return { text: 'too late' }
      },
      { store },
    )
    const { sessionId: id } = await runtime.run('Hello')
    await runtime.sessions.send(id, 'think')
    await working.promise
    await runtime.sessions.send(id, 'and this', { mode: 'steer' })
    await back(runtime, id)
    const outcome = await runtime.sessions.outcome(id)
    late.open()
    expect(outcome).toMatchObject({
      status: 'completed',
      report: { text: expect.stringMatching(/the person asked for you\.\nIts last answer:\nready \| and this$/) },
    })
    // The message that the child has not read goes to the caller, once.
    const read = (await eventsOf(store, id)).flatMap((event) =>
      event.type === 'interaction.input.accepted' && event.parts.some((part) => part.type === 'text' && part.text === 'and this')
        ? [event.agentPath]
        : [],
    )
    expect(read).toEqual(['root/coach#1', 'root'])
    // No model reads `/back`.
    expect(outcome.snapshot.history.filter(({ role }) => role === 'user')).toHaveLength(2)
  })

  it('gives messages to the caller that the child has not read when it returns control', async () => {
    const working = gate()
    const sent = gate()
    const { runtime } = handoffTeam(async (request) => {
      if (textOf(request) !== 'finish') return { text: 'ready' }
      working.open()
      await sent.promise
      return returned('done it')
    })
    const { sessionId: id } = await runtime.run('Hello')
    await runtime.sessions.send(id, 'finish')
    await working.promise
    await runtime.sessions.send(id, 'one more thing')
    sent.open()
    expect(await runtime.sessions.outcome(id)).toMatchObject({ status: 'completed', report: { text: 'boss: done it | one more thing' } })
  })

  it('starts no further turn of the child before the rules have judged the last one', async () => {
    const store = memoryStore()
    const working = gate()
    const sent = gate()
    const { runtime } = handoffTeam(
      async (request) => {
        if (textOf(request) === 'one') {
          working.open()
          await sent.promise
        }
        return { text: `heard ${textOf(request)}` }
      },
      { store, limits: { maxTurns: 1 } },
    )
    const { sessionId: id } = await runtime.run('Hello')
    await runtime.sessions.send(id, 'one')
    await working.promise
    await runtime.sessions.send(id, 'two')
    sent.open()
    expect(await runtime.sessions.outcome(id)).toMatchObject({
      report: { text: expect.stringMatching(/Its last answer:\nheard one \| two$/) },
    })
    expect(await reasonOf(store, id)).toEqual(['turns'])
  })

  it('counts messages that the child reads while it works', async () => {
    const store = memoryStore()
    const working = gate()
    const sent = gate()
    const { runtime } = handoffTeam(
      async (request) => {
        if (textOf(request) === 'one') {
          working.open()
          await sent.promise
        }
        return { text: `heard ${textOf(request)}` }
      },
      { store, limits: { maxTurns: 2 } },
    )
    const { sessionId: id } = await runtime.run('Hello')
    await runtime.sessions.send(id, 'one')
    await working.promise
    await runtime.sessions.send(id, 'also', { mode: 'steer' })
    sent.open()
    expect(await runtime.sessions.outcome(id)).toMatchObject({
      report: { text: expect.stringMatching(/Its last answer:\nheard also \| Hello$/) },
    })
    expect(await reasonOf(store, id)).toEqual(['turns'])
  })

  it.each<[HandoffReason, Script, RegExp]>([
    [
      'tokens',
      (request) => ({ text: `heard ${textOf(request)}`, usage: { input: 400, output: 200 } }),
      /its token budget is used up\.\nIts last answer:\nheard/,
    ],
    ['failed', (request) => (textOf(request) === 'Train' ? { text: 'hi' } : { fails: 'auth' }), /scripted auth/],
  ])('ends by the rule "%s"', async (reason, script, text) => {
    const store = memoryStore()
    const { runtime } = handoffTeam(script, { store, limits: { maxTokensPerInvocation: 1_000 } })
    const { sessionId: id } = await runtime.run('Hello')
    let outcome = await say(runtime, id, 'one')
    for (let count = 0; outcome.status === 'suspended' && count < 5; count++) outcome = await say(runtime, id, 'more')
    expect(outcome).toMatchObject({ status: 'completed', report: { text: expect.stringMatching(text) } })
    expect(await reasonOf(store, id)).toEqual([reason])
  })

  it('ends when the work of all turns together takes too long; waiting for the person is not work', async () => {
    const store = memoryStore()
    const clock = new FakeClock()
    const { runtime } = handoffTeam(
      (request) => {
        clock.advance(40_000)
        return { text: `heard ${textOf(request)}` }
      },
      { store, clock, limits: { timeBudgetMs: 100_000, idleMs: 1_800_000 } },
    )
    const { sessionId: id } = await runtime.run('Hello')
    clock.advance(1_000_000)
    expect(await say(runtime, id, 'one')).toMatchObject({ status: 'suspended', report: { text: 'heard one' } })
    clock.advance(1_000_000)
    expect(await say(runtime, id, 'two')).toMatchObject({
      status: 'completed',
      report: { text: expect.stringMatching(/its time budget is used up\./) },
    })
    expect(await reasonOf(store, id)).toEqual(['time'])
  })

  it('ends with the turn when the person interrupts it', async () => {
    const store = memoryStore()
    const { runtime } = handoffTeam(undefined, { store })
    const { sessionId: id } = await runtime.run('Hello')
    await runtime.sessions.cancel(id, 'interrupt')
    expect(await runtime.sessions.outcome(id)).toMatchObject({ status: 'interrupted' })
    expect(await reasonOf(store, id)).toEqual(['ended'])
    expect(await say(runtime, id, 'again')).toMatchObject({ status: 'completed' })
  })
})

describe('a silent person', () => {
  const minute = 60_000
  const idleMs = 30 * minute

  /** Resolves when the session rests without a handoff. */
  async function ended(runtime: AgentRuntime, id: SessionId): Promise<Outcome> {
    for await (const { type } of runtime.sessions.events(id, { until: 'closed' })) if (type === 'interaction.session.idle') break
    return runtime.sessions.outcome(id)
  }

  it('ends the handoff after `idleMs`; the caller is told', async () => {
    const [store, clock] = [memoryStore(), new FakeClock()]
    const { runtime } = handoffTeam(undefined, { store, clock, limits: { idleMs } })
    const { sessionId: id } = await runtime.run('Hello')
    await clock.elapse(29 * minute)
    expect(await say(runtime, id, 'one')).toMatchObject({ status: 'suspended', report: { text: 'heard one' } })
    await clock.elapse(29 * minute)
    expect(await reasonOf(store, id)).toEqual([])
    await clock.elapse(2 * minute)
    expect(await ended(runtime, id)).toMatchObject({
      status: 'completed',
      report: { text: expect.stringMatching(/: the person has not written for too long\.\nIts last answer:\nheard one \| Hello$/) },
    })
    expect(await reasonOf(store, id)).toEqual(['idle'])
    const last = (await eventsOf(store, id)).findLast(({ type }) => type === 'interaction.handoff.completed')
    expect(last).toMatchObject({ at: clock.now() - minute })
  })

  it('ends it after a restart, also if the time has passed meanwhile', async () => {
    for (const left of [10, -10]) {
      const [store, clock] = [memoryStore(), new FakeClock()]
      const first = handoffTeam(undefined, { store, clock, limits: { idleMs } }).runtime
      const { sessionId: id } = await first.run('Hello')
      await first.close()
      clock.jump((30 - left) * minute)
      const { runtime } = handoffTeam(undefined, { store, clock, limits: { idleMs } })
      await runtime.open(id)
      expect(await runtime.sessions.outcome(id)).toMatchObject({ status: left > 0 ? 'suspended' : 'completed' })
      await clock.elapse(Math.max(0, left) * minute)
      expect(await ended(runtime, id)).toMatchObject({ status: 'completed' })
      expect(await reasonOf(store, id)).toEqual(['idle'])
    }
  })

  it('is not silent whose message waits for the next process', async () => {
    const [store, clock] = [memoryStore(), new FakeClock()]
    const first = handoffTeam(undefined, { store, clock, limits: { idleMs } }).runtime
    const { sessionId: id } = await first.run('Hello')
    await first.close()
    const { runtime } = handoffTeam(undefined, { store, clock, limits: { idleMs } })
    await runtime.sessions.send(id, 'one')
    clock.jump(60 * minute)
    await (await runtime.open(id)).outcome
    expect(await runtime.sessions.outcome(id)).toMatchObject({ status: 'suspended', report: { text: 'heard one' } })
    expect(await reasonOf(store, id)).toEqual([])
  })
})

describe('a restart in the middle', () => {
  it('changes nothing, whenever it comes', async () => {
    const store = memoryStore()
    let { runtime } = handoffTeam(undefined, { store })
    const again = async (): Promise<void> => {
      await runtime.close()
      runtime = handoffTeam(undefined, { store }).runtime
    }
    const { sessionId: id } = await runtime.run('Hello')
    for (const text of ['one', 'two']) {
      await again()
      // Found in the inbox by the next driver.
      await runtime.sessions.send(id, text, { clientId: text })
      await again()
      await (await runtime.open(id)).outcome
      expect(await runtime.sessions.outcome(id)).toMatchObject({
        status: 'suspended',
        report: { text: `heard ${text}` },
        speaker: { agent: 'coach' },
      })
    }
    await again()
    await runtime.open(id)
    expect(await say(runtime, id, 'done')).toMatchObject({ status: 'completed', report: { text: 'boss: all set | Hello' } })
    expect(await reasonOf(store, id)).toEqual(['done'])
    const events = await eventsOf(store, id)
    expect(events.filter(({ type, agentPath }) => type === 'interaction.turn.started' && agentPath === 'root/coach#1')).toHaveLength(4)
  })

  it('is possible for copies and exports of the session, too', async () => {
    const store = memoryStore()
    const { runtime } = handoffTeam(undefined, { store })
    const { sessionId: id } = await runtime.run('Hello')
    await say(runtime, id, 'one')
    const copy = await runtime.sessions.fork(id)
    expect(typesOf((await runtime.sessions.export(id)).events)).toContain('handoff.started')
    // The turn of a copy is over, and so is the handoff.
    expect(await say(runtime, copy, 'still there?')).toMatchObject({ status: 'completed' })
    expect(await say(runtime, id, 'two')).toMatchObject({ status: 'suspended', report: { text: 'heard two' } })
  })
})

describe('in a team', () => {
  const limits = { maxTurns: 10, maxTokensPerInvocation: 50_000, timeBudgetMs: 120_000, idleMs: 1_800_000 }
  const handoffTo = (agent: string) => handoffTool({ agent, description: 'Talks.', limits })
  const call = (agent: string) => ({ tool: `agent__${agent}`, input: { task: agent } })
  const afterCalls =
    (...agents: readonly string[]): Script =>
    (request) =>
      resultsOf(request).length === 0 ? { calls: agents.map(call) } : { text: `after ${resultsOf(request).join(' & ')}` }

  it('a child that speaks can hand over, too: the innermost one speaks', async () => {
    const { runtime } = team(
      {
        boss: { agents: ['host'], script: afterCalls('host') },
        host: {
          agents: ['guide'],
          tools: ['return_control'],
          script: (request) => {
            if (textOf(request) === 'guide me' && resultsOf(request).length === 0) return { calls: [call('guide')] }
            return textOf(request) === 'done' ? returned('host is done') : { text: `host: ${resultsOf(request).at(-1) ?? textOf(request)}` }
          },
        },
        guide: {
          tools: ['return_control'],
          script: (request) => (textOf(request) === 'done' ? returned('guided') : { text: `guide: ${textOf(request)}` }),
        },
      },
      { tools: [handoffTo('host'), handoffTo('guide'), returnControlTool] },
    )
    const { sessionId: id, report } = await runtime.run('Hello')
    expect(report?.text).toBe('host: host')
    // The host answers to a message of the person with a handoff of its own.
    expect(await say(runtime, id, 'guide me')).toMatchObject({
      report: { text: 'guide: guide' },
      speaker: { agent: 'guide', agentPath: 'root/host#1/guide#1' },
    })
    expect(await say(runtime, id, 'left')).toMatchObject({ report: { text: 'guide: left' } })
    expect(await say(runtime, id, 'done')).toMatchObject({ report: { text: 'host: guided' }, speaker: { agent: 'host' } })
    expect(await say(runtime, id, 'done')).toMatchObject({ status: 'completed', report: { text: 'after host is done' } })
  })

  it('a step makes one handoff: another one is refused, also if the first has ended', async () => {
    const { runtime } = team(
      {
        boss: { agents: ['one', 'two'], script: afterCalls('one', 'two') },
        one: { tools: ['return_control'], script: echo },
        two: { tools: ['return_control'], script: echo },
      },
      { tools: [handoffTo('one'), handoffTo('two'), returnControlTool] },
    )
    const { sessionId: id, speaker } = await runtime.run('Hello')
    expect(speaker?.agent).toBe('one')
    const refused = 'Error (invalid_input): This step has handed the person over already. A step can make one handoff.'
    const last = await say(runtime, id, 'done')
    expect(last).toMatchObject({ status: 'completed', report: { text: expect.stringContaining(`after all set & ${refused}`) } })
    expect(last.speaker).toBeUndefined()
  })

  it('a child that is called can hand over, too, and is told when the person goes back', async () => {
    const { runtime } = team(
      {
        boss: {
          agents: ['host'],
          script: (request) =>
            resultsOf(request).length === 0
              ? { calls: [{ tool: 'agent__host', input: { prompt: 'Go' } }] }
              : { text: `after ${resultsOf(request).join()}` },
        },
        host: { agents: ['guide'], script: afterCalls('guide') },
        guide: { tools: ['return_control'], script: echo },
      },
      { tools: [handoffTo('guide'), returnControlTool] },
    )
    const { sessionId: id } = await runtime.run('Hello')
    await back(runtime, id)
    expect(await runtime.sessions.outcome(id)).toMatchObject({
      report: { text: expect.stringMatching(/^after after The conversation of guide .* the person asked for you/) },
    })
  })

  it('the child can ask for an approval, and a message meanwhile waits for its next step', async () => {
    const { runtime } = team(
      {
        boss: { agents: ['coach'], script: afterCalls('coach') },
        coach: {
          tools: ['send', 'return_control'],
          script: (request) => {
            if (textOf(request) === 'send it' && resultsOf(request).length === 0) return { calls: [{ tool: 'send' }] }
            return { text: `${resultsOf(request).join()} ${textOf(request)}` }
          },
        },
      },
      { tools: [handoffTo('coach'), returnControlTool, send], approver: { decide: () => 'suspend' } },
    )
    const { sessionId: id } = await runtime.run('Hello')
    expect(await say(runtime, id, 'send it')).toMatchObject({ status: 'suspended', reason: 'approval' })
    await runtime.sessions.send(id, 'quick', { mode: 'steer' })
    const [request] = await runtime.sessions.requests(id)
    expect(request?.agentPath).toBe('root/coach#1')
    await runtime.sessions.approve(id, { approvalId: request?.id ?? '', decision: { kind: 'approve', breadth: 'once' } })
    expect(await runtime.sessions.outcome(id)).toMatchObject({ status: 'suspended', reason: 'input', report: { text: 'sent quick' } })
  })

  it('is refused to a caller without such an agent, and the caller is told', async () => {
    const { runtime } = team(
      {
        boss: {
          tools: ['*'],
          script: (request) => (resultsOf(request).length === 0 ? { calls: [call('coach')] } : { text: resultsOf(request).join() }),
        },
        coach: { script: echo },
      },
      { tools: [handoffTo('coach')] },
    )
    expect(await runtime.run('Hello')).toMatchObject({
      status: 'completed',
      report: { text: expect.stringContaining('There is no tool "agent__coach"') },
    })
  })
})
