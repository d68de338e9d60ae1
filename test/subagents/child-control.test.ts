import { describe, expect, it } from 'vitest'
import type { InteractionEvent } from '../../src/contracts/index.ts'
import { FakeClock, gate } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { type Member, resultsOf, type Said, type Script, send, team, textOf } from './team.ts'

// Children that are spawned: they work while their parent goes on.

const spawn = (agent: string, prompt: string) => ({ tool: 'spawn_agent', input: { agent, prompt } })
const tell = (id: string, text: string, more = {}) => ({ tool: 'send_agent_input', input: { id, text, ...more } })
const wait = (ids: readonly string[], more = {}) => ({ tool: 'wait_for_agent', input: { ids, ...more } })
const close = (id: string) => ({ tool: 'close_agent', input: { id } })
const list = { tool: 'list_agents' }

/** The steps of the parent in order; the last one answers with everything that it read. */
const boss = (...steps: readonly (Said | ((heard: string) => Said | Promise<Said>))[]): Member => ({
  agents: ['scout', 'clerk'],
  childControl: true,
  script: (request, step) => {
    const said = steps[step - 1] ?? { text: `End: ${heardBy(request)}` }
    return typeof said === 'function' ? said(heardBy(request)) : said
  },
})
const heardBy = (request: Parameters<Script>[0]): string => resultsOf(request).join(' | ')
/** Every message of a person or a child that the model has read. */
const messagesOf = (request: Parameters<Script>[0]): readonly string[] =>
  request.messages.flatMap((message) =>
    message.role === 'user' ? message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [],
  )
const echo: Member = { script: (request) => ({ text: `did ${textOf(request)}` }) }
const members = (first: Member, more: { readonly [name: string]: Member } = {}) => ({ boss: first, scout: echo, clerk: echo, ...more })
const types = (events: readonly InteractionEvent[], path = 'root') =>
  events
    .filter(({ agentPath, type }) => agentPath === path && /subagent\.[^s]|subagent.st|turn/.test(type))
    .map(({ type }) => type.slice(12))
const tick = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await Promise.resolve()
}

