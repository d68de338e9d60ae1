import { describe, expect, test, vi } from 'vitest'
import type { JsonObject, Tool, ToolContext } from '../../src/index.ts'
import { gate, ScriptedModel } from '../../src/testing/index.ts'
import { bounded, finish, journalOf, ofType, resultsIn, settle, tool, until, world } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

describe('parallel calls run together where their gates allow', () => {
  /** Runs calls that note when they are entered and left; all leave when released. */
  const stage = (definitions: { [name: string]: Partial<Tool> }, calls: { tool: string; input?: object }[], limits = {}) => {
    const log: string[] = []
    const doors: { [name: string]: ReturnType<typeof gate> } = {}
    let count = 0
    const tools = Object.entries(definitions).map(([name, more]) => ({
      ...tool(name, { schema: { type: 'object' } }),
      execute: async (input: JsonObject) => {
        count += 1
        const id = `${name}${input.n ?? ''}`
        doors[id] = gate()
        log.push(`+${id}`)
        await doors[id]?.promise
        log.push(`-${id}`)
        return id
      },
      ...more,
    }))
    const made = world({ steps: [{ calls }, { text: 'x' }], tools, limits })
    const handle = made.runtime.stream('go')
    const leave = async (id: string) => {
      await until(`${id} entered`, () => doors[id])
      doors[id]?.open()
      await until(`${id} left`, () => log.includes(`-${id}`))
      await settle(10)
    }
    return { ...made, handle, log, leave, entered: (n: number) => until(`${n} calls entered`, () => count >= n) }
  }

  test('shared together', async () => {
    const { entered, log, leave, handle } = stage(
      { s: { concurrency: 'shared' } },
      [1, 2, 3].map((n) => ({ tool: 's', input: { n } })),
    )
    await entered(3)
    expect(log).toEqual(['+s1', '+s2', '+s3'])
    for (const id of ['s1', 's2', 's3']) await leave(id)
    expect((await finish(handle)).status).toBe('completed')
  })

  test('up to the cap (parallelToolCalls)', async () => {
    const { entered, log, leave, handle } = stage(
      { s: { concurrency: 'shared' } },
      [1, 2, 3].map((n) => ({ tool: 's', input: { n } })),
      { parallelToolCalls: 2 },
    )
    await entered(2)
    await settle(20)
    expect(log).toEqual(['+s1', '+s2'])
    await leave('s2')
    await entered(3)
    expect(log).toEqual(['+s1', '+s2', '-s2', '+s3'])
    await leave('s1')
    await leave('s3')
    await finish(handle)
  })

  test('equal keys not with each other, different keys together; the key may be a promise', async () => {
    const { entered, log, leave, handle } = stage({ k: { concurrency: { key: async ({ file }) => String(file) } } }, [
      { tool: 'k', input: { n: 1, file: 'a' } },
      { tool: 'k', input: { n: 2, file: 'a' } },
      { tool: 'k', input: { n: 3, file: 'b' } },
    ])
    await entered(2)
    await settle(20)
    expect(log).toEqual(['+k1', '+k3'])
    await leave('k1')
    await entered(3)
    expect(log).toEqual(['+k1', '+k3', '-k1', '+k2'])
    await leave('k2')
    await leave('k3')
    await finish(handle)
  })

  test('exclusive (the default) with none, at any position', async () => {
    const { entered, log, leave, handle } = stage({ s: { concurrency: 'shared' }, e: {}, k: { concurrency: { key: () => 'x' } } }, [
      { tool: 's', input: { n: 1 } },
      { tool: 'e', input: { n: 1 } },
      { tool: 's', input: { n: 2 } },
      { tool: 'k', input: { n: 1 } },
    ])
    const all = ['s1', 'e1', 's2', 'k1']
    for (let round = 0; round < 4; round += 1) {
      await settle(10)
      const open = log.filter((line) => line.startsWith('+') && !log.includes(`-${line.slice(1)}`)).map((line) => line.slice(1))
      expect(open.length).toBeGreaterThan(0)
      if (open.includes('e1')) expect(open).toEqual(['e1'])
      await leave(open[0] as string)
    }
    await entered(4)
    expect(new Set(log.map((line) => line.slice(1)))).toEqual(new Set(all))
    expect((await finish(handle)).status).toBe('completed')
  })

  test('a key that throws or is no text costs that call, not the session', async () => {
    const { runtime, model } = world({
      steps: [{ calls: [{ tool: 'k' }, { tool: 'n' }, { tool: 'ok' }] }, { text: 'x' }],
      tools: [
        tool('k', {
          concurrency: {
            key: () => {
              throw new Error('no key')
            },
          },
        }),
        tool('n', { concurrency: { key: () => ({}) as never } }),
        tool('ok'),
      ],
    })
    const outcome = await bounded(runtime.run('go'))
    expect(outcome.status).toBe('completed')
    expect(resultsIn(model.requests[1])[2]?.ok).toBe(true)
  })
})

