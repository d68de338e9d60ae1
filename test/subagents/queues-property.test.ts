import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { ask, type Said, team, textOf } from './team.ts'

// Random trees under random queues: all of them end, no queue is ever exceeded, and nothing is left taken.

interface Plan {
  readonly children: readonly Plan[]
  readonly works: number
  readonly rounds: number
  readonly ticks: number
  readonly fails: boolean
  /** The tool by which it is started: the agent itself, or one of two that any agent has. */
  readonly via: 'agent' | 'hand_over' | 'pass_on'
}
/** A plan with the way to it; the first of the path is the tree. */
interface Task extends Plan {
  readonly path: string
}

const { tree: planArbitrary } = fc.letrec<{ tree: Plan; low: Plan; leaf: Plan }>((tie) => {
  const plan = (children: fc.Arbitrary<Plan[]>) =>
    fc.record({
      children,
      works: fc.nat({ max: 2 }),
      rounds: fc.integer({ min: 1, max: 2 }),
      ticks: fc.nat({ max: 12 }),
      fails: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      via: fc.constantFrom('agent', 'hand_over', 'pass_on'),
    })
  return {
    leaf: plan(fc.constant([])),
    low: plan(fc.array(tie('leaf'), { maxLength: 3 })),
    tree: plan(fc.array(fc.oneof(tie('low'), tie('leaf')), { maxLength: 3 })),
  }
})

const cap = fc.record({ concurrent: fc.integer({ min: 1, max: 3 }) })
const scene = fc.record({
  plans: fc.array(planArbitrary, { minLength: 1, maxLength: 3 }),
  queues: fc.record(
    { agent: cap, agent__l1: cap, agent__l2: cap, hand_over: cap, pass_on: cap, team: cap, work: cap },
    { requiredKeys: [] },
  ),
  // Tools may bear the name of the provider: then models and calls are in one line.
  namespace: fc.constantFrom('team', 'plain', 'agent'),
  parallelToolCalls: fc.integer({ min: 1, max: 4 }),
  parallelChildren: fc.integer({ min: 1, max: 3 }),
  interruptAfter: fc.option(fc.nat({ max: 60 })),
})
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never

const pass = async (ticks: number): Promise<void> => {
  for (let i = 0; i < ticks; i++) await undefined
}

/** What is at work now, and whether that is too much anywhere. */
class Watch {
  readonly #at = new Map<symbol, { readonly path: string; readonly kind: 'model' | 'work' }>()
  readonly #scene: Scene
  #dismissed: string | undefined
  readonly exceeded: string[] = []
  readonly via = new Map<string, Plan['via']>()
  /** In a round for the last time: waits until so many are at work at once. */
  meeting: { readonly most: number; readonly met: PromiseWithResolvers<void> } | undefined

  constructor(given: Scene) {
    this.#scene = given
  }

