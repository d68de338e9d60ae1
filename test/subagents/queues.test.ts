import { describe, expect, it } from 'vitest'
import type { Approver, InteractionEvent, ModelRequest, Tool } from '../../src/contracts/index.ts'
import { type AgentLoopConfig, createAgentRuntime } from '../../src/runtime/index.ts'
import { FakeClock, gate, type HandGate } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { ask, resultsOf, type Said, type Script, scripted, team, textOf } from './team.ts'

// Nobody waits for what is loaded for the first time.
await import('../../src/runtime/selection/ask-model-for-agent.ts')

const settled = () => new Promise((resolve) => setImmediate(resolve))
type Queues = NonNullable<AgentLoopConfig['queues']>
const one = { concurrent: 1 }

/** Everybody who enters waits at a gate of their own. */
function doors() {
  const entered: string[] = []
  const open = new Map<string, HandGate>()
  return {
    entered,
    async pass(name: string): Promise<void> {
      const door = gate()
      open.set(name, door)
      entered.push(name)
      await door.promise
    },
    async open(name: string): Promise<void> {
      open.get(name)?.open()
      await settled()
    },
  }
}

function tool(name: string, execute: Tool['execute'], more: Partial<Tool> = {}): Tool {
  return { name, description: name, inputSchema: { type: 'object' }, effect: 'read', concurrency: 'shared', execute, ...more }
}
const starting = (name: string, more: Partial<Tool> = {}): Tool =>
  tool(
    name,
    async ({ agent }, { startChild }) => {
      const result = await startChild({ agent: String(agent), input: [{ type: 'text', text: 'go' }] })
      return result.kind === 'ended' ? String(result.report?.text) : { ok: false, error: result.failure }
    },
    { effect: 'idempotent', ...more },
  )
const calls =
  (...wanted: readonly { tool: string; input?: object }[]): Script =>
  (request, step) =>
    step === 1 ? { calls: wanted } : { text: resultsOf(request).join(' | ') }

