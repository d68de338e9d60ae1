import { describe, expect, it } from 'vitest'
import type { Hook } from '../../src/contracts/index.ts'
import { ask, resultsOf, type Script, team, textOf } from './team.ts'

const boss =
  (...names: readonly string[]): Script =>
  (request, step) =>
    step === 1 ? { calls: names.map((name) => ask(name, `Do ${name}`)) } : { text: `All: ${resultsOf(request).join(' | ')}` }

describe('a child', () => {
  const two = () =>
    team({
      boss: { script: boss('scout', 'writer'), agents: ['scout', 'writer'] },
      scout: { script: () => ({ text: 'found it', usage: { input: 10, output: 2 } }) },
      writer: { script: (request) => ({ text: `wrote: ${textOf(request)}`, usage: { input: 20, output: 3 } }) },
    })

  it('is a tool: its report is the result of the call', async () => {
    const { outcome } = await two().run()
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'All: found it | wrote: Do writer' } })
  })

  it('is offered with description and input, and sees its task alone', async () => {
    let offered: unknown
    let seen: unknown
    const { run } = team({
      boss: {
        agents: ['scout'],
        script: (request, step) => {
          offered ??= request.tools.find(({ name }) => name === 'agent__scout')
          return step === 1 ? { calls: [ask('scout', 'Look there')] } : { text: 'Done.' }
        },
      },
      scout: {
        usage: 'where to look',
        script: (request) => {
          seen = { system: request.system, messages: [...request.messages], tools: request.tools }
          return { text: 'ok' }
        },
      },
    })
    await run()
    expect(offered).toMatchObject({
      description: 'scout of the team\nInput: where to look',
      inputSchema: { properties: { prompt: { type: 'string' }, reason: {} }, required: ['prompt', 'reason'] },
    })
    expect(seen).toEqual({
      system: 'You are scout.',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'Look there' }] }],
      tools: [],
    })
  })

  it('has a session of its own in the same journal, gap-free, under its path', async () => {
    const { events, outcome } = await two().run()
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
    const created = events.filter((event) => event.type === 'interaction.session.created')
    expect(created.map(({ agentPath }) => agentPath)).toEqual(['root', 'root/scout#1', 'root/writer#1'])
    const [, scout] = created
    expect(scout).toMatchObject({
      sessionId: `${outcome.sessionId}/t1.s1.1`,
      parent: { sessionId: outcome.sessionId, turnId: 't1', itemId: 't1.s1.1' },
      trace: { originId: outcome.sessionId, parentId: outcome.sessionId, callPath: 'boss/scout', turnPath: 't1' },
      agent: { limits: { maxTokens: 50_000, timeBudget: 120_000 } },
    })
    const ended = events.findIndex((event) => event.type === 'interaction.turn.completed' && event.sessionId === scout?.sessionId)
    const told = events.findIndex((event) => event.type === 'interaction.subagent.completed' && event.childId === scout?.sessionId)
    expect(ended).toBeGreaterThan(0)
    expect(told).toBeGreaterThan(ended)
  })

  it('is accounted for: totals, entries and operations of the whole tree', async () => {
    const { outcome } = await two().run()
    const own = outcome.accounting.filter((entry) => entry.agentPath === 'root')
    expect(outcome.accounting.map(({ agentPath, kind }) => `${agentPath} ${kind}`)).toEqual([
      'root model',
      'root/scout#1 model',
      'root call',
      'root/writer#1 model',
      'root call',
      'root model',
    ])
    expect(own).toHaveLength(4)
    expect(outcome.usage.input).toBeGreaterThanOrEqual(30)
    const [first] = outcome.operations?.steps ?? []
    expect(first?.calls.map(({ child }) => [child?.agentPath, child?.status, child?.steps.length])).toEqual([
      ['root/scout#1', 'completed', 1],
      ['root/writer#1', 'completed', 1],
    ])
  })

  it('passes its accounting, conversation and operations to observers of the loop', async () => {
    const seen: unknown[] = []
    const written: string[] = []
    const hook: Hook = {
      name: 'look',
      onFailure: 'closed',
      afterCall: ({ output: { extras } }) => {
        seen.push(extras?.childAccounting, extras?.childConversation, extras?.childOpTree)
        written.push(JSON.stringify(extras))
        return { kind: 'continue' }
      },
    }
    const members = {
      boss: { script: boss('scout'), agents: ['scout'] },
      scout: { script: (() => ({ text: 'found it' })) satisfies Script },
    }
    await team(members, { hooks: [hook] }).run()
    expect(seen).toMatchObject([
      [{ kind: 'model', agentPath: 'root/scout#1' }],
      [
        { role: 'user', parts: [{ text: 'Do scout' }] },
        { role: 'assistant', parts: [{ text: 'found it' }] },
      ],
      { kind: 'turn', agentPath: 'root/scout#1', status: 'completed' },
    ])
    const [childAccounting, childConversation, childOpTree] = seen
    expect(written.map((text) => JSON.parse(text))).toEqual([{ childAccounting, childConversation, childOpTree }])
  })

  it('is an item of its own kind, with the reason as title', async () => {
    const { events } = await two().run()
    const intents = events.flatMap((event) => (event.type === 'interaction.item.started' && event.item.kind === 'call' ? [event.item] : []))
    expect(intents).toMatchObject([
      {
        type: 'subagent_call',
        tool: 'agent__scout',
        namespace: 'agent',
        title: 'because',
        effect: 'idempotent',
        details: { agent: 'scout' },
      },
      { type: 'subagent_call', tool: 'agent__writer' },
    ])
  })

  it('may have children of its own', async () => {
    const { outcome } = await team({
      boss: { script: boss('lead'), agents: ['lead'] },
      lead: { script: boss('scout'), agents: ['scout'] },
      scout: { script: () => ({ text: 'deep' }) },
    }).run()
    expect(outcome.report?.text).toBe('All: All: deep')
    expect(outcome.operations?.steps[0]?.calls[0]?.child?.steps[0]?.calls[0]?.child?.agentPath).toBe('root/lead#1/scout#1')
  })

  it('can be traced from any depth: to the origin, to its parent, call by call and turn by turn', async () => {
    const { runtime } = team({
      boss: { script: (request, step) => boss('lead')(request, step % 2 === 1 ? 1 : 2), agents: ['lead'] },
      lead: { script: boss('scout'), agents: ['scout'] },
      scout: { script: () => ({ text: 'deep' }) },
    })
    const { sessionId: treeId } = await runtime.run('Go')
    await runtime.sessions.send(treeId, 'Go on')
    expect((await runtime.sessions.outcome(treeId)).trace).toEqual({ originId: treeId, callPath: 'boss', turnPath: 't2' })
    const traces: object[] = []
    for await (const event of runtime.sessions.events(treeId)) if (event.type === 'interaction.session.created') traces.push(event.trace)
    const originId = treeId
    const [lead, again] = [`${treeId}/t1.s1.1`, `${treeId}/t2.s1.1`]
    expect(traces).toEqual([
      { originId, callPath: 'boss', turnPath: '' },
      { originId, parentId: treeId, callPath: 'boss/lead', turnPath: 't1' },
      { originId, parentId: lead, callPath: 'boss/lead/scout', turnPath: 't1/t1' },
      { originId, parentId: treeId, callPath: 'boss/lead', turnPath: 't2' },
      { originId, parentId: again, callPath: 'boss/lead/scout', turnPath: 't2/t1' },
    ])
  })

  it('takes JSON where its contract says so, and reports a value', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const given: string[] = []
    const { outcome, events } = await team({
      boss: {
        agents: ['weather'],
        script: (_, step) => (step === 1 ? { calls: [{ tool: 'agent__weather', input: { city: 'Oslo' } }] } : { text: 'Done.' }),
      },
      weather: {
        input: { format: 'json', schema },
        output: { format: 'json', schema: { type: 'object' } },
        script: (request) => {
          given.push(textOf(request))
          return { text: '{"degrees":14}' }
        },
      },
    }).run()
    expect(outcome.status).toBe('completed')
    expect(given).toEqual(['{"city":"Oslo"}'])
    const result = events.find((event) => event.type === 'interaction.item.completed' && event.item.kind === 'call')
    expect(result).toMatchObject({ item: { value: { degrees: 14 }, content: '{"degrees":14}' } })
  })
})