  /** Scripts go on when nobody listens any more. */
  dismiss(tree: string): void {
    this.#dismissed = tree
    for (const [id, { path }] of this.#at) if (path.startsWith(tree)) this.#at.delete(id)
  }

  async during(path: string, kind: 'model' | 'work', ticks: number): Promise<void> {
    if (this.#dismissed !== undefined && path.startsWith(this.#dismissed)) return pass(ticks)
    const id = Symbol(path)
    this.#at.set(id, { path, kind })
    this.#check()
    if (this.meeting && depthOf(path) === 1) {
      if (this.#at.size >= this.meeting.most) this.meeting.met.resolve()
      await this.meeting.met.promise
    } else await pass(ticks)
    this.#at.delete(id)
  }

  /** What is at work uses one slot of each queue: its own, or that of the nearest call above it that bears the name. */
  #check(): void {
    for (const [name, limit] of Object.entries(this.#scene.queues)) {
      const used = new Set([...this.#at].flatMap(([id, at]) => this.#slotOf(name, id, at) ?? []))
      if (limit && used.size > limit.concurrent) this.exceeded.push(`${name}: ${used.size}`)
    }
  }

  #slotOf(name: string, id: symbol, { path, kind }: { path: string; kind: 'model' | 'work' }): symbol | string | undefined {
    const { namespace } = this.#scene
    if ((kind === 'model' ? ['team'] : ['work', namespace]).includes(name)) return id
    for (let at = path; at.includes('.'); at = at.slice(0, at.lastIndexOf('.'))) {
      const via = this.via.get(at) ?? 'agent'
      if ((via === 'agent' ? ['agent', `agent__l${depthOf(at)}`] : [via, namespace]).includes(name)) return at
    }
    return undefined
  }
}

const depthOf = (path: string): number => path.split('.').length - 1
const sizeOf = (plan: Plan): number => 1 + plan.children.reduce((sum, child) => sum + sizeOf(child), 0)

function stage(given: Scene) {
  const watch = new Watch(given)
  const limits = {
    parallelToolCalls: given.parallelToolCalls,
    parallelChildren: given.parallelChildren,
    maxChildren: 1_000,
    maxRetries: 0,
    timeBudget: 3_600_000,
  }
  const seen = new Set<string>()
  const script =
    (level: number) =>
    async (request: Parameters<typeof textOf>[0], step: number): Promise<Said> => {
      const task: Task = JSON.parse(textOf(request))
      seen.add(task.path)
      await watch.during(task.path, 'model', task.ticks)
      if (task.fails) return { fails: 'network' }
      if (step > task.rounds) return { text: 'ok' }
      const children = (step > 1 ? [] : task.children).map((plan, i) => {
        const path = `${task.path}.${i}`
        watch.via.set(path, plan.via)
        const { tool, input } = ask(`l${level + 1}`, JSON.stringify({ ...plan, path }))
        return plan.via === 'agent' ? { tool, input } : { tool: plan.via, input: { ...input, agent: `l${level + 1}` } }
      })
      const works = Array.from({ length: task.works }, (_, n) => ({ tool: 'work', input: { path: task.path, ticks: task.ticks, n } }))
      return children.length + works.length > 0 ? { calls: [...works, ...children] } : { text: 'ok' }
    }
  const work: Tool = {
    name: 'work',
    namespace: given.namespace,
    description: 'works',
    inputSchema: { type: 'object' },
    effect: 'read',
    concurrency: given.parallelToolCalls % 2 === 0 ? 'shared' : 'exclusive',
    execute: async ({ path, ticks }) => {
      await watch.during(String(path), 'work', Number(ticks))
      return 'done'
    },
  }
  const starting = (name: string): Tool => ({
    name,
    namespace: given.namespace,
    description: 'starts an agent',
    inputSchema: { type: 'object' },
    effect: 'idempotent',
    concurrency: 'shared',
    timeoutMs: 3_600_000,
    graceMs: 10_000,
    async execute({ agent, prompt }, { startChild }) {
      const result = await startChild({ agent: String(agent), input: [{ type: 'text', text: String(prompt) }] })
      return result.kind === 'ended' ? result.status : { ok: false, error: result.failure }
    },
  })
  const { runtime } = team(
    {
      l0: { script: script(0), agents: ['l1'], tools: ['*'], limits },
      l1: { script: script(1), agents: ['l2'], tools: ['*'], limits },
      l2: { script: script(2), tools: ['*'], limits },
    },
    { tools: [work, starting('hand_over'), starting('pass_on')], config: { queues: given.queues } },
  )
  return { runtime, watch, seen }
}

it('random trees under random queues end, exceed nothing, and leave nothing taken', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(scene, async (given) => {
      const { runtime, watch, seen } = stage(given)
      const controller = new AbortController()
      const runs = given.plans.map((plan, i) =>
        runtime.run(JSON.stringify({ ...plan, path: `t${i}` }), i === 0 ? { signal: controller.signal } : {}),
      )
      if (given.interruptAfter !== null) {
        await pass(given.interruptAfter * 10)
        controller.abort()
        watch.dismiss('t0')
      }
      const outcomes = await Promise.all(runs)
      expect(watch.exceeded).toEqual([])
      for (const [i, plan] of given.plans.entries()) {
        if (i === 0 && given.interruptAfter !== null) continue
        expect(outcomes[i]?.status).toBe(plan.fails ? 'failed' : 'completed')
        const visited = [...seen].filter((path) => path.startsWith(`t${i}`)).length
        expect(visited).toBe(reachable(plan))
        expect(visited).toBeLessThanOrEqual(sizeOf(plan))
      }
      // As many as the queues allow must be able to be at work at once: a slot that was lost would be missed here.
      const caps = Object.entries(given.queues).flatMap(([name, limit]) =>
        limit && ['agent', 'agent__l1', 'team'].includes(name) ? [limit.concurrent] : [],
      )
      const most = Math.min(given.parallelToolCalls, given.parallelChildren, ...caps)
      watch.meeting = { most, met: Promise.withResolvers() }
      const leaf: Plan = { children: [], works: 0, rounds: 1, ticks: 0, fails: false, via: 'agent' }
      const last = { ...leaf, children: Array.from({ length: most }, () => leaf), path: 'last' }
      expect((await runtime.run(JSON.stringify(last))).status).toBe('completed')
      await runtime.close()
    }),
    { numRuns: process.env.TROUPE_FULL ? 300 : 100 },
  )
})

/** One that fails starts nobody. */
const reachable = (plan: Plan): number => (plan.fails ? 1 : 1 + plan.children.reduce((sum, child) => sum + reachable(child), 0))