describe('a queue of a provider', () => {
  const stage = (queues: Queues, more: Parameters<typeof team>[1] & { quick?: object } = {}) => {
    const { entered, pass, open } = doors()
    const requests: ModelRequest[] = []
    const script: Script = async (request) => {
      requests.push(request)
      await pass(textOf(request))
      return { text: 'ok' }
    }
    const { quick, ...options } = more
    const made = team(
      { slow: { script, limits: { llmTimeout: 600_000 } }, quick: { script, limits: { llmTimeout: 1_000, ...quick } } },
      { ...options, config: { queues } },
    )
    return { ...made, entered, open, requests }
  }

  it('caps its attempts across all trees, first come, first served', async () => {
    const { runtime, entered, open } = stage({ team: { concurrent: 2 } })
    const runs = ['a', 'b', 'c', 'd'].map((name) => runtime.run(name))
    await settled()
    expect(entered).toEqual(['a', 'b'])
    await open('b')
    expect(entered).toEqual(['a', 'b', 'c'])
    await open('c')
    await open('a')
    await open('d')
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual(Array(4).fill('completed'))
  })

  it('lets so many begin within a minute', async () => {
    const clock = new FakeClock()
    const { runtime, entered, open } = stage({ team: { perMinute: 2 } }, { clock })
    const runs = ['a', 'b', 'c'].map((name) => runtime.run(name))
    await clock.elapse(59_999)
    await open('a')
    expect(entered).toEqual(['a', 'b'])
    await clock.elapse(1)
    expect(entered).toEqual(['a', 'b', 'c'])
    await open('b')
    await open('c')
    await Promise.all(runs)
  })

  it('takes no time of llmTimeout, and has nothing recorded or set aside meanwhile', async () => {
    const clock = new FakeClock()
    const { runtime, entered, open } = stage({ team: one }, { clock })
    const first = runtime.run('a')
    await settled()
    const handle = runtime.stream('b', { agent: 'quick' })
    const events: InteractionEvent[] = []
    const reading = (async () => {
      for await (const event of handle) if ('seq' in event) events.push(event)
    })()
    await clock.elapse(50_000)
    expect(events.map(({ type }) => type)).toContain('interaction.turn.started')
    expect(events.map(({ type }) => type)).not.toContain('interaction.step.started')
    await open('a')
    expect(entered).toEqual(['a', 'b'])
    await clock.elapse(900)
    await open('b')
    expect(await handle.outcome).toMatchObject({ status: 'completed', accounting: [{ latencyMs: 900 }] })
    await Promise.all([first, reading])
    expect(events.filter(({ type }) => type === 'interaction.step.failed')).toEqual([])
  })

  it('is left immediately on an interrupt', async () => {
    const { runtime, entered, open } = stage({ team: one })
    const first = runtime.run('a')
    await settled()
    const [second, third] = [runtime.stream('b'), runtime.run('c')]
    await settled()
    await second.interrupt()
    expect(await second.outcome).toMatchObject({ status: 'interrupted', accounting: [] })
    await open('a')
    expect(entered).toEqual(['a', 'c'])
    await open('c')
    await Promise.all([first, third])
  })

  it('is thought over again at the end of the line', async () => {
    const { runtime, open, entered, requests } = stage({ team: one })
    const first = runtime.run('a')
    await settled()
    const second = runtime.stream('b')
    await settled()
    await second.stop()
    await open('a')
    await settled()
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'none'])
    await open(entered[1] ?? '')
    expect(await second.outcome).toMatchObject({ status: 'partial', reason: 'stopped' })
    await first
  })

  it('does not let two spend in line what only one of them can', async () => {
    const asked: string[] = []
    const child: Script = (request) => {
      asked.push(textOf(request))
      return { text: 'ok', usage: { input: 6_430, output: 2_000 } }
    }
    const { outcome } = await team(
      {
        boss: { script: calls(ask('scout', 'x'), ask('scout', 'y')), agents: ['scout'], limits: { maxTokens: 8_500 } },
        scout: { script: child },
      },
      { config: { queues: { team: one } } },
    ).run()
    expect(asked).toEqual(['x'])
    expect(outcome.operations?.steps[0]?.calls.map(({ child: ended }) => ended?.status)).toEqual(['completed', 'failed'])
  })

  it('counts the request that selects the agent', async () => {
    const { entered, pass, open } = doors()
    const script: Script = async (request) => {
      await pass(`${textOf(request)} ${request.system.startsWith('Choose') ? 'who' : 'what'}`)
      return { text: '{"agent":"two"}' }
    }
    const { runtime } = team(
      { one: { script }, two: { script } },
      { config: { queues: { team: one }, agentSelection: { infer: 'model' } } },
    )
    const runs = Promise.all([runtime.run('a'), runtime.run('b')])
    for (const name of ['a who', 'b who', 'a what', 'b what']) {
      await settled()
      expect(entered.at(-1)).toBe(name)
      await open(name)
    }
    expect((await runs).map(({ status }) => status)).toEqual(['completed', 'completed'])
    expect(entered).toHaveLength(4)
  })

  it('is given back after every attempt, whatever came of it', async () => {
    const clock = new FakeClock()
    const said: Said[] = [{ fails: 'network' }, { fails: 'network' }, { text: 'ok' }]
    const { runtime } = team(
      { boss: { script: (_, __) => said.shift() ?? { text: 'late' } } },
      { clock, config: { queues: { team: one } } },
    )
    const both = Promise.all([runtime.run('a'), runtime.run('b')])
    expect((await settle(both, clock, 100)).map(({ status }) => status)).toEqual(['completed', 'completed'])
  })

  it('ends with the time budget, and reports it', async () => {
    const clock = new FakeClock()
    const { runtime, open } = stage({ team: one }, { clock, quick: { timeBudget: 10_000 } })
    const first = runtime.run('a', { agent: 'slow' })
    await settled()
    const made = runtime.run('b', { agent: 'quick' })
    await clock.elapse(9_000)
    await clock.elapse(2_000)
    expect(await made).toMatchObject({
      status: 'failed',
      reason: 'time',
      accounting: [],
      diagnostics: [{ code: 'queue_late' }, { code: 'queue_late' }, { code: 'limit_reached' }],
    })
    await open('a')
    await first
  })
})

