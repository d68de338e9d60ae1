import { describe, expect, it } from 'vitest'
import type { ApprovalDecision, Approver, InteractionEvent, Outcome, Store, Tool, TurnOperation } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { type AgentNode, childrenOf, failedInside, runSummary, runTree, turnTimes } from '../../src/view/index.ts'
import { storeOf } from '../runtime/journals.ts'
import { settle } from '../settle.ts'
import { ask, type Member, resultsOf, type Said, type Script, send, team } from './team.ts'

// Work and waiting time of turns and their children: as the outcome says it, and as it is told from the events alone.

const hour = 3_600_000
const yes: ApprovalDecision = { kind: 'approve', breadth: 'once' }

/** The steps of an agent; the last one answers. */
const says = (...steps: readonly NonNullable<Said['calls']>[]): Script => {
  return (request, step) => {
    const calls = steps[step - 1]
    return calls ? { calls } : { text: resultsOf(request).join() }
  }
}
const work = (ms: number) => ({ tool: 'works', input: { ms } })
const sends = { tool: 'send' }
const tools = ['send', 'works']
const clerk: Member = { tools, script: says([sends], [work(300)]) }
const scout: Member = { tools, script: says([work(2_000)]) }

type Members = { readonly [name: string]: Member }

/** A person who answers after so many milliseconds, or only when the run is suspended. */
function scene(members: Members, answersAfter: number | 'suspended', { store = memoryStore() as Store, clock = new FakeClock() } = {}) {
  const works: Tool = {
    name: 'works',
    description: 'Works for a while.',
    inputSchema: { type: 'object' },
    concurrency: 'shared',
    effect: 'idempotent',
    execute: ({ ms }) => new Promise<string>((resolve) => clock.after(Number(ms), () => resolve('worked'))),
  }
  const approver: Approver = {
    decide: () =>
      answersAfter === 'suspended'
        ? 'suspend'
        : new Promise((resolve) => clock.after(answersAfter, () => resolve({ decision: yes, by: 'anna' }))),
  }
  return { clock, store, ...team(members, { tools: [send, works], clock, approver, store }) }
}

/** Runs to the end. A suspended run is answered an hour later. */
async function ended(members: Members, answersAfter: number | 'suspended') {
  const { clock, store, runtime } = scene(members, answersAfter)
  let outcome = await settle(runtime.run('Go'), clock, 100)
  if (outcome.status === 'suspended') {
    clock.advance(hour)
    const [request] = await runtime.sessions.requests(outcome.sessionId)
    await runtime.sessions.approve(outcome.sessionId, { approvalId: request!.id, decision: yes })
    outcome = await settle(runtime.sessions.outcome(outcome.sessionId), clock, 100)
  }
  return { outcome, events: await store.journal.read(outcome.sessionId, 0) }
}

type Figures = { readonly [agentPath: string]: readonly [durationMs: number, waitedMs: number] }

function inOutcome({ operations }: Outcome): Figures {
  const all = ({ agentPath, durationMs, waitedMs, steps }: TurnOperation): readonly [string, readonly [number, number]][] => [
    [agentPath, [durationMs, waitedMs]],
    ...steps.flatMap(({ calls }) => calls.flatMap(({ child }) => (child ? all(child) : []))),
  ]
  return Object.fromEntries(operations ? all(operations) : [])
}

/** The figures of a journal as older versions wrote it, which does not say how long turns waited. */
function inJournal(events: readonly InteractionEvent[], now?: number): Figures {
  const old = events.map((event): InteractionEvent => {
    if (!('totals' in event)) return event
    const { waitedMs: _, ...totals } = event.totals
    return { ...event, totals }
  })
  const all = ({ path, turns }: AgentNode): readonly [string, readonly [number, number]][] => [
    ...turns.map((turn): [string, readonly [number, number]] => {
      const { durationMs, waitedMs } = turnTimes(turn, now)
      return [path, [durationMs, waitedMs]]
    }),
    ...turns.flatMap(({ steps }) => steps.flatMap(({ calls }) => calls.flatMap(childrenOf).flatMap(all))),
  ]
  return Object.fromEntries(runTree(old).roots.flatMap(all))
}

