import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type InteractionEvent, type Outcome, type Tool, type UsageTotals, usageGroupings } from '../../src/contracts/index.ts'
import type { AgentRuntime } from '../../src/runtime/index.ts'
import { foldTree } from '../../src/runtime/journal/tree-state.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { ask, type Script, team, textOf } from './team.ts'

// Random trees whose calls run out of time, or are interrupted, before what is below them has ended.

interface Plan {
  /** A tool of its own that has two seconds, or the agent as a tool. */
  readonly via: 'own' | 'agent'
  readonly children: readonly Plan[]
  /** Milliseconds of work that heeds no signal. */
  readonly works: readonly number[]
}

const plan: fc.Memo<Plan> = fc.memo((depth) =>
  fc.record({
    via: fc.constantFrom('own', 'agent'),
    children: depth <= 1 ? fc.constant([]) : fc.array(plan(depth - 1), { maxLength: 3 }),
    works: fc.array(fc.constantFrom(100, 1_900, 4_000, 9_000, 30_000), { maxLength: 2 }),
  }),
)

const levels = 4
const usage = { input: 7, output: 3 }

function members(parallelChildren: number): Parameters<typeof team>[0] {
  const member = (level: number) => {
    const child = `level${level + 1}`
    const script: Script = (request, step) => {
      const { children, works } = JSON.parse(textOf(request)) as Plan
      const calls = [
        ...children.map((each) =>
          each.via === 'agent' ? ask(child, JSON.stringify(each)) : { tool: `own${level + 1}`, input: { task: JSON.stringify(each) } },
        ),
        ...works.map((ms) => ({ tool: 'work', input: { ms } })),
      ]
      return step === 1 && calls.length > 0 ? { text: 'on it', calls, usage } : { text: 'done', usage }
    }
    const isLast = level === levels
    const price = ({ input, output }: { readonly input: number; readonly output: number }) => (input + output * 3) * 1e-6
    return {
      script,
      free: false,
      price,
      agents: isLast ? [] : [child],
      tools: isLast ? ['work'] : ['work', `own${level + 1}`],
      limits: { parallelChildren },
    }
  }
  return Object.fromEntries(Array.from({ length: levels + 1 }, (_, level) => [`level${level}`, member(level)]))
}

const tool = (name: string, execute: Tool['execute'], more: Partial<Tool>): Tool => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  concurrency: 'shared',
  repeatable: true,
  execute,
  ...more,
})

function tools(clock: FakeClock): readonly Tool[] {
  const works = ({ ms }: { readonly ms?: unknown }) => new Promise<string>((done) => clock.after(Number(ms), () => done('worked')))
  const owns = Array.from({ length: levels }, (_, index) => {
    const agent = `level${index + 1}`
    const start: Tool['execute'] = async ({ task }, { startChild }) =>
      (await startChild({ agent, input: [{ type: 'text', text: String(task) }] })).kind
    return tool(`own${index + 1}`, start, { timeoutMs: 2_000 })
  })
  return [tool('work', works, { graceMs: 8_000, timeoutMs: 6_000 }), ...owns]
}

const count = (events: readonly InteractionEvent[], types: RegExp): number => events.filter(({ type }) => types.test(type)).length

it('what was taken is counted once at every level and in the usage, every session ends once, and the journal stays sound', async () => {
  let givenUp = 0
  await fc.assert(
    fc.asyncProperty(plan(levels), fc.integer({ min: 1, max: 3 }), fc.option(fc.nat(12_000)), async (root, parallel, interruptAt) => {
      const clock = new FakeClock()
      const store = memoryStore()
      const { runtime } = team(members(parallel), { tools: tools(clock), clock, store })
      const handle = runtime.stream(JSON.stringify(root))
      if (interruptAt !== null) clock.after(interruptAt, () => void handle.interrupt())
      const outcome = await settle(handle.outcome, clock, 250)
      const journal = await store.journal.read(handle.sessionId, 0)
      const created = count(journal, /session\.created$/)
      expect(count(journal, /turn\.(completed|failed|interrupted)$/)).toBe(created)
      expect(count(journal, /subagent\.(completed|failed)$/)).toBe(created - 1)
      const taken = journal.reduce((sum, event) => sum + ('usage' in event ? event.usage.input : 0), 0)
      expect(outcome.usage.input).toBe(taken)
      const entries = outcome.accounting.reduce((sum, entry) => sum + (entry.kind === 'model' ? entry.usage.input : 0), 0)
      expect(entries).toBe(taken)
      const folded = foldTree(journal)
      expect(folded.children.size).toBe(created - 1)
      expect(folded.root.spent.usage.input).toBe(taken)
      await expectUsage(runtime, { outcome, turns: created })
      givenUp += journal.filter((event) => event.type === 'interaction.item.completed' && isGivenUp(event)).length
      await runtime.close()
    }),
    { numRuns: process.env.TROUPE_FULL ? 1_000 : 60 },
  )
  // Without such calls this would show nothing.
  expect(givenUp).toBeGreaterThan(10)
})

/** In every grouping, groups and total are what the turn has spent, children included. */
async function expectUsage(
  { sessions }: AgentRuntime,
  { outcome, turns }: { readonly outcome: Outcome; readonly turns: number },
): Promise<void> {
  for (const by of usageGroupings) {
    const { groups, total } = await sessions.usage({ by })
    const sum = (figure: (group: UsageTotals) => number): number => groups.reduce((all, group) => all + figure(group), 0)
    expect([total.turns, total.usage.input, total.usage.output]).toEqual([1, outcome.usage.input, outcome.usage.output])
    expect(sum(({ usage: used }) => used.input)).toBe(outcome.usage.input)
    expect(sum(({ requests }) => requests)).toBe(outcome.accounting.filter(({ kind }) => kind === 'model').length)
    expect(Math.round(sum(({ costUsd }) => costUsd) * 1e9)).toBe(Math.round(Number(outcome.cost) * 1e9))
    expect([total.unpriced, Math.round(total.costUsd * 1e9)]).toEqual([0, Math.round(Number(outcome.cost) * 1e9)])
    if (by === 'agent') expect(sum(({ turns: count }) => count)).toBe(turns)
  }
}

const isGivenUp = ({ item }: InteractionEvent<'interaction.item.completed'>): boolean =>
  item.kind === 'call' && (item.error?.message.startsWith('The turn ended before "') ?? false)
