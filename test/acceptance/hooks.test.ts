import { describe, expect, test, vi } from 'vitest'
import type { JsonObject, Tool } from '../../src/index.ts'
import { bounded, expectLegal, journalOf, objectSchema, ofType, resultsIn, type Setup, settle, tool, until, world } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

describe('hooks', () => {
  const schema = objectSchema({ path: { type: 'string' } }, ['path'])
  const hooked = async (hooks: Setup['hooks'], input: object = { path: '/a' }, more: Partial<Tool> = {}) => {
    const got: JsonObject[] = []
    const { runtime, model, store } = world({
      ...(hooks && { hooks }),
      steps: [{ calls: [{ tool: 'target', input }] }, { text: 'x' }],
      tools: [
        {
          ...tool('target', { schema }),
          execute: (given) => {
            got.push(given)
            return 'ok'
          },
          ...more,
        },
      ],
    })
    const outcome = await bounded(runtime.run('go'), 'the run with hooks')
    const events = await journalOf(store, outcome.sessionId)
    expectLegal(events)
    return { got, model, events, outcome, result: resultsIn(model.requests[1])[0], hook: ofType(events, 'interaction.hook.completed') }
  }

  test('change: the tool gets the changed input, the intent shows it, the journal names the hook', async () => {
    const { got, events, hook } = await hooked([
      { name: 'rewrite', onFailure: 'closed', beforeCall: () => ({ kind: 'change', input: { path: '/b' }, reason: 'Stay inside' }) },
    ])
    expect(got).toEqual([{ path: '/b' }])
    expect(ofType(events, 'interaction.item.started')[0]?.item).toMatchObject({ input: { path: '/b' } })
    expect(hook).toMatchObject([{ hook: 'rewrite', verdict: 'changed', message: 'Stay inside' }])
  })

  test('validate again: a change that does not fit the schema never reaches the tool', async () => {
    const { got, result } = await hooked(
      [{ name: 'rewrite', onFailure: 'open', beforeCall: () => ({ kind: 'change', input: { path: 7, x: {} } as never, reason: 'r' }) }],
      { path: '/a' },
      { inputSchema: { ...schema, additionalProperties: false } },
    )
    expect(got).toEqual([])
    expect(result?.ok).toBe(false)
  })

  test('approval sees the changed arguments, exactly', async () => {
    const asked: unknown[] = []
    const got: JsonObject[] = []
    const { runtime } = world({
      hooks: [{ name: 'rewrite', onFailure: 'closed', beforeCall: () => ({ kind: 'change', input: { path: '/b' }, reason: 'r' }) }],
      approver: {
        decide: (request) => {
          asked.push(request.input)
          return { decision: { kind: 'approve', breadth: 'once' }, by: 'me' }
        },
      },
      steps: [{ calls: [{ tool: 'target', input: { path: '/a' } }] }, { text: 'x' }],
      tools: [
        tool('target', {
          schema,
          approval: ({ path }) => ({ keys: [{ key: `path:${path}`, label: String(path) }], summary: `Write ${path}` }),
          execute: (input) => {
            got.push(input)
            return 'ok'
          },
        }),
      ],
    })
    await bounded(runtime.run('go'))
    expect(asked).toEqual([{ path: '/b' }])
    expect(got).toEqual([{ path: '/b' }])
  })

  test('block: the tool does not run and the model is told why', async () => {
    const { got, result, events, hook } = await hooked([
      { name: 'guard', onFailure: 'closed', beforeCall: () => ({ kind: 'block', reason: 'Not on a Sunday' }) },
    ])
    expect(got).toEqual([])
    expect(result).toMatchObject({ ok: false, content: expect.stringContaining('Not on a Sunday') })
    expect(ofType(events, 'interaction.item.completed')[0]?.item).toMatchObject({ error: { class: 'blocked' } })
    expect(hook).toMatchObject([{ hook: 'guard', verdict: 'blocked' }])
  })

  for (const [name, crash] of [
    [
      'throws',
      () => {
        throw new Error('hook broke')
      },
    ],
    ['rejects', () => Promise.reject(new Error('hook broke'))],
    [
      'throws nothing',
      () => {
        throw undefined
      },
    ],
    ['answers nonsense', () => ({ kind: 'banana' }) as never],
  ] as const) {
    test(`a hook that ${name}, onFailure closed: the call is blocked`, async () => {
      const { got, hook, result } = await hooked([{ name: 'shaky', onFailure: 'closed', beforeCall: crash }])
      expect(got).toEqual([])
      expect(result?.ok).toBe(false)
      expect(hook).toMatchObject([{ hook: 'shaky', verdict: 'failed' }])
    })
    test(`a hook that ${name}, onFailure open: the call goes through`, async () => {
      const { got, hook, outcome } = await hooked([{ name: 'shaky', onFailure: 'open', beforeCall: crash }])
      expect(got).toEqual([{ path: '/a' }])
      expect(outcome.status).toBe('completed')
      if (name !== 'answers nonsense') expect(hook).toMatchObject([{ hook: 'shaky', verdict: 'failed' }])
    })
  }

  test('context: what a hook adds is in the journal and in the next request', async () => {
    const { model, hook } = await hooked([
      { name: 'linter', onFailure: 'open', afterCall: () => ({ kind: 'context', text: 'Line 3 is too long.' }) },
    ])
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('Line 3 is too long.')
    expect(hook).toMatchObject([{ hook: 'linter', verdict: 'context', message: 'Line 3 is too long.' }])
  })

  test('an afterCall that throws does not cost the result, which is there already', async () => {
    for (const onFailure of ['open', 'closed'] as const) {
      const { outcome, result, got } = await hooked([
        {
          name: 'shaky',
          onFailure,
          afterCall: () => {
            throw new Error('after broke')
          },
        },
      ])
      expect(got).toHaveLength(1)
      expect(outcome.status).toBe('completed')
      if (onFailure === 'open') expect(result).toMatchObject({ ok: true, content: expect.stringContaining('ok') })
    }
  })

  test('hooks run in their order, each on what the one before left; after a block the later ones are not asked', async () => {
    const seen: unknown[] = []
    const append = (name: string) => ({
      name,
      onFailure: 'closed' as const,
      beforeCall: ({ input }: { input: JsonObject }) => {
        seen.push([name, input.path])
        return name === 'three'
          ? ({ kind: 'block', reason: 'stop' } as const)
          : ({ kind: 'change', input: { path: `${input.path}/${name}` }, reason: name } as const)
      },
    })
    const { got } = await hooked([append('one'), append('two'), append('three'), append('four')])
    expect(seen).toEqual([
      ['one', '/a'],
      ['two', '/a/one'],
      ['three', '/a/one/two'],
    ])
    expect(got).toEqual([])
  })

  test('a hook sees the input without reason, and changing it in place changes nothing', async () => {
    const seen: unknown[] = []
    const { got } = await hooked(
      [
        {
          name: 'rude',
          onFailure: 'open',
          beforeCall: ({ input }) => {
            seen.push(structuredClone(input))
            try {
              ;(input as { path: string }).path = '/stolen'
            } catch {
              // frozen is as good
            }
            return { kind: 'continue' }
          },
        },
      ],
      { path: '/a', reason: 'Why' },
    )
    expect(seen).toEqual([{ path: '/a' }])
    expect(got).toEqual([{ path: '/a' }])
  })

  const never = (): Promise<never> => new Promise(() => undefined)
  const stuck: { [what: string]: Parameters<typeof world>[0] } = {
    'a hook before the call': { hooks: [{ name: 'stuck', onFailure: 'closed', beforeCall: never }], tools: [tool('target')] },
    'a hook after the call': { hooks: [{ name: 'stuck', onFailure: 'closed', afterCall: never }], tools: [tool('target')] },
    'a tool’s approval()': { tools: [tool('target', { approval: never })] },
    'a tool’s view()': { tools: [tool('target', { view: never })] },
    'a tool’s key()': { tools: [tool('target', { concurrency: { key: never } })] },
    'an approver': { tools: [tool('target', { approval: () => ({ keys: [], summary: 's' }) })], approver: { decide: never } },
  }
  for (const [what, setup] of Object.entries(stuck))
    test(`core.md, cancel: "interrupt = signal, grace, kill" also while ${what} never answers`, async () => {
      const { runtime, model, store, clock } = world({ ...setup, steps: [{ calls: [{ tool: 'target' }] }] })
      const handle = runtime.stream('go')
      await until('asked', () => model.requests.length === 1)
      await settle(10)
      await handle.interrupt()
      for (let i = 0; i < 20; i += 1) await clock.elapse(1000)
      const outcome = await bounded(handle.outcome, 'the outcome', 30_000)
      expect(outcome.status).toBe('interrupted')
      expectLegal(await journalOf(store, handle.sessionId))
    })
})
