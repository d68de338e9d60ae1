import { afterEach, describe, expect, it } from 'vitest'
import type { InteractionEvent, Store, Tool, TreeId, Usage } from '../../src/contracts/index.ts'
import { foldTree } from '../../src/runtime/journal/tree-state.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { ask, resultsOf, type Script, team } from './team.ts'

// A child that does not end in time is ended by its tree: what it took is counted, and nothing waits for it.

const unhandled: unknown[] = []
const note = (error: unknown) => unhandled.push(error)
process.on('unhandledRejection', note)
afterEach(() => expect(unhandled.splice(0)).toEqual([]))

const usage = { input: 100, output: 50 }
const entered = () => {
  const isIn = gate()
  const go = gate()
  /** Heeds nothing, and is given a minute to. */
  const slow: Tool = {
    name: 'slow',
    description: 'Takes its time.',
    inputSchema: { type: 'object' },
    graceMs: 60_000,
    timeoutMs: 600_000,
    async execute() {
      isIn.open()
      await go.promise
      return 'late'
    },
  }
  return { isIn, go, slow }
}
const own: Tool = {
  name: 'own',
  description: 'Has a second for a child.',
  inputSchema: { type: 'object' },
  timeoutMs: 1_000,
  repeatable: true,
  execute: async (_, { startChild, remaining }) => {
    const result = await startChild({ agent: 'kid', input: [{ type: 'text', text: 'Go' }] })
    return `${result.kind} with ${remaining.tokens} left`
  },
}
const kid: Script = (request, step) => (step === 1 ? { calls: [{ tool: 'slow' }], usage } : { text: resultsOf(request).join(), usage })
const quick: Script = () => ({ text: 'quick', usage })
const boss: Script = (request, step) => {
  if (step === 1) return { calls: [{ tool: 'own' }], usage }
  return step === 2 ? { calls: [ask('quick', 'Go')], usage } : { text: resultsOf(request).join(' | '), usage }
}
const members = {
  boss: { script: boss, agents: ['kid', 'quick'], tools: ['own'], limits: { parallelChildren: 1, maxTokens: 100_000 } },
  kid: { script: kid, tools: ['slow'] },
  quick: { script: quick },
}
const endings = (events: readonly InteractionEvent[]) =>
  events.filter(({ type }) => /turn\.(completed|failed|interrupted)$/.test(type)).map(({ agentPath, type }) => `${agentPath} ${type}`)

describe('a child that outlives its grace', () => {
  it('after a time limit is ended and counted, and queued calls continue', async () => {
    const clock = new FakeClock()
    const { slow, go } = entered()
    const { outcome, events } = await settle(team(members, { tools: [own, slow], clock }).run(), clock)
    expect(outcome).toMatchObject({
      status: 'completed',
      report: { text: expect.stringMatching(/^Error \(timeout\): "own" ran.* \| quick$/) },
    })
    // Nobody has waited for the minute that the tool of the child may take.
    expect(clock.monotonic()).toBeLessThan(10_000)
    // Three steps of the boss, one of each child.
    expect([outcome.usage.input, outcome.usage.output]).toEqual([500, 250])
    expect(outcome.accounting.map(({ agentPath, kind }) => `${agentPath} ${kind}`)).toEqual([
      'root model',
      'root/kid#1 model',
      'root/kid#1 call',
      'root call',
      'root model',
      'root/quick#1 model',
      'root call',
      'root model',
    ])
    expect(outcome.operations?.steps[0]?.calls[0]).toMatchObject({
      error: 'timeout',
      child: { status: 'interrupted', steps: [{ calls: [{ tool: 'slow', status: 'interrupted', error: 'cancelled' }] }] },
    })
    expect(endings(events)).toEqual([
      'root/kid#1 interaction.turn.interrupted',
      'root/quick#1 interaction.turn.completed',
      'root interaction.turn.completed',
    ])
    expect(events.find(({ type }) => type === 'interaction.subagent.failed')).toMatchObject({
      totals: { usage },
      failure: { class: 'cancelled' },
    })
    go.open()
  })

  it('after an interrupt is ended with everything below it, and writes nothing more', async () => {
    const clock = new FakeClock()
    const store = memoryStore()
    const { slow, go, isIn } = entered()
    const chain = {
      boss: { script: calling('lead'), agents: ['lead'] },
      lead: { script: calling('kid'), agents: ['kid'] },
      kid: { script: kid, tools: ['slow'] },
    }
    const { runtime } = team(chain, { tools: [slow], clock, store })
    const handle = runtime.stream('Go')
    await isIn.promise
    await handle.interrupt()
    const outcome = await settle(handle.outcome, clock)
    expect(outcome).toMatchObject({ status: 'interrupted', usage: { input: 300, output: 150 } })
    const journal = await store.journal.read(handle.sessionId, 0)
    expect(endings(journal)).toEqual([
      'root/lead#1/kid#1 interaction.turn.interrupted',
      'root/lead#1 interaction.turn.interrupted',
      'root interaction.turn.interrupted',
    ])
    expect(foldTree(journal).children.size).toBe(2)
    go.open()
    await settle(Promise.resolve(), clock, 100_000)
    expect(await store.journal.read(handle.sessionId, 0)).toHaveLength(journal.length)
    // The tree is sound: it goes on with the next turn.
    await handle.send('Again')
    const again = await settle(runtime.sessions.outcome(handle.sessionId), clock)
    expect(again).toMatchObject({ status: 'completed', turnId: 't2' })
  })

  it('counts against the budget of its parent', async () => {
    const clock = new FakeClock()
    const { slow, go } = entered()
    const dear: Script = (_, step) => (step === 1 ? { calls: [{ tool: 'slow' }], usage: { input: 9_000, output: 1_000 } } : { text: 'x' })
    const left: (number | undefined)[] = []
    const look: Tool = {
      name: 'look',
      description: 'Looks what is left.',
      inputSchema: { type: 'object' },
      execute: (_, { remaining }) => {
        left.push(remaining.tokens)
        return 'seen'
      },
    }
    const script: Script = (_, step) => {
      const calls = step === 1 ? [{ tool: 'look' }] : step === 2 ? [{ tool: 'own' }] : [{ tool: 'look', input: { again: true } }]
      return step <= 3 ? { calls, usage } : { text: 'Done.', usage }
    }
    const team3 = { boss: { ...members.boss, tools: ['own', 'look'], script }, kid: { ...members.kid, script: dear }, quick: members.quick }
    const { outcome } = await settle(team(team3, { tools: [own, slow, look], clock }).run(), clock)
    expect(outcome.status).toBe('completed')
    expect((left[0] ?? 0) - (left[1] ?? 0)).toBe(10_000 + 2 * 150)
    go.open()
  })
})