describe('a spawned child', () => {
  it('works while its parent goes on; a wait returns its report, which is not delivered again', async () => {
    const asked: string[][] = []
    const { run } = team(
      members({
        ...boss({ calls: [spawn('scout', 'one')] }, { calls: [wait(['scout#1'])] }),
        script: (request, step) => {
          asked.push([...messagesOf(request)])
          return [{ calls: [spawn('scout', 'one')] }, { calls: [wait(['scout#1'])] }][step - 1] ?? { text: heardBy(request) }
        },
      }),
    )
    const { outcome, events } = await run()
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Started scout#1. | [scout#1: completed]\ndid one' } })
    expect(asked.at(-1)).toEqual(['Go'])
    expect(types(events)).toEqual(['turn.started', 'subagent.started', 'subagent.completed', 'subagent.closed', 'turn.completed'])
    expect(events.find((event) => event.type === 'interaction.session.created' && event.parent)).toMatchObject({
      agentPath: 'root/scout#1',
      parent: { sessionId: 'id-2', itemId: 't1.s1.1' },
    })
  })

  it('holds the turn of a parent that has answered, and its report gives the parent another step', async () => {
    const go = gate()
    const answered = gate()
    const asked: string[][] = []
    const { runtime } = team(
      members(
        {
          ...boss(),
          script: (request, step) => {
            asked.push([...messagesOf(request)])
            if (step === 1) return { calls: [spawn('scout', 'one'), spawn('clerk', 'two')] }
            if (step === 2) answered.open()
            return { text: `answer ${step - 1}` }
          },
        },
        { scout: { script: () => go.promise.then(() => ({ text: 'late news' })) } },
      ),
    )
    const handle = runtime.stream('Go')
    await answered.promise
    await tick()
    go.open()
    expect(await handle.outcome).toMatchObject({ status: 'completed', report: { text: expect.stringMatching(/^answer [23]$/) } })
    const said = asked.at(-1) ?? []
    expect(said.toSorted()).toEqual(['Go', '[clerk#1: completed]\ndid two', '[scout#1: completed]\nlate news'])
  })

  it('has several turns in one session; an idle one does not hold the turn', async () => {
    const seen: string[][] = []
    const { run } = team(
      members(
        boss(
          { calls: [spawn('scout', 'one')] },
          { calls: [wait(['scout#1'])] },
          { calls: [tell('scout#1', 'two'), list] },
          { calls: [wait(['scout#1'], { mode: 'all' })] },
          { calls: [list] },
        ),
        {
          scout: {
            script: (request) => {
              seen.push([...messagesOf(request)])
              return { text: `did ${textOf(request)}`, usage: { input: 10, output: 1 } }
            },
          },
        },
      ),
    )
    const { outcome, events } = await run()
    expect(seen).toEqual([['one'], ['one', 'two']])
    expect(outcome.report?.text).toBe(
      'End: Started scout#1. | [scout#1: completed]\ndid one | Sent. scout#1 is working. | scout#1: working, turn 2 | [scout#1: completed]\ndid two | scout#1: idle, turn 2',
    )
    const ends = events.flatMap((event) =>
      event.type === 'interaction.subagent.completed' ? [[event.turn, event.totals.usage.input]] : [],
    )
    expect(ends).toEqual([
      [1, 10],
      [2, 10],
    ])
    // Every attempt of both turns is in the account of the root.
    const attempts = outcome.accounting.filter((entry) => entry.kind === 'model' && entry.agentPath === 'root/scout#1')
    expect(attempts).toHaveLength(2)
    expect(outcome.operations?.steps[0]?.calls[0]).toMatchObject({
      tool: 'spawn_agent',
      child: { turnId: 't2' },
      earlier: [{ turnId: 't1' }],
    })
  })

  it('is steered while it works, or reads queued input in a further turn', async () => {
    const inside = gate()
    const sent = gate()
    const seen: string[][] = []
    const { run } = team(
      members(
        boss(
          { calls: [spawn('scout', 'one')] },
          async () => {
            await inside.promise
            return { calls: [tell('scout#1', 'steered'), tell('scout#1', 'queued', { mode: 'queue' })] }
          },
          () => {
            sent.open()
            return { calls: [wait(['scout#1'], { mode: 'all' })] }
          },
        ),
        {
          scout: {
            tools: ['work'],
            script: (request) => {
              seen.push([...messagesOf(request)])
              return seen.length === 1 ? { calls: [{ tool: 'work' }] } : { text: `read ${messagesOf(request).length}` }
            },
          },
        },
      ),
      {
        tools: [
          {
            name: 'work',
            description: 'Works.',
            inputSchema: { type: 'object' },
            async execute() {
              inside.open()
              await sent.promise
              return 'worked'
            },
          },
        ],
      },
    )
    const { outcome } = await run()
    expect(seen).toEqual([['one'], ['one', 'steered'], ['one', 'steered', 'queued']])
    expect(outcome.report?.text).toContain('[scout#1: completed]\nread 3')
  })

  it('is closed: it is interrupted, pays, and takes nothing more', async () => {
    const inside = gate()
    const { run } = team(
      members(
        boss(
          { calls: [spawn('scout', 'one'), spawn('clerk', 'two')] },
          async () => {
            await inside.promise
            return { calls: [close('scout#1')] }
          },
          { calls: [close('scout#1'), tell('scout#1', 'more'), wait(['scout#1']), close('nobody#1'), wait(['clerk#1', 'nobody#2'])] },
        ),
        {
          scout: {
            script: () => {
              inside.open()
              return new Promise<never>(() => {})
            },
          },
        },
      ),
    )
    const { outcome, events } = await run()
    const [, , closed, again, more, waited, unknown, unknowns] = outcome.report?.text.split(' | ') ?? []
    expect(closed).toBe('Closed scout#1.')
    for (const text of [again, more, waited]) expect(text).toContain('scout#1 is closed. Live: clerk#1 (idle).')
    expect(unknown).toContain('There is no spawned agent "nobody#1". Live: clerk#1 (idle).')
    expect(unknowns).toContain('There is no spawned agent "nobody#2"')
    expect(types(events, 'root/scout#1')).toEqual(['turn.started', 'turn.interrupted'])
    expect(events.find(({ type }) => type === 'interaction.subagent.failed')).toMatchObject({ status: 'interrupted', turn: 1 })
    expect(outcome.status).toBe('completed')
  })

  it('that fails is reported with its failure', async () => {
    const asked: string[] = []
    const { run } = team(
      members(
        {
          ...boss(),
          limits: { maxRetries: 0 },
          script: (request, step) => {
            asked.push(textOf(request))
            return step === 1 ? { calls: [spawn('scout', 'one')] } : { text: 'over' }
          },
        },
        { scout: { limits: { maxRetries: 0 }, script: () => ({ fails: 'network' }) } },
      ),
    )
    const { outcome } = await run()
    expect(outcome.status).toBe('completed')
    expect(asked.at(-1)).toMatch(/^\[scout#1: failed\]\nscout failed: scripted network/)
  })
})

describe('waiting', () => {
  it('for any returns with the first, for all with the last, and a timeout with the states', async () => {
    const clock = new FakeClock()
    const fast = gate()
    const slow = gate()
    const { runtime } = team(
      members(
        boss(
          { calls: [spawn('scout', 'slow'), spawn('clerk', 'fast')] },
          () => {
            fast.open()
            return { calls: [wait(['scout#1', 'clerk#1'])] }
          },
          { calls: [wait(['scout#1', 'clerk#1'], { timeout: 5 })] },
          { calls: [wait(['scout#1', 'clerk#1'], { mode: 'all', timeout: 5 })] },
          () => {
            slow.open()
            return { calls: [wait(['scout#1', 'clerk#1'], { mode: 'all' })] }
          },
        ),
        {
          scout: { script: () => slow.promise.then(() => ({ text: 'slowly' })) },
          clerk: { script: () => fast.promise.then(() => ({ text: 'did fast' })) },
        },
      ),
      { clock },
    )
    const handle = runtime.stream('Go')
    const { report } = await settle(handle.outcome, clock)
    const done = '[clerk#1: completed]\ndid fast'
    expect(report?.text.split(' | ').slice(2)).toEqual([
      `[scout#1: working]\n\n${done}`,
      `[scout#1: working]\n\n${done}`,
      `[scout#1: working]\n\n${done}`,
      `[scout#1: completed]\nslowly\n\n${done}`,
    ])
  })

  it('ends early when a person steers the parent', async () => {
    const waiting = gate()
    const { runtime } = team(
      members(
        {
          ...boss(),
          script: (request, step) => {
            if (step === 1) return { calls: [spawn('scout', 'one')] }
            if (step === 2) {
              waiting.open()
              return { calls: [wait(['scout#1'])] }
            }
            return step === 3 ? { calls: [close('scout#1')] } : { text: `${messagesOf(request)} ${heardBy(request)}` }
          },
        },
        { scout: { script: () => new Promise<never>(() => {}) } },
      ),
    )
    const handle = runtime.stream('Go')
    await waiting.promise
    await tick()
    await handle.steer('Hurry')
    expect((await handle.outcome).report?.text).toBe('Go,Hurry Started scout#1. | [scout#1: working] | Closed scout#1.')
  })
})

describe('limits', () => {
  it('queue what exceeds parallelChildren, and refuse what exceeds maxChildren or maxDepth', async () => {
    let atOnce = 0
    let most = 0
    const { run } = team(
      members(
        {
          ...boss(
            { calls: [1, 2, 3, 4, 5].map((n) => spawn('scout', `task ${n}`)) },
            { calls: [wait(['scout#1', 'scout#2', 'scout#3', 'scout#4'], { mode: 'all' })] },
          ),
          limits: { parallelChildren: 2, maxChildren: 4, parallelToolCalls: 5 },
        },
        {
          scout: {
            script: async (request) => {
              most = Math.max(most, ++atOnce)
              await tick()
              atOnce--
              return { text: `did ${textOf(request)}` }
            },
          },
        },
      ),
    )
    const { outcome } = await run()
    expect(most).toBe(2)
    expect(outcome.report?.text).toContain('boss has started the 4 children that it may start in a turn.')
    expect(outcome.report?.text.match(/completed\]\ndid task/g)).toHaveLength(4)
    const deep = await team(members({ ...boss({ calls: [spawn('scout', 'one')] }), limits: { maxDepth: 0 } })).run()
    expect(deep.outcome.report?.text).toContain('boss may have 0 levels of children')
  })

  it('of children hold for calls whose input is checked at the same time', async () => {
    const scout: Member = { ...echo, input: { format: 'json', schema: { type: 'object', properties: { n: { type: 'number' } } } } }
    const spawnJson = (n: number) => ({ tool: 'spawn_agent', input: { agent: 'scout', input: { n } } })
    const callJson = (n: number) => ({ tool: 'agent__scout', input: { n } })
    for (const calls of [[1, 2, 3, 4].map(spawnJson), [1, 2, 3, 4].map(callJson)]) {
      const { run } = team(members({ ...boss({ calls }), limits: { maxChildren: 2, parallelToolCalls: 4 } }, { scout }))
      const { outcome, events } = await run()
      expect(events.filter(({ type }) => type === 'interaction.subagent.started')).toHaveLength(2)
      expect(outcome.report?.text.match(/has started the 2 children/g)).toHaveLength(2)
    }
  })

  it('of steps end the turn with what the parent has, and close the rest', async () => {
    const { run } = team(
      members(
        { ...boss({ calls: [spawn('scout', 'one')] }, { text: 'what I have' }), limits: { maxToolTurns: 2 } },
        { scout: { script: () => new Promise<never>(() => {}) } },
      ),
    )
    const { outcome, events } = await run()
    expect(outcome).toMatchObject({ status: 'partial', reason: 'steps', report: { text: 'what I have' } })
    expect(types(events).slice(-3)).toEqual(['subagent.failed', 'subagent.closed', 'turn.completed'])
    expect(types(events, 'root/scout#1')).toEqual(['turn.started', 'turn.interrupted'])
  })

  it('of time end the wait of a parent that has answered', async () => {
    const clock = new FakeClock()
    const answered = gate()
    const { runtime } = team(
      members(
        {
          ...boss({ calls: [spawn('scout', 'one')] }, () => {
            answered.open()
            return { text: 'what I have' }
          }),
          limits: { timeBudget: 60_000 },
        },
        {
          scout: { script: () => new Promise<never>(() => {}), limits: { timeBudget: 600_000, llmTimeout: 600_000, idleTimeout: 600_000 } },
        },
      ),
      { clock },
    )
    const handle = runtime.stream('Go')
    await answered.promise
    for (let j = 0; j < 200; j++) await Promise.resolve()
    clock.advance(60_000)
    expect(await handle.outcome).toMatchObject({
      status: 'partial',
      reason: 'time',
      report: { text: 'what I have' },
      diagnostics: expect.arrayContaining([expect.objectContaining({ code: 'children_late' })]),
    })
  })
})

describe('the end of the parent', () => {
  it('by an interrupt ends its children first', async () => {
    const inside = gate()
    const { runtime } = team(
      members(boss({ calls: [spawn('scout', 'one')] }, { text: 'answer' }), {
        scout: {
          script: () => {
            inside.open()
            return new Promise<never>(() => {})
          },
        },
      }),
    )
    const events: InteractionEvent[] = []
    const handle = runtime.stream('Go')
    const reading = (async () => {
      for await (const event of handle) if ('seq' in event) events.push(event)
    })()
    await inside.promise
    await tick()
    await handle.interrupt()
    expect(await handle.outcome).toMatchObject({ status: 'interrupted' })
    await reading
    const ends = events.filter(({ type }) => /turn\.(completed|failed|interrupted)$/.test(type)).map(({ agentPath }) => agentPath)
    expect(ends).toEqual(['root/scout#1', 'root'])
  })

  it('by a stop ends a wait, and the parent answers', async () => {
    const inside = gate()
    const go = gate()
    const { runtime } = team(
      members(boss({ calls: [spawn('scout', 'one')] }, { calls: [wait(['scout#1'])] }), {
        scout: {
          script: () => {
            inside.open()
            return go.promise.then(() => ({ text: 'scouted' }))
          },
        },
      }),
    )
    const handle = runtime.stream('Go')
    await inside.promise
    await tick()
    await handle.stop()
    go.open()
    expect(await handle.outcome).toMatchObject({ status: 'partial', reason: 'stopped', report: { text: expect.stringContaining('End:') } })
  })
})

it('a spawned child that waits for a person suspends the tree; the answer continues it, and wakes the parent', async () => {
  const { runtime } = team(
    members(boss({ calls: [spawn('scout', 'one')] }, { text: 'first answer' }), {
      scout: {
        tools: ['send'],
        script: (request, step) => (step === 1 ? { calls: [{ tool: 'send' }] } : { text: `it was ${heardBy(request)}` }),
      },
    }),
    { tools: [send], approver: { decide: () => 'suspend' } },
  )
  const first = await runtime.run('Go')
  expect(first).toMatchObject({ status: 'suspended', reason: 'approval', report: { text: 'first answer' } })
  const [request] = await runtime.sessions.requests(first.sessionId)
  await runtime.sessions.approve(first.sessionId, { approvalId: request!.id, decision: { kind: 'approve', breadth: 'once' } })
  const last = await runtime.sessions.outcome(first.sessionId)
  expect(last).toMatchObject({ status: 'completed', report: { text: 'End: Started scout#1.' } })
  const same = await runtime.sessions.get(first.sessionId)
  expect(same).toMatchObject({ status: 'completed', openRequests: 0 })
})

it('work of a child after a suspension uses up the time of its parent', async () => {
  const clock = new FakeClock()
  const work = {
    name: 'work',
    description: 'Works.',
    inputSchema: { type: 'object' },
    execute: () => new Promise<string>((resolve) => clock.after(50_000, () => resolve('worked'))),
  } as const
  const steps = [{ calls: [{ tool: 'send' }] }, { calls: [{ tool: 'work' }] }]
  const { runtime } = team(
    members(boss({ calls: [spawn('scout', 'one')] }, { calls: [wait(['scout#1'])] }), {
      scout: { tools: ['send', 'work'], script: (_, step) => steps[step - 1] ?? { text: 'done' } },
    }),
    { tools: [send, work], clock, approver: { decide: () => 'suspend' } },
  )
  const { sessionId } = await runtime.run('Go')
  clock.advance(3_600_000)
  const [request] = await runtime.sessions.requests(sessionId)
  await runtime.sessions.approve(sessionId, { approvalId: request!.id, decision: { kind: 'approve', breadth: 'once' } })
  const { snapshot } = await settle(runtime.sessions.outcome(sessionId), clock)
  expect(snapshot.state.turn).toMatchObject({ kind: 'ended', idleMs: 3_600_000 })
})

it('an agent with childControl and no agents is warned', async () => {
  const { outcome } = await team({ boss: { childControl: true, script: () => ({ text: 'done' }) } }).run()
  expect(outcome.diagnostics).toMatchObject([
    { code: 'child_control_unused', severity: 'warning', remedy: expect.stringContaining('`agents`') },
  ])
})

it('an agent without childControl has none of this', async () => {
  let offered: readonly string[] = []
  const { run } = team(
    members({
      agents: ['scout'],
      script: (request) => {
        offered = request.tools.map(({ name }) => name)
        return { text: 'done' }
      },
    }),
  )
  await run()
  expect(offered).toEqual(['agent__scout'])
})
