import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ApprovalDecision, InteractionEvent, JsonObject, Plan, PlanStep, Tool } from '../../src/contracts/index.ts'
import { decide } from '../../src/core/index.ts'
import { snapshotOf } from '../../src/runtime/journal/session-snapshot.ts'
import { gate } from '../../src/testing/index.ts'
import { elapsing, expectLegal, finish, journalOf, objectSchema, ofType, storeWith, tool, until, world } from '../acceptance/support.ts'
import { fold } from '../fixtures/fold-journal.ts'
import { restore } from '../restore-snapshot.ts'
import { settle } from '../settle.ts'
import { ask as askAgent, team } from '../subagents/team.ts'
import { play, stage } from './approval-stage.ts'

const step = (text: string, status: PlanStep['status'] = 'pending'): PlanStep => ({ step: text, status })
/** Puts the plan that the model gives it in place, whatever it is. */
const planner = (more: Partial<Tool> = {}): Tool =>
  tool('plan', {
    schema: objectSchema({ steps: {} }),
    effect: 'idempotent',
    execute: ({ steps, explanation }, { updatePlan }) => {
      updatePlan({ steps, explanation } as unknown as Plan)
      return 'planned'
    },
    ...more,
  })
/** Puts one plan in place, whatever the model says. */
const fixed =
  (given: unknown): Tool['execute'] =>
  (_, { updatePlan }) => {
    updatePlan(given as Plan)
    return 'planned'
  }
const plan = (...steps: readonly PlanStep[]) => ({ tool: 'plan', input: { steps } as unknown as JsonObject })
const tools = [planner(), tool('look')]

/** What people see of the plan. */
const shown = (events: readonly InteractionEvent[]) =>
  events.flatMap((event) => {
    if (event.type === 'interaction.item.started' && event.item.kind === 'plan') return [['started', event.item.plan.steps]]
    if (event.type === 'interaction.item.updated' && event.update.kind === 'plan') return [['updated', event.update.plan.steps]]
    if (event.type === 'interaction.item.completed' && event.item.kind === 'plan') return [[event.item.status, event.item.plan.steps]]
    return []
  })