const spawns = says(
  [{ tool: 'spawn_agent', input: { agent: 'clerk', prompt: 'b' } }],
  [{ tool: 'wait_for_agent', input: { ids: ['clerk#1'] } }],
)
const spawning: Members = { boss: { agents: ['clerk'], childControl: true, script: spawns }, clerk }
const parallel: Members = { boss: { agents: ['clerk', 'scout'], script: says([ask('clerk', 'b'), ask('scout', 'c')]) }, clerk, scout }

describe('times of a turn', () => {
  it.each<[string, Members, number | 'suspended', Figures]>([
    ['that waits for an approval', { boss: { tools, script: says([sends], [work(1_000)]) } }, 5_000, { root: [6_000, 5_000] }],
    ['that is suspended', { boss: { tools, script: says([sends], [work(1_000)]) } }, 'suspended', { root: [hour + 1_000, hour] }],
    [
      'whose only child waits',
      { boss: { agents: ['clerk'], script: says([ask('clerk', 'b')]) }, clerk },
      5_000,
      { root: [5_300, 5_000], 'root/clerk#1': [5_300, 5_000] },
    ],
    [
      'of which one child waits: while another works, its time goes on; after that it waits, too',
      parallel,
      5_000,
      { root: [5_300, 3_000], 'root/clerk#1': [5_300, 5_000], 'root/scout#1': [2_000, 0] },
    ],
    [
      'that is suspended once its other child has ended',
      parallel,
      'suspended',
      { root: [hour + 2_300, hour], 'root/clerk#1': [hour + 2_300, hour + 2_000], 'root/scout#1': [2_000, 0] },
    ],
    [
      'that is suspended with its only child',
      { boss: { agents: ['clerk'], script: says([ask('clerk', 'b')]) }, clerk },
      'suspended',
      { root: [hour + 300, hour], 'root/clerk#1': [hour + 300, hour] },
    ],
    ['that waits for a spawned child', spawning, 5_000, { root: [5_300, 5_000], 'root/clerk#1': [5_300, 5_000] }],
    [
      'that waits for a spawned child, which asks an agent with other tools afterwards',
      {
        boss: { agents: ['clerk'], childControl: true, script: spawns },
        clerk: { agents: ['helper'], tools, script: says([sends], [ask('helper', 'c')]) },
        helper: { tools: ['works'], script: says([work(300)]) },
      },
      5_000,
      { root: [5_300, 5_000], 'root/clerk#1': [5_300, 5_000], 'root/clerk#1/helper#1': [300, 0] },
    ],
    ['that is suspended with a spawned child', spawning, 'suspended', { root: [hour + 300, hour], 'root/clerk#1': [hour + 300, hour] }],
  ])('%s', async (...[, members, answersAfter, expected]) => {
    const { outcome, events } = await ended(members, answersAfter)
    expect(outcome.status).toBe('completed')
    expect(inOutcome(outcome)).toEqual(expected)
    expect(inJournal(events)).toEqual(expected)
    const summary = runSummary(outcome)
    expect([summary?.latencyMs, summary?.waitedMs]).toEqual(expected.root)
  })

  it('that a process left in mid work and another one resumed an hour later', async () => {
    const members = { boss: { tools, script: says([work(1_000)], [work(500)]) } }
    const { events } = await ended(members, 0)
    // The process died when the second call had begun.
    const died = events.findLastIndex(({ type }) => type === 'interaction.item.started') + 1
    const clock = new FakeClock(events[died - 1]!.at + hour)
    const store = await storeOf(events.slice(0, died))
    const { runtime } = scene(members, 0, { store, clock })
    const handle = await runtime.open(events[0]!.treeId)
    const outcome = await settle(handle.outcome, clock, 100)
    const expected = { root: [hour + 1_500, hour] }
    expect(inOutcome(outcome)).toEqual(expected)
    expect(inJournal(await store.journal.read(outcome.sessionId, 0))).toEqual(expected)
  })

  it('whose process died three times while its children worked: their work is no wait of it', async () => {
    const clerkWorks: Member = { tools, script: says([work(1_000)], [work(900)], [work(1_100)]) }
    const members: Members = { ...parallel, clerk: clerkWorks, scout }
    let { outcome, events } = await ended(members, 0)
    expect(inOutcome(outcome).root).toEqual([3_000, 0])
    const { treeId } = events[0]!
    for (const call of [0, 1, 2]) {
      const calls = events.filter((event) => event.type === 'interaction.item.started' && event.agentPath === 'root/clerk#1')
      const died = events.indexOf(calls.filter((event) => 'item' in event && event.item.kind === 'call')[call]!) + 1
      const clock = new FakeClock(events[died - 1]!.at + hour)
      const store = await storeOf(events.slice(0, died))
      const handle = await scene(members, 0, { store, clock }).runtime.open(treeId)
      outcome = await settle(handle.outcome, clock, 100)
      events = await store.journal.read(treeId, 0)
    }
    // The call of the scout began again each time, the last time after 1,900 ms.
    expect(inOutcome(outcome)).toEqual({
      root: [3 * hour + 3_900, 3 * hour],
      'root/clerk#1': [3 * hour + 3_000, 3 * hour],
      'root/scout#1': [3 * hour + 3_900, 3 * hour],
    })
    expect(inJournal(events)).toEqual(inOutcome(outcome))
  })

  it('while it waits: waiting grows, and work does not', async () => {
    const { clock, store, runtime } = scene({ boss: { agents: ['clerk'], script: says([ask('clerk', 'b')]) }, clerk }, hour)
    const handle = runtime.stream('Go')
    for await (const event of handle) if (event.type === 'interaction.approval.requested') break
    const events = await store.journal.read(handle.sessionId, 0)
    const at = clock.now()
    for (const ms of [0, 1_000, 60_000]) expect(inJournal(events, at + ms)).toEqual({ root: [ms, ms], 'root/clerk#1': [ms, ms] })
    await handle.interrupt()
    await settle(handle.outcome, clock)
  })
})