describe('gating by model ability and feature flag', () => {
  const gated = [
    tool('look_at', { requires: [{ ability: 'images' }] }),
    tool('risky', { requires: [{ flag: 'risky' }] }),
    tool('both', { requires: [{ ability: 'images' }, { flag: 'risky' }] }),
    tool('plain'),
  ]
  const offered = async (abilities: readonly ('tools' | 'images')[], features?: { [flag: string]: boolean }) => {
    const model = new ScriptedModel([{ text: 'x' }], { abilities })
    const { runtime } = world({ adapter: model, tools: gated, config: features ? { features } : {} })
    const outcome = await runtime.run('go')
    expect(outcome.status).toBe('completed')
    return model.requests[0]?.tools.map(({ name }) => name)
  }
  test('neither', async () => expect(await offered(['tools'])).toEqual(['plain']))
  test('the ability', async () => expect(await offered(['tools', 'images'])).toEqual(['look_at', 'plain']))
  test('the flag', async () => expect(await offered(['tools'], { risky: true })).toEqual(['plain', 'risky']))
  test('a flag that is off', async () => expect(await offered(['tools', 'images'], { risky: false })).toEqual(['look_at', 'plain']))
  test('both', async () => expect(await offered(['tools', 'images'], { risky: true })).toEqual(['both', 'look_at', 'plain', 'risky']))
  test('a model that can not use tools is offered none', async () => expect(await offered([])).toEqual([]))

  test('a tool behind a gate does not run although the model names it', async () => {
    let ran = 0
    const { runtime, model } = world({
      steps: [{ calls: [{ tool: 'risky' }] }, { text: 'x' }],
      tools: [
        tool('risky', {
          requires: [{ flag: 'risky' }],
          execute: () => {
            ran += 1
            return 'ran'
          },
        }),
        tool('plain'),
      ],
    })
    await runtime.run('go')
    expect(ran).toBe(0)
    expect(resultsIn(model.requests[1])[0]?.ok).toBe(false)
  })

  test('instructions of a tool are added to the prompt of every agent that is offered it, and of no other', async () => {
    const { runtime, model } = world({
      steps: [{ text: 'x' }],
      tools: [
        tool('plain', { instructions: 'Use plain with care.' }),
        tool('risky', { requires: [{ flag: 'risky' }], instructions: 'Risky business.' }),
      ],
    })
    await runtime.run('go')
    expect(model.requests[0]?.system).toContain('You are a clerk.')
    expect(model.requests[0]?.system).toContain('Use plain with care.')
    expect(model.requests[0]?.system).not.toContain('Risky business.')
  })

  test('"The library adds nothing to the prompt but what agent, tools, skills and context supply"', async () => {
    const { runtime, model } = world({ steps: [{ text: 'x' }] })
    await runtime.run('go')
    expect(model.requests[0]).toEqual({
      system: 'You are a clerk.',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }],
      tools: [],
      toolChoice: 'auto',
      parameters: {},
    })
  })
})

