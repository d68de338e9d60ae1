import { setImmediate as macrotask } from 'node:timers/promises'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { InteractionEvent, Model, ModelRequest, SessionId } from '../../src/contracts/index.ts'
import { type AgentDefinition, type AgentLoopConfig, createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, sequentialIds } from '../../src/testing/index.ts'
import { overspent } from './overspent.ts'
import { ask } from './team.ts'

// Children that share a budget: what one holds and gives back, another can use.

/** What an agent does: a reply of so many tokens at each step, the calls of its children in the first one, an answer in the last. */
interface Plan {
  readonly replies: readonly number[]
  readonly children: readonly Plan[]
}

interface Stage {
  readonly limits?: { readonly [agent: string]: AgentDefinition['limits'] }
  /** How many work at once; one after the other where it is 1. */
  readonly atOnce: number
  /** Waits before a reply. */
  readonly before?: () => Promise<unknown>
  /** The model produces what it wants, whatever it is given. */
  readonly ignoresCap?: boolean
  /** Parents spawn their children, and work beside them. */
  readonly spawns?: boolean
  readonly config?: Partial<AgentLoopConfig>
}

const pieceTokens = 50
/** An estimated usage is rounded up: the input, and the output. */
const rounding = 2
const idle = { name: 'idle', description: 'Does nothing.', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'ok' } as const

const charsOf = (request: ModelRequest): number =>
  JSON.stringify([request.system, request.tools, request.messages.map((message) => ('parts' in message ? message.parts : message.results))])
    .length

/** A model that keeps to the cap that it is given, unless it ignores it. Usage is what it reports. */
const spawn = (agent: string) => ({ tool: 'spawn_agent', input: { agent, prompt: 'For step 0' } })