describe('a child that fails', () => {
  const failing = (script: Script, limits = {}) =>
    team({ boss: { script: boss('scout'), agents: ['scout'] }, scout: { script, limits: { maxRetries: 0, ...limits } } }).run()

  it.each([
    ['auth', 'auth'],
    ['network', 'network'],
    ['config', 'config'],
  ] as const)('with %s is an error of that class to its parent, never ok', async (fails, kind) => {
    const { events, outcome } = await failing(() => ({ fails }))
    const result = events.find((event) => event.type === 'interaction.item.completed' && event.item.kind === 'call')
    expect(result).toMatchObject({
      item: { status: 'failed', error: { class: kind, message: expect.stringContaining(`scripted ${fails}`) } },
    })
    expect(events.find(({ type }) => type === 'interaction.subagent.failed')).toMatchObject({ status: 'failed', failure: { class: kind } })
    expect(outcome.status).toBe('completed')
    expect(outcome.operations?.steps[0]?.calls[0]).toMatchObject({ error: kind, child: { status: 'failed' } })
  })

  it('out of steps keeps what it has: partial, and said so', async () => {
    const { outcome, events } = await failing(
      (_, step) => (step < 9 ? { text: `draft ${step}`, calls: [{ tool: 'nothing' }] } : { text: 'x' }),
      {
        maxToolTurns: 2,
      },
    )
    expect(outcome.report?.text).toMatch(/draft 3[\s\S]*\(Partial: scout ran out of steps \(its maxToolTurns is \d+\)\.\)/)
    expect(events.find(({ type }) => type === 'interaction.subagent.completed')).toMatchObject({ status: 'partial' })
  })
})