describe('ToolContext', () => {
  test('has signal, call id, attempt, overlay, remaining budget, confinement, progress', async () => {
    const contexts: ToolContext[] = []
    const { runtime } = world({
      config: { overlay: { CITY: 'Oslo' } },
      limits: { maxToolTurns: 5, maxCalls: 4, maxTokens: 100_000, timeBudget: 60_000 },
      steps: [{ calls: [{ tool: 'a' }, { tool: 'a' }], usage: { input: 10, output: 10 } }, { calls: [{ tool: 'a' }] }, { text: 'x' }],
      tools: [
        tool('a', {
          repeatable: true,
          execute: (_, context) => {
            contexts.push({
              ...context,
              remaining: context.remaining,
              overlay: context.overlay,
              callId: context.callId,
              signal: context.signal,
              confinement: context.confinement,
              attempt: context.attempt,
            } as ToolContext)
            return 'ok'
          },
        }),
      ],
    })
    await runtime.run('go')
    expect(contexts).toHaveLength(3)
    expect(contexts[0]).toMatchObject({ attempt: 1, overlay: { CITY: 'Oslo' }, confinement: { kind: 'none' } })
    expect(contexts[0]?.signal.aborted).toBe(false)
    expect(new Set(contexts.map(({ callId }) => callId)).size, 'unique everywhere').toBe(3)
    const remaining = contexts.map((context) => context.remaining)
    expect(remaining[2]?.steps).toBeLessThan(remaining[0]?.steps as number)
    expect(remaining[2]?.calls).toBeLessThan(remaining[0]?.calls as number)
    expect(remaining[0]?.tokens).toBeLessThan(100_000)
    expect(remaining[0]?.timeMs).toBeLessThanOrEqual(60_000)
  })

  test('call ids differ between sessions of one store', async () => {
    const ids: string[] = []
    const { runtime } = world({
      steps: [{ calls: [{ tool: 'a' }] }, { text: 'x' }, { calls: [{ tool: 'a' }] }, { text: 'x' }],
      tools: [
        tool('a', {
          execute: (_, { callId }) => {
            ids.push(callId)
            return 'ok'
          },
        }),
      ],
    })
    await runtime.run('go')
    await runtime.run('go')
    expect(new Set(ids).size).toBe(2)
  })

  test('the overlay can not be changed by a tool', async () => {
    const seen: string[] = []
    const { runtime } = world({
      config: { overlay: { CITY: 'Oslo' } },
      steps: [{ calls: [{ tool: 'a' }, { tool: 'a' }] }, { text: 'x' }],
      tools: [
        tool('a', {
          execute: (_, { overlay }) => {
            seen.push(String(overlay.CITY))
            try {
              ;(overlay as { CITY: string }).CITY = 'Bergen'
            } catch {
              // frozen is as good
            }
            return 'ok'
          },
        }),
      ],
    })
    await runtime.run('go')
    expect(seen).toEqual(['Oslo', 'Oslo'])
  })

  test('view: how people see it is the item’s type and details', async () => {
    const { runtime, store } = world({
      steps: [{ calls: [{ tool: 'sh', input: { command: 'ls' } }] }, { text: 'x' }],
      tools: [
        tool('sh', {
          schema: { type: 'object' },
          view: ({ command }) => ({ type: 'command_execution', details: { command: String(command) } }),
        }),
      ],
    })
    const { sessionId: treeId } = await runtime.run('go')
    const events = await journalOf(store, treeId)
    expect(ofType(events, 'interaction.item.started')[0]?.item).toMatchObject({ type: 'command_execution', details: { command: 'ls' } })
    expect(ofType(events, 'interaction.item.completed')[0]?.item).toMatchObject({ type: 'command_execution', status: 'completed' })
  })

  test('a view that throws or answers nonsense does not cost the call', async () => {
    for (const view of [
      () => {
        throw new Error('no view')
      },
      () => ({ type: 'banana' }) as never,
      () => undefined as never,
    ]) {
      const { runtime, model, store } = world({ steps: [{ calls: [{ tool: 'sh' }] }, { text: 'x' }], tools: [tool('sh', { view })] })
      const outcome = await bounded(runtime.run('go'))
      expect(outcome.status).toBe('completed')
      expect(resultsIn(model.requests[1])[0]?.ok, String(view)).toBe(true)
      expect(ofType(await journalOf(store, outcome.sessionId), 'interaction.item.started')[0]?.item.type).toBe('tool_call')
    }
  })
})