const calling =
  (child: string): Script =>
  (request, step) =>
    step === 1 ? { calls: [ask(child, 'Go')], usage } : { text: resultsOf(request).join(), usage }

/** What a reply that was lost is charged with. */
const usualReply = 4_096

describe('a child that was asking a model when its driver was lost', () => {
  it('is charged with its input and a usual reply if it is not resumed', async () => {
    const chain = { boss: { script: calling('kid'), agents: ['kid'] }, kid: { script: quick } }
    const { events, outcome } = await team(chain).run()
    const isAsking = (event: InteractionEvent) => event.type === 'interaction.step.started' && event.agentPath === 'root/kid#1'
    const asked = events.find(isAsking)
    if (asked?.type !== 'interaction.step.started') throw new Error('nothing was asked')
    const { input } = asked.reservation
    const output = usualReply
    const store = await storeWith(outcome.sessionId, events.slice(0, events.indexOf(asked) + 1))
    const beforeModel = (name: string) => (name === 'kid' ? Promise.reject(new Error('no model')) : undefined)
    const { runtime } = team(chain, { store, beforeModel })
    const again = await (await runtime.open(outcome.sessionId)).outcome
    expect(again).toMatchObject({ status: 'completed', report: { text: expect.stringMatching(/^Error \(config\)/) } })
    expect(again.usage).toMatchObject({ input: 200 + input, output: 100 + output, estimated: true })
    expect(again.accounting.find(({ agentPath }) => agentPath === 'root/kid#1')).toMatchObject({ status: 'failed', cost: 'unknown' })
  })
})

describe('an attempt that was lost', () => {
  const answers: Script = () => ({ text: 'Done.', usage: { input: 10, output: 5 } })
  const perToken = ({ input, output }: Pick<Usage, 'input' | 'output'>): number => (input + output) / 1e6

  it.each<[what: string, limits: object, price: typeof perToken]>([
    ['a model that costs nothing', {}, () => 0],
    ['a model whose price is known', {}, perToken],
    ['a model whose price is known, under a limit of money', { maxCostUsd: 1 }, perToken],
  ])('of %s costs its input and a usual reply, not all that was reserved', async (_, limits, price) => {
    const members = { boss: { script: answers, price, limits, free: false } }
    const { events, outcome } = await team(members).run()
    const asked = events.find((event) => event.type === 'interaction.step.started')
    if (asked?.type !== 'interaction.step.started') throw new Error('nothing was asked')
    const store = await storeWith(outcome.sessionId, events.slice(0, events.indexOf(asked) + 1))
    const handle = await team(members, { store }).runtime.open(outcome.sessionId)
    const { accounting, cost } = await handle.outcome
    const [lost] = accounting
    const { input } = asked.reservation
    const output = usualReply
    expect(asked.reservation.output).toBeGreaterThan(output)
    expect(lost).toMatchObject({ failure: { class: 'lost' } })
    expect(lost).toHaveProperty('usage', { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0, estimated: true })
    expect(lost).toHaveProperty('cost', expect.closeTo(price({ input, output }), 9))
    expect(cost).toBeCloseTo(price({ input, output }) + price({ input: 10, output: 5 }), 9)
  })
})

async function storeWith(treeId: TreeId, events: readonly InteractionEvent[]): Promise<Store> {
  const store = memoryStore()
  const claim = await store.journal.claim(treeId, 'dead' as never)
  if (!claim.ok) throw new Error('not claimed')
  const summary = { agent: 'boss', title: 'Go', status: 'running', openRequests: 0 } as const
  await store.journal.append({ treeId, expectedSeq: 0, epoch: claim.epoch, events, summary })
  await store.journal.release(treeId, claim.epoch)
  return store
}
