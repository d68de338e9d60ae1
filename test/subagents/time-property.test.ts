import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InteractionEvent, SessionId } from '../../src/contracts/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { ask, type Script, team } from './team.ts'

// Random trees whose models take their time, on a clock that is turned in ticks.

const tick = 20

interface Plan {
  readonly children: readonly Plan[]
  /** What it does at each step before it answers, and how many ticks its model takes for it. */
  readonly steps: readonly { readonly does: 'children' | 'twice' | 'fails'; readonly ticks: number }[]
  readonly answerTicks: number
  readonly budgetTicks: number | undefined
  readonly maxDepth: number
  readonly maxChildren: number
  readonly parallelChildren: number
}

const plan: fc.Memo<Plan> = fc.memo((depth) =>
  fc.record({
    children: depth <= 1 ? fc.constant([]) : fc.array(plan(depth - 1), { maxLength: 3 }),
    steps: fc.array(fc.record({ does: fc.constantFrom('children', 'children', 'twice', 'fails'), ticks: fc.nat({ max: 8 }) }), {
      maxLength: 3,
    }),
    answerTicks: fc.nat({ max: 8 }),
    budgetTicks: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    maxDepth: fc.integer({ min: 1, max: 3 }),
    maxChildren: fc.integer({ min: 1, max: 8 }),
    parallelChildren: fc.integer({ min: 1, max: 4 }),
  }),
)

function speaker({ steps, answerTicks }: Plan, children: readonly string[], clock: FakeClock): Script {
  const taking = (ticks: number): Promise<void> => new Promise((resolve) => void clock.after(ticks * tick, resolve))
  return async (request, step) => {
    const { does, ticks } = (request.toolChoice === 'none' ? undefined : steps[step - 1]) ?? { does: undefined, ticks: answerTicks }
    await taking(ticks)
    const calls = children.map((child) => ask(child, `step ${step}`))
    if (does === 'fails') return { fails: 'network' }
    return does === undefined || calls.length === 0 ? { text: 'So far.' } : { calls: does === 'twice' ? [...calls, ...calls] : calls }
  }
}

function members(root: Plan, clock: FakeClock): Parameters<typeof team>[0] {
  const all: Record<string, Parameters<typeof team>[0][string]> = {}
  const add = (each: Plan, name: string): void => {
    const children = each.children.map((_, i) => `${name}x${i}`)
    const { budgetTicks, maxDepth, maxChildren, parallelChildren } = each
    const timeBudget = budgetTicks === undefined ? {} : { timeBudget: budgetTicks * tick }
    all[name] = {
      script: speaker(each, children, clock),
      agents: children,
      limits: { maxRetries: 1, parallelToolCalls: 6, maxDepth, maxChildren, parallelChildren, ...timeBudget },
    }
    for (const [i, child] of each.children.entries()) add(child, `${name}x${i}`)
  }
  add(root, 'a')
  return all
}

interface Seen {
  readonly parent: SessionId | undefined
  readonly limits: { readonly timeBudget?: number; readonly maxDepth: number; readonly maxChildren: number }
  startedAt: number
  depthBelow: number
  childrenBelow: number
}

/** Every way in which a session, or anything below it, went beyond what it was given. */
function overruns(events: readonly InteractionEvent[]): readonly string[] {
  const found: string[] = []
  const sessions = new Map<SessionId, Seen>()
  for (const event of events) {
    const { sessionId, type, at } = event
    if (type === 'interaction.session.created') {
      sessions.set(sessionId, {
        parent: event.parent?.sessionId,
        limits: event.agent.limits,
        startedAt: at,
        depthBelow: 0,
        childrenBelow: 0,
      })
      let depth = 0
      for (let above = sessions.get(event.parent?.sessionId as SessionId); above; above = sessions.get(above.parent as SessionId)) {
        above.childrenBelow++
        above.depthBelow = Math.max(above.depthBelow, ++depth)
      }
    }
    const own = sessions.get(sessionId)
    if (own && type === 'interaction.turn.started') own.startedAt = at
    for (let session = own; session; session = sessions.get(session.parent as SessionId)) {
      const { limits, startedAt, depthBelow, childrenBelow } = session
      const { timeBudget = Number.POSITIVE_INFINITY } = limits
      // The last part of its time is for its own answer. A timer that falls due between two ticks is heard of at the next one.
      const given = session === own ? timeBudget : timeBudget - Math.min(30_000, timeBudget / 5)
      if (at > startedAt + given + tick) found.push(`${event.seq} ${type} of ${sessionId} at ${at - startedAt} of ${given}`)
      if (depthBelow > limits.maxDepth) found.push(`${event.seq} ${depthBelow} levels of ${limits.maxDepth}`)
      if (childrenBelow > limits.maxChildren) found.push(`${event.seq} ${childrenBelow} children of ${limits.maxChildren}`)
    }
  }
  return found
}

describe('the time of a tree', () => {
  it('is never overrun by any session below, nor are levels and numbers, and every tree ends', async () => {
    const bites = { time: 0, depth: 0, number: 0 }
    await fc.assert(
      fc.asyncProperty(plan(4), async (root) => {
        const clock = new FakeClock()
        const { events } = await settle(team(members(root, clock), { clock }).run('Begin'), clock, tick)
        expect(overruns(events)).toEqual([])
        const created = events.filter(({ type }) => type === 'interaction.session.created').length
        const ended = events.filter(({ type }) => /^interaction\.turn\.(completed|failed|interrupted)$/.test(type))
        expect(ended).toHaveLength(created)
        const told = JSON.stringify(events)
        bites.time += Number(told.includes('"reason":"time"'))
        bites.depth += Number(told.includes('levels of children; this child would exceed them'))
        bites.number += Number(told.includes('children that it may start in a turn'))
      }),
      // Others in the long form; the short one must show its limits biting each time.
      process.env.TROUPE_FULL ? { numRuns: 1_500 } : { numRuns: 120, seed: 42 },
    )
    // The test would show nothing where no limit bites.
    expect(bites.time).toBeGreaterThan(5)
    expect(bites.depth).toBeGreaterThan(2)
    expect(bites.number).toBeGreaterThan(2)
  })
})