describe('a plan', () => {
  it('is seen while the call that changes it runs', async () => {
    const ready = gate()
    const working = planner({
      async execute(_, { updatePlan }) {
        updatePlan({ steps: [step('a', 'in_progress')] })
        updatePlan({ steps: [step('a', 'completed')] })
        await ready.promise
        return 'done'
      },
    })
    const steps = [{ calls: [{ tool: 'plan', input: { steps: [] } }] }, { text: 'Done.' }]
    const handle = world({ steps, tools: [working] }).runtime.stream('Go.')
    const plans: unknown[] = []
    for await (const event of handle) {
      plans.push(...shown('seq' in event ? [event] : []))
      if (plans.length === 2) ready.open()
    }
    expect(plans.slice(0, 2)).toEqual([
      ['started', [step('a', 'in_progress')]],
      ['updated', [step('a', 'completed')]],
    ])
  })

  it('is one item of its turn: started, updated, ended with it', async () => {
    const [one, two, three] = [
      [step('a', 'in_progress'), step('b')],
      [step('a', 'completed'), step('b', 'in_progress')],
      [step('b', 'completed')],
    ]
    const { events, outcome } = await play([plan(...one), plan(...two), { tool: 'look' }, plan(...three)], { tools })
    expect(shown(events)).toEqual([
      ['started', one],
      ['updated', two],
      ['updated', three],
      ['completed', three],
    ])
    expect(new Set(events.filter(({ itemId }) => itemId?.endsWith('.plan')).map(({ itemId }) => itemId))).toEqual(new Set(['t1.plan']))
    expect(events.at(-3)).toMatchObject({ type: 'interaction.item.completed', itemId: 't1.plan' })
    expect(outcome.status).toBe('completed')
  })

  it('ends as its turn does: failed, interrupted, or with a partial answer', async () => {
    const failed = await play([plan(step('a'))], {
      tools,
      steps: [{ calls: [plan(step('a'))] }, { fault: { class: 'config', message: 'no' } }],
    })
    expect([failed.outcome.status, shown(failed.events).at(-1)?.[0]]).toEqual(['failed', 'failed'])
    const partial = await play([plan(step('a'))], {
      tools,
      steps: [{ calls: [plan(step('a'))] }, { calls: [plan(step('a'))] }, { text: 'x' }],
      limits: { maxToolTurns: 2 },
    })
    expect([partial.outcome.status, shown(partial.events).at(-1)?.[0]]).toEqual(['partial', 'completed'])
    const made = world({
      tools: [planner(), tool('hang', { execute: () => new Promise(() => {}) })],
      steps: [{ calls: [plan(step('a'))] }, { calls: [{ tool: 'hang' }] }],
    })
    const handle = made.runtime.stream('go')
    await until('it hangs', () => made.model.requests.length === 2)
    await handle.interrupt()
    for (let i = 0; i < 3; i++) await made.clock.elapse(1000)
    expect((await finish(handle)).status).toBe('interrupted')
    const events = await journalOf(made.store, handle.sessionId)
    expectLegal(events)
    expect(shown(events).map(([what]) => what)).toEqual(['started', 'interrupted'])
  })

  it('is a new one in a new turn', async () => {
    const made = stage({ tools, steps: [{ calls: [plan(step('a'))] }, { text: '1' }, { calls: [plan(step('b'))] }, { text: '2' }] })
    const { sessionId: treeId } = await made.runtime.run('go')
    await made.runtime.sessions.send(treeId, 'more')
    await until('two turns', async () => ofType(await journalOf(made.store, treeId), 'interaction.turn.completed').length === 2)
    const events = await journalOf(made.store, treeId)
    expectLegal(events)
    expect(shown(events).map(([what]) => what)).toEqual(['started', 'completed', 'started', 'completed'])
  })

  it('a child has its own', async () => {
    const { runtime } = team(
      {
        boss: {
          agents: ['clerk'],
          tools: ['plan'],
          script: (_, n) => ({ 1: { calls: [plan(step('boss'))] }, 2: { calls: [askAgent('clerk', 'x')] } })[n] ?? { text: 'Done.' },
        },
        clerk: { tools: ['plan'], script: (_, n) => (n === 1 ? { calls: [plan(step('clerk'))] } : { text: 'clerked' }) },
      },
      { tools: [planner()] },
    )
    const events: InteractionEvent[] = []
    for await (const event of runtime.stream('go')) if ('seq' in event) events.push(event)
    expect(shown(events.filter(({ agentPath }) => agentPath === 'root')).map(([what]) => what)).toEqual(['started', 'completed'])
    expect(shown(events.filter(({ agentPath }) => agentPath !== 'root')).map(([what]) => what)).toEqual(['started', 'completed'])
  })

  const wrong: { [what: string]: unknown } = {
    'two steps in progress': { steps: [step('a', 'in_progress'), step('b', 'in_progress')] },
    'a status that there is not': { steps: [step('a', 'done' as never)] },
    'a step without a text': { steps: [{ status: 'pending' }] },
    'steps that are no list': { steps: 'all of it' },
    'no steps at all': undefined,
    'a step that is nothing': { steps: [null] },
    'a step that cannot be read': {
      steps: [
        {
          get step() {
            throw new Error('no')
          },
          status: 'pending',
        },
      ],
    },
  }
  for (const [what, given] of Object.entries(wrong))
    it(`with ${what} costs the call, and leaves the plan as it was`, async () => {
      const strange = planner({ name: 'strange', execute: fixed(given) })
      const { told, events, outcome } = await play([plan(step('a')), { tool: 'strange' }], { tools: [planner(), strange] })
      expect(told.map(({ ok }) => ok)).toEqual([true, false])
      expect(shown(events)).toEqual([
        ['started', [step('a')]],
        ['completed', [step('a')]],
      ])
      expect(outcome.status).toBe('completed')
    })

  it('that changes while it is looked at is kept as it was looked at', async () => {
    let looks = 0
    const sly = {
      get status() {
        return looks++ === 0 ? 'pending' : 7n
      },
      step: 'a',
    }
    const { events, outcome } = await play([{ tool: 'plan' }], { tools: [planner({ execute: fixed({ steps: [sly] }) })] })
    expect([outcome.status, shown(events)[0]]).toEqual(['completed', ['started', [step('a')]]])
  })

  it('is kept with what belongs to it alone, and without secrets', async () => {
    const given = { steps: [{ ...step('use ghp_0123456789abcdef'), size: 7n }], explanation: 7, more: () => 1 } as unknown as Plan
    const strange = planner({ execute: fixed(given) })
    const { events } = await play([{ tool: 'plan' }], { tools: [strange], config: { overlay: { GITHUB_TOKEN: 'ghp_0123456789abcdef' } } })
    expect(ofType(events, 'interaction.item.started').find(({ item }) => item.kind === 'plan')?.item).toEqual({
      kind: 'plan',
      id: 't1.plan',
      type: 'todo_list',
      plan: { steps: [step('use [redacted:GITHUB_TOKEN]')] },
    })
  })

  it('does not change after the call that had it', async () => {
    let late: ((plan: Plan) => void) | undefined
    const sly = planner({
      execute: ({ steps }, { updatePlan }) => {
        updatePlan({ steps } as unknown as Plan)
        late = updatePlan
        return 'planned'
      },
    })
    const look = tool('look', {
      execute: () => {
        late?.({ steps: [step('late')] })
        return 'looked'
      },
    })
    const { events } = await play([plan(step('a')), { tool: 'look' }], { tools: [sly, look] })
    expect(shown(events).map(([what]) => what)).toEqual(['started', 'completed'])
    expect(() => late?.({ steps: [] })).not.toThrow()
  })

  it('continues after a crash, wherever it was: still one item', async () => {
    const calls = [plan(step('a', 'in_progress')), { tool: 'look' }, plan(step('a', 'completed'))]
    const whole = await play(calls, { tools })
    for (let length = 3; length < whole.events.length; length++) {
      const journal = whole.events.slice(0, length)
      const state = fold(journal)
      if (state.turn.kind !== 'open') continue
      const asked = state.history.toArray().filter(({ role }) => role === 'assistant').length
      const left = [...calls.map((call) => ({ calls: [call] })), { text: 'Done.' }].slice(asked)
      const made = stage({ tools, store: await storeWith(journal), steps: left })
      const handle = await made.runtime.open(whole.outcome.sessionId)
      const outcome = await elapsing(made.clock, handle.outcome)
      expect(outcome.status, `after ${length}`).toBe('completed')
      const events = await journalOf(made.store, outcome.sessionId)
      expectLegal(events)
      expect(
        shown(events).filter(([what]) => what === 'started'),
        `after ${length}`,
      ).toHaveLength(1)
      expect(shown(events).at(-1), `after ${length}`).toEqual(['completed', [step('a', 'completed')]])
    }
  })
})