describe('a child', () => {
  it('has its task, its answer, and how many calls failed inside, at any depth', async () => {
    const missing = { tool: 'missing' }
    const { events } = await ended(
      {
        boss: { agents: ['lead', 'scout'], script: says([ask('lead', 'Find trains\nto Oslo'), ask('scout', 'Rest')]) },
        lead: { agents: ['scout'], script: says([missing], [ask('scout', 'Look at trains')]) },
        scout: { script: says([missing, missing]) },
      },
      0,
    )
    const calls = runTree(events).roots.flatMap(({ turns }) => turns.flatMap(({ steps }) => steps.flatMap((step) => step.calls)))
    expect(calls.map((call) => [call.name, call.status, call.child?.task, failedInside(call)])).toEqual([
      ['lead', 'completed', 'Find trains\nto Oslo', 3],
      ['scout', 'completed', 'Rest', 2],
    ])
    expect(calls[0]?.child?.turns[0]?.report?.text).toBe(resultOf(events, calls[0]!.child!.id))
  })

  it('that failed is one failure of its parent, whether it was called or spawned', async () => {
    const fails: Member = { script: () => ({ fails: 'auth' }) }
    const inside = async (lead: Member): Promise<unknown> => {
      const { events } = await ended(
        { boss: { agents: ['lead'], script: says([ask('lead', 'Go')]) }, lead: { agents: ['clerk'], ...lead }, clerk: fails },
        0,
      )
      const [call] = runTree(events).roots[0]?.turns[0]?.steps[0]?.calls ?? []
      return call && [call.status, failedInside(call)]
    }
    expect(await inside({ script: says([ask('clerk', 'b')]) })).toEqual(['completed', 1])
    expect(await inside({ childControl: true, script: spawns })).toEqual(['completed', 1])
  })
})

function resultOf(events: readonly InteractionEvent[], sessionId: string): string | undefined {
  const end = events.find((event) => event.type === 'interaction.turn.completed' && event.sessionId === sessionId)
  return end?.type === 'interaction.turn.completed' ? end.report.text : undefined
}
