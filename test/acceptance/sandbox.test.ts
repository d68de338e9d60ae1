import { describe, expect, test, vi } from 'vitest'
import type { ApprovalRequest, JsonObject, Tool, TreeId } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { approverOf, bounded, expectLegal, journalOf, objectSchema, ofType, resultsIn, type Setup, tool, world } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const got: JsonObject[] = []
const schema = objectSchema({ path: { type: 'string' } }, ['path'])
const guarded = (more: Partial<Tool> = {}): Tool => ({
  ...tool('remove', { schema }),
  approval: ({ path }) => ({ keys: [{ key: `path:${path}`, label: `${path}` }], summary: `Remove ${path}` }),
  execute: (input) => {
    got.push(input)
    return `removed ${input.path}`
  },
  ...more,
})
const deciding = (decide: (request: ApprovalRequest, n: number) => unknown) => {
  const asked: ApprovalRequest[] = []
  const approver = approverOf((request) => decide(request, asked.push(request)))
  return { approver, asked }
}
const approve = (breadth: 'once' | 'session' = 'once') => ({ kind: 'approve', breadth, by: 'me' }) as const
const setup = (more: Setup): ReturnType<typeof world> => {
  got.length = 0
  return world({ tools: [guarded(), tool('other', { concurrency: 'shared' })], ...more })
}

describe('core.md, sandbox: sandboxed attempt → gated retry without sandbox, which needs an approval of its own', () => {
  const sandbox = { confinement: { kind: 'sandbox', name: 'box' } } as const
  const confined = (log: string[], more: Partial<Tool> = {}): Tool =>
    tool('shell', {
      execute: (_, { confinement, attempt }) => {
        log.push(`${confinement.kind} ${attempt}`)
        return confinement.kind === 'sandbox' ? { ok: false, error: { class: 'sandbox', message: 'no network inside' } } : 'did it outside'
      },
      ...more,
    })

  test('approved: runs again outside as attempt 2; item.updated is durable before that', async () => {
    const log: string[] = []
    const store = memoryStore()
    const seen: string[][] = []
    const { approver, asked } = deciding(() => approve())
    const { runtime, model } = setup({
      store,
      sandbox,
      approver,
      tools: [
        confined(log, {
          execute: async (_, { confinement, attempt }) => {
            log.push(`${confinement.kind} ${attempt}`)
            const [entry] = await store.trees.list()
            seen.push((await journalOf(store, entry?.treeId as TreeId)).map(({ type }) => type))
            return confinement.kind === 'sandbox'
              ? { ok: false, error: { class: 'sandbox', message: 'no network inside' } }
              : 'did it outside'
          },
        }),
      ],
      steps: [{ calls: [{ tool: 'shell' }] }, { text: 'x' }],
    })
    const outcome = await bounded(runtime.run('go'))
    expect(log).toEqual(['sandbox 1', 'none 2'])
    expect(asked).toMatchObject([{ scope: 'unsandboxed', tool: 'shell' }])
    expect(seen[1]).toContain('interaction.item.updated')
    expect(resultsIn(model.requests[1])[0]).toMatchObject({ ok: true, content: 'did it outside' })
    const events = await journalOf(store, outcome.sessionId)
    expectLegal(events)
    expect(ofType(events, 'interaction.item.updated')).toMatchObject([{ update: { kind: 'attempt', attempt: 2, reason: 'unsandboxed' } }])
  })

  test('denied, and the default without an approver: it does not run outside', async () => {
    for (const approver of [undefined, deciding(() => ({ kind: 'deny', by: 'me' })).approver]) {
      const log: string[] = []
      const { runtime, model } = setup({
        sandbox,
        ...(approver && { approver }),
        tools: [confined(log)],
        steps: [{ calls: [{ tool: 'shell' }] }, { text: 'x' }],
      })
      const outcome = await bounded(runtime.run('go'))
      expect(log).toEqual(['sandbox 1'])
      expect(outcome.status).toBe('completed')
      expect(resultsIn(model.requests[1])[0]?.ok).toBe(false)
    }
  })

  test('an approval of the call, even for the session, does not cover the run outside', async () => {
    const log: string[] = []
    const { approver, asked } = deciding(({ scope }) => (scope === 'call' ? approve('session') : { kind: 'deny', by: 'me' }))
    const { runtime } = setup({
      sandbox,
      approver,
      tools: [confined(log, { approval: () => ({ keys: [{ key: 'tool:shell', label: 'shell' }], summary: 's' }) })],
      steps: [{ calls: [{ tool: 'shell' }] }, { calls: [{ tool: 'shell' }] }, { text: 'x' }],
    })
    await bounded(runtime.run('go'))
    expect(log).toEqual(['sandbox 1', 'sandbox 1'])
    expect(asked.map(({ scope }) => scope)).toEqual(['call', 'unsandboxed', 'unsandboxed'])
  })

  test('without a sandbox there is nothing to escalate', async () => {
    const log: string[] = []
    const { approver, asked } = deciding(() => approve())
    const { runtime } = setup({
      approver,
      tools: [
        confined(log, {
          execute: (_, { confinement, attempt }) => {
            log.push(`${confinement.kind} ${attempt}`)
            return { ok: false, error: { class: 'sandbox', message: 'says so' } }
          },
        }),
      ],
      steps: [{ calls: [{ tool: 'shell' }] }, { text: 'x' }],
    })
    await bounded(runtime.run('go'))
    expect([log, asked.length]).toEqual([['none 1'], 0])
  })

  test('other failures are not escalated, and an outside attempt that fails is not tried a third time', async () => {
    const log: string[] = []
    const { approver } = deciding(() => approve())
    const { runtime } = setup({
      sandbox,
      approver,
      tools: [
        confined(log, {
          execute: (_, { confinement, attempt }) => {
            log.push(`${confinement.kind} ${attempt}`)
            return { ok: false, error: { class: 'sandbox', message: 'still' } }
          },
        }),
        tool('broken', {
          execute: (_, { attempt }) => {
            log.push(`broken ${attempt}`)
            return { ok: false, error: { class: 'network', message: 'gone' } }
          },
        }),
      ],
      steps: [{ calls: [{ tool: 'shell' }, { tool: 'broken' }] }, { text: 'x' }],
    })
    await bounded(runtime.run('go'))
    expect(log).toEqual(['sandbox 1', 'none 2', 'broken 1'])
  })
})