describe('a queue of a tool', () => {
  const stage = (
    queues: Queues,
    { work, clock = new FakeClock(), limits = {} }: { work?: Partial<Tool>; clock?: FakeClock; limits?: object } = {},
  ) => {
    const { entered, pass, open } = doors()
    const script: Script = (request, step) =>
      step === 1 ? { calls: [{ tool: 'dig__deep', input: { id: textOf(request) } }] } : { text: resultsOf(request).join() }
    const deep = tool(
      'dig/deep',
      async ({ id }) => {
        await pass(String(id))
        return `dug ${id}`
      },
      { namespace: 'garden', effect: 'write', ...work },
    )
    return { ...team({ boss: { script, tools: ['*'], limits } }, { tools: [deep], clock, config: { queues } }), entered, open, clock }
  }

  it.each(['dig/deep', 'dig__deep', 'garden'])('is found by %s', async (name) => {
    const { runtime, entered, open } = stage({ [name]: one })
    const runs = [runtime.run('a'), runtime.run('b')]
    await settled()
    expect(entered).toEqual(['a'])
    await open('a')
    expect(entered).toEqual(['a', 'b'])
    await open('b')
    expect((await Promise.all(runs)).map(({ report }) => report?.text)).toEqual(['dug a', 'dug b'])
  })

  it('takes no time of toolTimeout, and the intent is there before it', async () => {
    const { runtime, open, clock } = stage({ garden: one, 'dig/deep': one }, { work: { timeoutMs: 1_000 } })
    const first = runtime.run('a')
    await settled()
    const second = runtime.stream('b')
    const events: InteractionEvent[] = []
    const reading = (async () => {
      for await (const event of second) if ('seq' in event) events.push(event)
    })()
    await clock.elapse(900)
    expect(events.at(-1)).toMatchObject({ type: 'interaction.item.started', item: { tool: 'dig__deep' } })
    await open('a')
    await clock.elapse(900)
    await open('b')
    expect(await second.outcome).toMatchObject({ status: 'completed', report: { text: 'dug b' } })
    await Promise.all([first, reading])
  })

  it('is left immediately on an interrupt: the call never ran', async () => {
    const { runtime, entered, open } = stage({ garden: one })
    const first = runtime.run('a')
    await settled()
    const second = runtime.stream('b')
    await settled()
    await second.interrupt()
    expect(await second.outcome).toMatchObject({ status: 'interrupted', operations: { steps: [{ calls: [{ status: 'skipped' }] }] } })
    await open('a')
    await first
    expect(entered).toEqual(['a'])
  })

  it('is released when a run is interrupted, although the tool ignores the signal', async () => {
    const { runtime, entered, open, clock } = stage({ garden: one }, { limits: { toolTimeout: 1_000 } })
    const runs = [runtime.run('a'), runtime.run('b')]
    await clock.elapse(1_249)
    expect(entered).toEqual(['a'])
    await clock.elapse(1)
    expect(entered).toEqual(['a', 'b'])
    await open('b')
    await Promise.all(runs)
  })

  it('ends with the time budget: the call fails without running', async () => {
    const { runtime, entered, clock } = stage({ garden: one }, { limits: { timeBudget: 10_000 } })
    const first = runtime.run('a')
    await clock.elapse(100)
    const second = runtime.run('b')
    // The first is cut after 8 s and has its grace; then the time of the second is over, too, but for its last answer.
    await clock.elapse(8_050)
    expect((await second).report?.text).toContain('waited in a queue')
    await clock.elapse(100)
    expect((await first).report?.text).toContain('the time budget ran out')
    expect(entered).toEqual(['a'])
  })
})