describe('guards', () => {
  it('refuse a cycle at load, with the way round', () => {
    const make = () =>
      team({
        a: { script: boss(), agents: ['b'] },
        b: { script: boss(), agents: ['c'] },
        c: { script: boss(), agents: ['a'] },
      })
    expect(make).toThrow(/a → b → c → a/)
  })
  it('take a chain of ten thousand agents as they take one of ten', () => {
    const length = 10_000
    const line = (last: readonly string[]) =>
      team(
        Object.fromEntries(Array.from({ length }, (_, i) => [`a${i}`, { script: boss(), agents: i + 1 < length ? [`a${i + 1}`] : last }])),
      )
    expect(() => line([])).not.toThrow()
    expect(() => line(['a9998'])).toThrow('agents call each other in a cycle: a9998 → a9999 → a9998')
  })
  it('refuse an unknown child, with the nearest name', () => {
    expect(() => team({ a: { script: boss(), agents: ['scot'] }, scout: { script: boss() } })).toThrow(
      /config\.agents\[0\]\.agents\[0\].*scot.*scout/s,
    )
  })
  it('refuse two children under one tool name', () => {
    const make = () =>
      team({
        a: { script: boss(), agents: ['x', 'y'] },
        x: { script: boss(), toolName: 'same' },
        y: { script: boss(), toolName: 'same' },
      })
    expect(make).toThrow(/same/)
  })

  const chain = (limits: object) =>
    team({
      boss: { script: boss('one'), agents: ['one'], limits },
      one: { script: boss('two'), agents: ['two'] },
      two: { script: boss('three'), agents: ['three'] },
      three: { script: () => ({ text: 'bottom' }) },
    })
  it('let depth end where the limit is', async () => {
    expect((await chain({}).run()).outcome.report?.text).toContain('bottom')
    const { outcome, events } = await chain({ maxDepth: 2 }).run()
    expect(outcome.report?.text).not.toContain('bottom')
    expect(outcome.report?.text).toContain('boss may have 2 levels of children')
    expect(events.some(({ agentPath }) => agentPath.includes('three'))).toBe(false)
  })

  it('count children over the whole turn, theirs included', async () => {
    const many: Script = (request, step) =>
      step <= 3 ? { calls: [ask('scout', `n${step}`), ask('scout', `m${step}`)] } : { text: resultsOf(request).join('|') }
    const { outcome } = await team({
      boss: { script: many, agents: ['scout'], limits: { maxChildren: 3 } },
      scout: { script: () => ({ text: 'ok' }) },
    }).run()
    expect(outcome.report?.text.split('|').filter((text) => text === 'ok')).toHaveLength(3)
    expect(outcome.report?.text).toContain('boss has started the 3 children')
  })

  it('queue children beyond the parallel limit, in order, and never more at once', async () => {
    let running = 0
    let most = 0
    const order: string[] = []
    const { outcome } = await team({
      boss: {
        agents: ['scout'],
        limits: { parallelChildren: 2, parallelToolCalls: 10 },
        script: (_, step) => (step === 1 ? { calls: Array.from({ length: 6 }, (_unused, i) => ask('scout', `n${i}`)) } : { text: 'Done.' }),
      },
      scout: {
        script: async (request) => {
          order.push(textOf(request))
          running += 1
          most = Math.max(most, running)
          for (let i = 0; i < 5; i++) await Promise.resolve()
          running -= 1
          return { text: 'ok' }
        },
      },
    }).run()
    expect(outcome.status).toBe('completed')
    expect(most).toBe(2)
    expect(order).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', 'n5'])
  })
})