describe('a tool that cannot run here', () => {
  const failure = { class: 'sandbox_unavailable', message: 'box is not installed', remedy: 'Install box.' } as const
  const calls = [{ calls: [{ tool: 'remove', input: { path: 'a' } }] }, { text: 'Done.' }]

  test.each<[string, Setup]>([
    ['with an approval of its own', {}],
    ['that a rule asks about', { config: { approvals: { rules: [{ ask: 'remove' }] } } }],
    ['that a rule allows', { config: { approvals: { rules: [{ allow: 'remove' }] } } }],
  ])('fails at once, and nobody is asked: %s', async (_, more) => {
    const { approver, asked } = deciding(() => approve())
    const seen: unknown[] = []
    const unavailable = (confinement: unknown) => {
      seen.push(confinement)
      return failure
    }
    const sandbox = { confinement: { kind: 'sandbox', name: 'box' } } as const
    const { runtime, model } = setup({ tools: [guarded({ unavailable })], approver, sandbox, steps: calls, ...more })
    expect((await runtime.run('go')).status).toBe('completed')
    expect([asked, got, seen]).toEqual([[], [], [sandbox.confinement]])
    const [told] = resultsIn(model.requests[1])
    expect(told).toMatchObject({ ok: false, content: expect.stringMatching(/sandbox_unavailable.*box is not installed[\s\S]*Install box/) })
  })

  test.each<[string, Tool['unavailable']]>([
    ['says nothing', () => undefined],
    ['throws', () => Promise.reject(new Error('no idea'))],
    ['answers nonsense', () => 'perhaps' as never],
  ])('is asked about like any other where it %s', async (_, unavailable) => {
    const { approver, asked } = deciding(() => approve())
    const { runtime } = setup({
      tools: [guarded({ unavailable: unavailable as NonNullable<Tool['unavailable']> })],
      approver,
      steps: calls,
    })
    expect((await runtime.run('go')).status).toBe('completed')
    expect([asked.length, got]).toEqual([1, [{ path: 'a' }]])
  })
})
