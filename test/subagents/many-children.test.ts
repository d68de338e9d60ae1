import { describe, expect, it } from 'vitest'
import { Session } from '../../src/core/index.ts'
import type { Runtime } from '../../src/runtime/api/create-agent-runtime.ts'
import type { AgentRuntime } from '../../src/runtime/index.ts'
import { Sequence } from '../../src/util/sequence.ts'
import { ask, team } from './team.ts'

// Counted, not timed: how often sessions are looked at, what is put together, what is left.

const limits = { maxTokens: 1e9, maxChildren: 10_000, parallelToolCalls: 10_000, parallelChildren: 10_000, maxToolTurns: 4 }

/** A root with leads, each with kids: all at work at once, under a token limit at every level. */
const crowd = (leads: number, kids: number) =>
  team({
    boss: {
      agents: ['lead'],
      limits,
      script: (_, step) => (step === 1 ? { calls: Array.from({ length: leads }, (_unused, i) => ask('lead', `${i}`)) } : { text: 'Done.' }),
    },
    lead: {
      agents: ['kid'],
      limits,
      script: (_, step) => (step === 1 ? { calls: Array.from({ length: kids }, (_unused, i) => ask('kid', `${i}`)) } : { text: 'Led.' }),
    },
    kid: { script: () => ({ text: 'ok', usage: { input: 3, output: 2 } }) },
  })

/** How often something of a class is done while a work is done. */
async function counted<T>(
  prototype: object,
  name: string,
  work: () => Promise<T>,
): Promise<{ readonly count: number; readonly result: T }> {
  const original = Object.getOwnPropertyDescriptor(prototype, name)
  if (!original) throw new Error(`there is no ${name}`)
  let count = 0
  const { get, value } = original
  Object.defineProperty(prototype, name, {
    ...original,
    ...(get && {
      get(this: object) {
        count++
        return get.call(this)
      },
    }),
    ...(value && {
      value(this: object, ...given: unknown[]) {
        count++
        return value.apply(this, given)
      },
    }),
  })
  try {
    return { result: await work(), count }
  } finally {
    Object.defineProperty(prototype, name, original)
  }
}

const stateOf = (runtime: AgentRuntime, treeId: string) => (runtime as unknown as Runtime).parts.trees.stateOf(treeId as never)

describe('many parallel children', () => {
  it('are looked at no more often each than few: siblings and cousins cost nothing', async () => {
    const few = await counted(Session.prototype, 'state', () => crowd(5, 10).runtime.run('Go'))
    const many = await counted(Session.prototype, 'state', () => crowd(20, 40).runtime.run('Go'))
    expect(few.result.status).toBe('completed')
    expect(many.result.status).toBe('completed')
    expect(few.count / 55).toBeGreaterThan(10)
    expect(many.count / 820).toBeLessThanOrEqual((few.count / 55) * 1.05)
  })

  it('cost no more in a deep line than their depth', async () => {
    const line = (levels: number) =>
      team(
        Object.fromEntries(
          Array.from({ length: levels }, (_, i) => [
            `a${i}`,
            {
              agents: i + 1 < levels ? [`a${i + 1}`] : [],
              limits: { ...limits, maxDepth: 1_000 },
              script: (_request: unknown, step: number) =>
                step === 1 && i + 1 < levels ? { calls: [ask(`a${i + 1}`, 'go')] } : { text: 'ok' },
            },
          ]),
        ),
      )
    const short = await counted(Session.prototype, 'state', () => line(10).runtime.run('Go'))
    const long = await counted(Session.prototype, 'state', () => line(40).runtime.run('Go'))
    expect(long.result.status).toBe('completed')
    // Each looks at those above it: four times as many levels, at the most sixteen times as many looks.
    expect(long.count).toBeLessThanOrEqual(short.count * 16)
  })
})

describe('five thousand children', () => {
  it('leave only what the summary needs, and the next turn leaves not even that', async () => {
    const { runtime } = crowd(50, 99)
    const handle = runtime.stream('Go')
    const before = await counted(Sequence.prototype, 'toJSON', async () => {
      for await (const event of handle) if (event.type === 'interaction.turn.completed' && event.agentPath === 'root') break
    })
    // Nobody has asked for accounts, operations or conversations of children: none was put together.
    expect(before.count).toBe(0)
    const outcome = await handle.outcome
    expect(outcome).toMatchObject({ status: 'completed', usage: { input: expect.any(Number) } })
    expect(outcome.usage.input).toBeGreaterThanOrEqual(3 * 4_950)
    const leads = outcome.operations?.steps[0]?.calls ?? []
    expect(leads).toHaveLength(50)
    expect(leads.every(({ child }) => child?.steps[0]?.calls.every((kid) => kid.child?.status === 'completed'))).toBe(true)

    const kept = await stateOf(runtime, handle.sessionId)
    expect(kept.children.size).toBe(5_000)
    for (const { history, inputs, tools, grants, turn } of kept.children.values()) {
      expect(history.length + inputs.length + tools.length + grants.length).toBe(0)
      expect(turn.kind === 'ended' && turn.report).toBe(undefined)
    }
    await runtime.sessions.send(handle.sessionId, 'And now?')
    expect((await runtime.sessions.outcome(handle.sessionId)).status).toBe('completed')
    const after = await stateOf(runtime, handle.sessionId)
    expect(after.children.size).toBe(0)
    expect(after.settled.size).toBe(0)
    expect([...after.numbers]).toEqual([['lead', 50]])
  })
})