function modelOf(plan: Plan, children: readonly string[], { before, ignoresCap = false, spawns = false }: Stage): Model {
  return {
    id: 'planned/model',
    abilities: ['tools'],
    costOf: () => 0,
    async *stream(request) {
      await before?.()
      const step = request.messages.filter(({ role }) => role === 'assistant').length
      const wanted = plan.replies[Math.min(step, plan.replies.length - 1)] ?? 1
      const cap = request.parameters.maxOutputTokens ?? Number.POSITIVE_INFINITY
      const output = ignoresCap ? wanted : Math.min(wanted, cap)
      // A few long pieces, so that large replies cost little; short ones where the stream is to be stopped in time.
      const piece = ignoresCap ? pieceTokens : output
      for (let told = 0; told < output; told += piece) yield { type: 'text', text: 'word'.repeat(Math.min(piece, output - told)) }
      const usage = { input: Math.ceil(charsOf(request) / 8), output, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
      const isOver = step >= plan.replies.length - 1 || request.toolChoice === 'none' || output < wanted
      if (isOver) return yield { type: 'finish', reason: output < wanted ? 'length' : 'stop', usage }
      const calls =
        step === 0 && children.length > 0
          ? children.map((child) => (spawns ? spawn(child) : ask(child, `For step ${step}`)))
          : [{ tool: 'idle', input: { step } }]
      for (const [i, { tool, input }] of calls.entries())
        yield { type: 'call', id: `c${step}.${i}`, name: tool, input: JSON.stringify({ reason: 'because', ...input }) }
      yield { type: 'finish', reason: 'tool-calls', usage }
    },
  }
}

function stageOf(root: Plan, stage: Stage) {
  const agents: AgentDefinition[] = []
  const models = new Map<string, Model>()
  const add = (plan: Plan, name: string): void => {
    const children = plan.children.map((_, i) => `${name}${i}`)
    const { atOnce, limits = {} } = stage
    // Children have a limit where they state none: here it is in nobody's way unless a test says so.
    const most = { maxTokens: 10_000_000, timeBudget: 3_600_000_000, maxToolTurns: 20, maxRetries: 0, maxDepth: 9, maxChildren: 99 }
    agents.push({
      name,
      description: `The agent ${name}`,
      prompt: `You are ${name}.`,
      model: name,
      tools: ['idle'],
      agents: children,
      ...(stage.spawns && { childControl: true }),
      limits: { ...most, parallelChildren: atOnce, parallelToolCalls: atOnce, maxOutputBytes: 1_000, ...limits[name] },
    })
    models.set(name, modelOf(plan, children, stage))
    for (const [i, child] of plan.children.entries()) add(child, `${name}${i}`)
  }
  add(root, 'a')
  const clock = new FakeClock()
  const runtime = createAgentRuntime({
    config: { agents, agentSelection: { agent: 'a' }, tools: [idle], ...stage.config },
    adapter: { resolve: (name) => models.get(name) ?? modelOf(root, [], stage) },
    store: memoryStore(),
    ids: sequentialIds(),
    clock,
  })
  return { runtime, clock }
}

async function play(root: Plan, stage: Stage, { s }: { readonly s?: fc.Scheduler } = {}) {
  const { runtime } = stageOf(root, { ...stage, ...(s && { before: () => s.schedule(Promise.resolve()) }) })
  const events: InteractionEvent[] = []
  let waits = 0
  const handle = runtime.stream('Go')
  const read = (async () => {
    for await (const event of handle) {
      if ('seq' in event) events.push(event)
      else if (event.type === 'interaction.queue.joined') waits++
    }
    return handle.outcome
  })()
  const outcome = await (s ? s.waitFor(read) : read)
  return { outcome, events, waits, endings: endingsOf(events) }
}

/** How each agent ended; it is called once. */
function endingsOf(events: readonly InteractionEvent[]): { readonly [agentPath: string]: string } {
  const ends = events.flatMap((event) => {
    if (event.type !== 'interaction.turn.completed' && event.type !== 'interaction.turn.failed') return []
    const { ending } = event
    return [[event.agentPath, ending.status === 'completed' ? 'completed' : `${ending.status} ${ending.reason}`] as const]
  })
  return Object.fromEntries(ends.toSorted(([a], [b]) => a.localeCompare(b)))
}

/** Everything that can happen without time has happened. */
async function quiet(): Promise<void> {
  for (let i = 0; i < 50; i++) await macrotask()
}

const leaf = (...replies: number[]): Plan => ({ replies, children: [] })

// Modules that are loaded when they are first needed are loaded now: `quiet` is too short for that.
beforeAll(async () => {
  await play({ replies: [1, 1], children: [leaf(1)] }, { atOnce: 1 })
})

it('a text may use all but the reserve for a last answer, also where the agent has tools', async () => {
  const { outcome } = await play({ replies: [45_000], children: [] }, { atOnce: 1, limits: { a: { maxTokens: 50_000 } } })
  expect([outcome.status, outcome.usage.output]).toEqual(['partial', 32_000])
  const whole = await play({ replies: [30_000], children: [] }, { atOnce: 1, limits: { a: { maxTokens: 50_000 } } })
  expect([whole.outcome.status, whole.outcome.usage.output]).toEqual(['completed', 30_000])
})

describe('a reply', () => {
  it('may be as long as the model can make it and the budget affords, also of a child that states no limit', async () => {
    const long = leaf(20_000)
    const caps: (number | undefined)[] = []
    const model = (plan: Plan, children: readonly string[]): Model => {
      const inner = modelOf(plan, children, { atOnce: 1 })
      return {
        ...inner,
        stream: (request, context) => {
          caps.push(request.parameters.maxOutputTokens)
          return inner.stream(request, context)
        },
      }
    }
    const models: { readonly [name: string]: Model } = { a: model({ replies: [10, 20_000], children: [long] }, ['b']), b: model(long, []) }
    const runtime = createAgentRuntime({
      config: {
        agents: [
          { name: 'a', description: 'Leads', prompt: 'Lead.', model: 'a', agents: ['b'] },
          { name: 'b', description: 'Writes', prompt: 'Write.', model: 'b' },
        ],
        agentSelection: { agent: 'a' },
      },
      adapter: { resolve: (name) => models[name] as Model },
    })
    const outcome = await runtime.run('Go')
    expect([outcome.status, outcome.report?.text.length, outcome.diagnostics]).toEqual(['completed', 80_000, []])
    // Where nothing is limited no cap is sent.
    expect(caps).toEqual([undefined, 32_000, undefined])
  })

  it.each<[string, Partial<Model>, number]>([
    ['its known maximum', { maxOutputTokens: 50_000 }, 50_000],
    ['what its window leaves', { contextTokens: 12_000 }, 11_990],
  ])('of a model that is limited may take %s', async (_, facts, most) => {
    const caps: number[] = []
    const inner = modelOf(leaf(10), [], { atOnce: 1 })
    const adapter: Model = {
      ...inner,
      ...facts,
      stream: (request, context) => {
        caps.push(request.parameters.maxOutputTokens ?? 0)
        return inner.stream(request, context)
      },
    }
    const agent = { name: 'a', description: 'd', prompt: 'Write.', model: 'm', limits: { maxTokens: 1_000_000 } }
    expect((await createAgentRuntime({ config: { agents: [agent] }, adapter }).run('Go')).status).toBe('completed')
    expect(caps[0]).toBeGreaterThan(most - 100)
    expect(caps[0]).toBeLessThanOrEqual(most)
  })
})

it('a reply with calls that leaves no last answer ends the turn with the budget as the reason', async () => {
  const root: Plan = { replies: [3_435, 1], children: [leaf(1), leaf(1), leaf(1), leaf(1)] }
  const { outcome } = await play(root, { atOnce: 9, limits: { a: { maxTokens: 7_242, maxToolTurns: 1 } } })
  expect([outcome.status, outcome.reason]).toEqual(['failed', 'tokens'])
})

describe('parallel children under one budget', () => {
  const ten: Plan = { replies: [200, 300], children: Array.from({ length: 10 }, (_, i) => leaf(3_000 + 100 * i)) }

  it('all complete where it suffices for all of them, in flight at once or not', async () => {
    const limits = { a: { maxTokens: 47_000 } }
    const { outcome, events, endings } = await play(ten, { limits, atOnce: 10 })
    expect(new Set(Object.values(endings))).toEqual(new Set(['completed']))
    expect(Object.keys(endings)).toHaveLength(11)
    expect(outcome.usage.input + outcome.usage.output).toBeLessThanOrEqual(47_000)
    expect(overspent(events)).toEqual([])
  })

  it('wait for each other visibly, and hold no slot of a queue meanwhile', async () => {
    const gates = [gate(), gate()]
    let asked = 0
    const pair: Plan = { replies: [200, 300], children: [leaf(6_000), leaf(6_000)] }
    const queues = { planned: { concurrent: 2 } }
    const before = () => gates[asked++ - 1]?.promise ?? Promise.resolve()
    const { runtime } = stageOf(pair, { limits: { a: { maxTokens: 20_000 } }, atOnce: 2, before, config: { queues } })
    const lines: string[] = []
    const handle = runtime.stream('Go')
    const read = (async () => {
      for await (const event of handle) if ('queue' in event) lines.push(`${event.agentPath} ${event.type} ${event.queue}`)
    })()
    await quiet()
    expect([asked, lines]).toEqual([2, ['root/a1#1 interaction.queue.joined budget']])
    gates[0]?.open()
    await quiet()
    expect([asked, lines.length]).toEqual([3, 2])
    gates[1]?.open()
    await read
    expect(await handle.outcome).toMatchObject({ status: 'completed' })
    expect(lines[1]).toBe('root/a1#1 interaction.queue.left budget')
  })

  it('end their wait when the turn is interrupted, and when their time is over', async () => {
    const pair: Plan = { replies: [200, 300], children: [leaf(6_000), leaf(6_000)] }
    const never = () => new Promise(() => {})
    for (const how of ['interrupt', 'time'] as const) {
      let asked = 0
      const before = () => (asked++ === 0 ? Promise.resolve() : never())
      const limits = { a: { maxTokens: 20_000 }, a1: { maxTokens: 50_000, timeBudget: 10_000 } }
      const { runtime, clock } = stageOf(pair, { limits, atOnce: 2, before })
      const handle = runtime.stream('Go')
      const events: InteractionEvent[] = []
      const read = (async () => {
        for await (const event of handle) if ('seq' in event) events.push(event)
      })()
      await quiet()
      if (how === 'time') for (let i = 0; i < 12; i++) await clock.elapse(1_000)
      if (how === 'time') expect(endingsOf(events)).toEqual({ 'root/a1#1': 'failed time' })
      await handle.interrupt()
      for (let i = 0; i < 20; i++) await clock.elapse(1_000)
      await read
      expect((await handle.outcome).status).toBe('interrupted')
      // The parent and the first child; the second one waits, and asks for its last answer when its time is nearly over.
      expect(asked).toBe(how === 'time' ? 3 : 2)
    }
  })
})

const plan: fc.Memo<Plan> = fc.memo((depth) =>
  fc.record({
    // Up to what is granted to each before anybody is cut short. Children are called before the last one.
    replies: fc.array(fc.integer({ min: 1, max: 8_000 }), { minLength: depth <= 1 ? 1 : 2, maxLength: 3, size: 'max' }),
    children: depth <= 1 ? fc.constant([]) : fc.array(plan(depth - 1), { maxLength: 5, size: 'max' }),
  }),
)

/** Everything that each session and those below it took, and what its largest requests needed. */
function needsOf(events: readonly InteractionEvent[]) {
  const parents = new Map<SessionId, SessionId | undefined>()
  const names = new Map<SessionId, string>()
  const needs = new Map<string, { taken: number; request: number; reading: number }>()
  const reserved = new Map<SessionId, number>()
  for (const event of events) {
    const { sessionId } = event
    if (event.type === 'interaction.session.created') {
      parents.set(sessionId, event.parent?.sessionId)
      names.set(sessionId, event.agent.name)
      needs.set(event.agent.name, { taken: 0, request: 0, reading: 0 })
    }
    if (event.type === 'interaction.step.started') reserved.set(sessionId, event.reservation.input)
    if (event.type !== 'interaction.step.completed') continue
    const input = reserved.get(sessionId) ?? 0
    for (let at: SessionId | undefined = sessionId; at !== undefined; at = parents.get(at)) {
      const need = needs.get(names.get(at) ?? '')
      if (!need) continue
      need.taken += event.usage.input + event.usage.output
      need.request = Math.max(need.request, 2 * (input + event.usage.output) + 1_024)
      if (at === sessionId) need.reading = Math.max(need.reading, input)
    }
  }
  return needs
}

const runs = process.env.TROUPE_FULL ? 300 : 50

describe('random trees', { timeout: 600_000 }, () => {
  it('complete the same children one after the other and at once, where each budget suffices', async () => {
    const seen = { atOnce: 0, waits: 0 }
    const one = fc.record({
      root: plan(3),
      scarce: fc.integer({ min: 0, max: 2_000 }),
      every: fc.integer({ min: 1, max: 3 }),
      s: fc.scheduler(),
    })
    await fc.assert(
      fc.asyncProperty(one, async ({ root, scarce, every, s }) => {
        const free = await play(root, { atOnce: 1 })
        const limits = Object.fromEntries(
          [...needsOf(free.events)].flatMap(([name, { taken, request, reading }], i) =>
            i % every === 0 ? [[name, { maxTokens: taken + request + reading + 1_024 + scarce }] as const] : [],
          ),
        )
        const serial = await play(root, { limits, atOnce: 1 })
        const parallel = await play(root, { limits, atOnce: 9 }, { s })
        expect(new Set(Object.values(free.endings))).toEqual(new Set(['completed']))
        expect(serial.endings).toEqual(free.endings)
        expect(parallel.endings).toEqual(free.endings)
        expect(overspent(parallel.events)).toEqual([])
        seen.atOnce += mostAtOnce(parallel.events) > 1 ? 1 : 0
        seen.waits += parallel.waits
      }),
      { numRuns: runs },
    )
    expect(seen.atOnce, 'some work at once').toBeGreaterThan(runs / 10)
    expect(seen.waits, 'some have to wait').toBeGreaterThan(runs / 10)
  })

  const tight = fc.dictionary(
    fc.constantFrom('a', 'a0', 'a1', 'a2', 'a00', 'a01', 'a10', 'a11', 'a000', 'a100'),
    fc.record({ maxTokens: fc.integer({ min: 100, max: 40_000 }), maxToolTurns: fc.integer({ min: 1, max: 3 }) }),
    { minKeys: 1, maxKeys: 5 },
  )
  it('end, and never take more than any limit', async () => {
    await fc.assert(
      fc.asyncProperty(plan(4), tight, fc.scheduler(), async (root, limits, s) => {
        const { outcome, events } = await play(root, { limits, atOnce: 9 }, { s })
        expect(['completed', 'partial', 'failed']).toContain(outcome.status)
        expect(['config', 'internal', 'model']).not.toContain(outcome.reason)
        expect(overspent(events)).toEqual([])
      }),
      { numRuns: runs },
    )
  })

  it('of spawned children, beside which their parents work, end too, and never take more than any limit', async () => {
    const seen = { atOnce: 0 }
    await fc.assert(
      fc.asyncProperty(plan(3), tight, fc.scheduler(), async (root, limits, s) => {
        const { outcome, events } = await play(root, { limits, atOnce: 9, spawns: true }, { s })
        expect(['completed', 'partial', 'failed']).toContain(outcome.status)
        expect(['config', 'internal', 'model']).not.toContain(outcome.reason)
        expect(overspent(events)).toEqual([])
        seen.atOnce += mostAtOnce(events) > 1 ? 1 : 0
      }),
      { numRuns: runs },
    )
    expect(seen.atOnce, 'some work at once').toBeGreaterThan(runs / 10)
  })

  it('go beyond a limit by a quarter and 200 tokens of each reply at most, where a model ignores its cap', async () => {
    await fc.assert(
      fc.asyncProperty(plan(3), tight, fc.scheduler(), async (root, limits, s) => {
        const { outcome, events } = await play(root, { limits, atOnce: 9, ignoresCap: true }, { s })
        const slack = events.reduce(
          (sum, event) =>
            event.type === 'interaction.step.started' ? sum + event.reservation.output * 0.25 + 200 + 2 * pieceTokens + rounding : sum,
          0,
        )
        const { maxTokens = Number.POSITIVE_INFINITY } = limits.a ?? {}
        expect(outcome.usage.input + outcome.usage.output).toBeLessThanOrEqual(maxTokens + slack)
      }),
      { numRuns: runs / 2 },
    )
  })
})

function mostAtOnce(events: readonly InteractionEvent[]): number {
  const open = new Set<SessionId>()
  let most = 0
  for (const { type, sessionId } of events) {
    if (type === 'interaction.step.started') open.add(sessionId)
    if (type === 'interaction.step.completed' || type === 'interaction.step.failed') open.delete(sessionId)
    most = Math.max(most, open.size)
  }
  return most
}