describe('a queue of agents', () => {
  it('lets one child work after the other', async () => {
    const { entered, pass, open } = doors()
    const scout: Script = async (request, step) => {
      await pass(`${textOf(request)}${step}`)
      return step === 1 ? { calls: [{ tool: 'note' }] } : { text: 'ok' }
    }
    const { runtime } = team(
      { boss: { script: calls(ask('scout', 'x'), ask('scout', 'y')), agents: ['scout'] }, scout: { script: scout, tools: ['note'] } },
      { tools: [tool('note', () => 'noted', { concurrency: 'exclusive' })], config: { queues: { agent: one } } },
    )
    const run = runtime.run('Go')
    for (const name of ['x1', 'x2', 'y1', 'y2']) {
      await settled()
      expect(entered.at(-1)).toBe(name)
      await open(name)
    }
    expect((await run).status).toBe('completed')
    expect(entered).toHaveLength(4)
  })

  it('has no slot for a parent that waits, and it continues when there is one again', async () => {
    const { entered, pass, open } = doors()
    const lead: Script = async (request, step) => {
      await pass(`${textOf(request)}${step}`)
      return step === 1 ? { calls: [ask('scout', `${textOf(request)}.s`)] } : { text: resultsOf(request).join() }
    }
    const scout: Script = async (request) => {
      await pass(textOf(request))
      return { text: 'deep' }
    }
    const { runtime } = team(
      {
        boss: { script: calls(ask('lead', 'a'), ask('lead', 'b')), agents: ['lead'] },
        lead: { script: lead, agents: ['scout'] },
        scout: { script: scout },
      },
      { config: { queues: { agent: one } } },
    )
    const run = runtime.run('Go')
    // Each waits behind those who came before it.
    for (const name of ['a1', 'b1', 'a.s', 'b.s', 'a2', 'b2']) {
      await settled()
      expect(entered.at(-1)).toBe(name)
      await open(name)
    }
    expect((await run).report?.text).toBe('deep | deep')
    expect(entered).toHaveLength(6)
  })

  it('has no slot for a child that waits for a person', async () => {
    const approver: Approver = { decide: () => 'wait' }
    const asks = tool('careful', () => 'done', { approval: () => ({ keys: [{ key: 'k', label: 'k' }], summary: 's' }) })
    const order: string[] = []
    const { runtime } = team(
      {
        boss: { script: calls(ask('first', 'x'), ask('second', 'y')), agents: ['first', 'second'] },
        first: { tools: ['careful'], script: calls({ tool: 'careful' }) },
        second: {
          script: () => {
            order.push('second')
            return { text: 'ok' }
          },
        },
      },
      { tools: [asks], approver, config: { queues: { agent: one } } },
    )
    const handle = runtime.stream('Go')
    for await (const event of handle) {
      if (event.type !== 'interaction.approval.requested') continue
      for (let i = 0; i < 5; i++) await settled()
      expect(order).toEqual(['second'])
      await handle.approve(event.request.id, { kind: 'approve', breadth: 'once' })
    }
    expect((await handle.outcome).report?.text).toBe('done | ok')
  })

  it('keeps a tree at work that has a call in line, though a child of it waits for a person', async () => {
    const { entered, pass, open } = doors()
    const asks = tool('careful', () => 'done', { approval: () => ({ keys: [{ key: 'k', label: 'k' }], summary: 's' }) })
    const slow = tool('slow', async ({ id }) => {
      await pass(String(id))
      return 'slow'
    })
    const { runtime } = team(
      {
        boss: { script: calls(ask('first', 'x'), { tool: 'slow', input: { id: 'b' } }), agents: ['first'], tools: ['slow'] },
        first: { tools: ['careful'], script: calls({ tool: 'careful' }) },
        other: { tools: ['slow'], script: calls({ tool: 'slow', input: { id: 'a' } }) },
      },
      { tools: [asks, slow], approver: { decide: () => 'suspend' }, config: { queues: { slow: one } } },
    )
    const other = runtime.run('Go', { agent: 'other' })
    while (entered.length === 0) await settled()
    let isOver = false
    const suspending = runtime.run('Go').finally(() => {
      isOver = true
    })
    for (let i = 0; i < 50; i++) await settled()
    expect(isOver).toBe(false)
    await open('a')
    expect(entered).toEqual(['a', 'b'])
    await open('b')
    expect((await suspending).status).toBe('suspended')
    await other
  })

  it('cannot be locked by two trees that take two queues the other way round', async () => {
    const nest = (outer: string, inner: string) => ({
      [`${outer}0`]: { script: calls({ tool: outer, input: { agent: `${outer}1` } }), agents: [`${outer}1`] },
      // An agent between them that is not capped.
      [`${outer}1`]: { script: calls(ask(`${outer}2`, 'go')), agents: [`${outer}2`] },
      [`${outer}2`]: { script: calls({ tool: inner, input: { agent: 'last' } }), agents: ['last'] },
    })
    const members = { ...nest('left', 'right'), ...nest('right', 'left'), last: { script: () => ({ text: 'deep' }) } }
    const { runtime } = team(Object.fromEntries(Object.entries(members).map(([name, member]) => [name, { ...member, tools: ['*'] }])), {
      tools: [starting('left'), starting('right')],
      config: { queues: { left: one, right: one } },
    })
    const outcomes = await Promise.all(['left0', 'right0'].map((agent) => runtime.run('Go', { agent })))
    expect(outcomes.map(({ report }) => report?.text)).toEqual(['deep', 'deep'])
  })

  it('cannot deadlock if calls have the names of providers', async () => {
    const model = (id: string, script: Script) => ({ ...scripted(id, script), id })
    const models = new Map([
      ['root-a', model('free/m', calls({ tool: 'a', input: { agent: 'under-a' } }))],
      ['root-b', model('free/m', calls({ tool: 'b', input: { agent: 'under-b' } }))],
      ['under-a', model('b/m', () => ({ text: 'done' }))],
      ['under-b', model('a/m', () => ({ text: 'done' }))],
    ])
    const agents = [...models.keys()].map((name) => ({
      name,
      description: name,
      prompt: name,
      model: name,
      agents: name.startsWith('root') ? [name.replace('root', 'under')] : [],
    }))
    const runtime = createAgentRuntime({
      config: { agents, tools: [starting('a'), starting('b')], queues: { a: one, b: one } },
      adapter: { resolve: (name) => models.get(name) as NonNullable<ReturnType<typeof models.get>> },
    })
    const outcomes = await Promise.all(['root-a', 'root-b'].map((agent) => runtime.run('Go', { agent })))
    expect(outcomes.map(({ report }) => report?.text)).toEqual(['done', 'done'])
  })
})

describe('problems of queues', () => {
  const make = (queues: unknown) => () => team({ boss: { script: () => ({ text: 'x' }) } }, { config: { queues: queues as Queues } })
  it('are reported together, with the place and the nearest key', () => {
    const wrong = { a: { concurent: 1 }, b: { concurrent: 0, perMinute: 1.5 }, c: {}, d: 8, e: null, f: { perMinute: '3' } }
    for (const text of [
      'config.queues.a.concurent: unknown key. Did you mean "concurrent"?',
      'config.queues.b.concurrent: expected an integer of at least 1, found 0',
      'config.queues.b.perMinute: expected an integer of at least 1, found 1.5',
      'config.queues.c: it sets no limit. Set concurrent or perMinute, or remove the queue.',
      'config.queues.d: expected an object, found a value of type number',
      'config.queues.e: expected an object, found a value of type null',
      'config.queues.f.perMinute: expected an integer of at least 1, found "3"',
    ])
      expect(make(wrong)).toThrow(text)
    expect(make([])).toThrow('config.queues: expected an object')
    expect(make({})).not.toThrow()
  })
})