// What must hold of every journal, with all that a turn may hold now: plans, questions, rules, ways out, repeated calls, hooks.

const names = ['plan', 'question', 'guarded', 'forbidden', 'blocked', 'look'] as const
const callArbitrary = fc.record({ tool: fc.constantFrom(...names), input: fc.record({ n: fc.nat({ max: 1 }) }) })
const decisions: readonly ApprovalDecision[] = [
  { kind: 'approve', breadth: 'session' },
  { kind: 'approve', breadth: 'project' },
  { kind: 'answer', text: 'blue' },
  { kind: 'deny', feedback: 'no' },
  { kind: 'abort' },
]
const every: readonly Tool[] = [
  tool('plan', {
    effect: 'idempotent',
    execute: ({ n }, { updatePlan }) => {
      updatePlan({ steps: [step('a', n === 0 ? 'pending' : 'completed')], explanation: `${n}` })
      return 'planned'
    },
  }),
  tool('question', { approval: () => ({ summary: '?', keys: [], question: { text: '?' } }), execute: (_, { answer }) => `${answer}` }),
  tool('guarded', {
    approval: ({ n }) => ({ summary: 's', keys: [{ key: `n:${n}`, label: 'n' }], wider: [{ key: 'n:', label: 'all', isPrefix: true }] }),
  }),
  tool('forbidden'),
  tool('blocked', {
    execute: (_, { confinement }) => (confinement.kind === 'none' ? 'out' : { ok: false, error: { class: 'sandbox', message: 'blocked' } }),
  }),
  tool('look'),
]
const scenario = fc.record({
  replies: fc.array(fc.array(callArbitrary, { minLength: 1, maxLength: 3 }), { maxLength: 6 }),
  seed: fc.nat({ max: decisions.length - 1 }),
  limits: fc.record({ maxToolTurns: fc.integer({ min: 2, max: 8 }) }),
})
const runs = process.env.TROUPE_FULL ? 400 : 60

describe('every journal with plans, questions, rules and ways out', () => {
  it('is legal, folds, snapshots byte for byte at each event, and decides alike', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(scenario, async ({ replies, seed, limits }) => {
        let n = seed
        const made = world({
          tools: every,
          limits,
          sandbox: { confinement: { kind: 'sandbox', name: 'box' } },
          hooks: [
            {
              name: 'h',
              onFailure: 'open',
              atStop: ({ resumed }) => (resumed === 0 && seed === 0 ? { kind: 'resume', reason: 'More' } : { kind: 'continue' }),
            },
          ],
          approver: {
            decide: ({ scope }) => ({ decision: scope === 'question' ? decisions[2]! : decisions[n++ % decisions.length]!, by: 'p' }),
          },
          config: { approvals: { rules: [{ deny: 'forbidden', reason: 'No' }] } },
          steps: [...replies.map((calls) => ({ calls })), ...Array.from({ length: 20 }, () => ({ text: 'The end.' }))],
        })
        const outcome = await settle(made.runtime.run('go'), made.clock)
        const events = await journalOf(made.store, outcome.sessionId)
        expectLegal(events)
        for (const event of events) seen.add('update' in event ? `${event.type} ${event.update.kind}` : event.type)
        for (let length = 1; length <= events.length; length++) {
          const state = fold(events.slice(0, length))
          const bytes = JSON.stringify(snapshotOf(state))
          const again = restore(JSON.parse(bytes))
          expect(JSON.stringify(snapshotOf(again))).toBe(bytes)
          expect(decide(again)).toEqual(decide(state))
        }
        expect(JSON.stringify(snapshotOf(fold(events)))).toBe(JSON.stringify(outcome.snapshot))
        await made.runtime.close()
      }),
      { numRuns: runs, seed: 7 },
    )
    for (const type of [
      'item.updated plan',
      'item.updated attempt',
      'approval.requested',
      'approval.resolved',
      'context.added',
      'hook.completed',
      'turn.interrupted',
    ])
      expect(seen, type).toContain(`interaction.${type}`)
  })
})
