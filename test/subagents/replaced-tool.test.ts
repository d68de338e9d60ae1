import { describe, expect, it } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { resultsOf, team } from './team.ts'

// A tool of the configuration that replaces the generated tool of an agent.

const consult: Tool = {
  name: 'agent__scout',
  description: 'Consults the scout twice.',
  inputSchema: { type: 'object', properties: { task: { type: 'string' }, context: { type: 'object' } }, required: ['task'] },
  effect: 'idempotent',
  timeoutMs: Number.POSITIVE_INFINITY,
  async execute({ task }, { startChild }) {
    const result = await startChild({ agent: 'scout', input: [{ type: 'text', text: `consult: ${task}` }] })
    return result.kind === 'refused' ? result.failure.message : `own(${result.report?.text})`
  },
}

const scout = { script: () => ({ text: 'seen' }) }

describe.each(['each', 'directory'] as const)('with children offered as %s', (childrenOffered) => {
  const call = {
    each: { tool: 'agent__scout', input: { task: 'Look' } },
    directory: { tool: 'delegate_task', input: { agent: 'scout', prompt: 'Look' } },
  }[childrenOffered]

  const other = {
    each: { tool: 'agent__other', input: { prompt: 'x' } },
    directory: { tool: 'delegate_task', input: { agent: 'other', prompt: 'x' } },
  }[childrenOffered]

  it('the tool replaces the one of the agent, for its callers only', async () => {
    const offered: Record<string, readonly string[]> = {}
    const { run } = team(
      {
        boss: {
          agents: ['scout', 'other'],
          tools: [],
          script: (request, step) => {
            offered.boss = request.tools.map(({ name }) => name)
            if (step === 1) return { calls: [call, { tool: 'find_agents' }].slice(0, childrenOffered === 'each' ? 1 : 2) }
            if (step === 2) return { calls: [other] }
            return { text: resultsOf(request).join(' | ') }
          },
        },
        scout,
        other: {
          tools: ['*'],
          script: (request) => {
            offered.other = request.tools.map(({ name }) => name)
            return { text: 'other' }
          },
        },
      },
      { tools: [consult], config: { childrenOffered } },
    )
    const { outcome, events } = await run()
    expect(outcome.report?.text).toMatch(/^own\(seen\)/)
    expect(offered.boss?.includes('agent__scout')).toBe(childrenOffered === 'each')
    expect(offered.other).toEqual([])
    if (childrenOffered === 'directory') expect(outcome.report?.text).toContain('scout: Consults the scout twice. (input: {"type":"object"')
    const started = events.find((event) => event.type === 'interaction.item.started' && event.item.kind === 'call')
    expect(started).toMatchObject({ item: { tool: 'agent__scout', effect: 'idempotent', input: { task: 'Look' } } })
  })
})

it('only the exact name replaces: another spelling for models collides', () => {
  const wrong = { ...consult, name: 'agent.scout' }
  expect(() => team({ boss: { agents: ['scout'], script: scout.script }, scout }, { tools: [wrong] })).toThrow(/same name for models/)
})

it('a tool with controlsChildren spawns children for an agent without childControl', async () => {
  const spawner: Tool = {
    ...consult,
    controlsChildren: true,
    async execute(_, { children }) {
      const spawned = await children?.spawn({ agent: 'scout', input: [{ type: 'text', text: 'go' }] })
      if (!spawned || 'kind' in spawned) return 'refused'
      const waited = await children?.wait({ ids: [spawned.id] })
      return Array.isArray(waited) ? `${spawned.id}: ${waited[0]?.result?.report?.text}` : 'refused'
    },
  }
  const offered: string[] = []
  const { run } = team(
    {
      boss: {
        agents: ['scout'],
        script: (request, step) => {
          offered.push(...request.tools.map(({ name }) => name))
          return step === 1 ? { calls: [{ tool: 'agent__scout', input: { task: 'x' } }] } : { text: resultsOf(request).join() }
        },
      },
      scout,
    },
    { tools: [spawner] },
  )
  expect((await run()).outcome.report?.text).toBe('scout#1: seen')
  expect(offered).not.toContain('spawn_agent')
})

it('a call can start, sample and spawn children: each has an id of its own', async () => {
  const input = [{ type: 'text', text: 'go' }] as const
  const mixed: Tool = {
    ...consult,
    controlsChildren: true,
    async execute(_, { startChild, sample, children }) {
      const sampled = await sample({ messages: [{ role: 'user', parts: input }] })
      const started = await startChild({ agent: 'scout', input })
      const spawned = await children?.spawn({ agent: 'scout', input })
      const again = await children?.spawn({ agent: 'scout', input })
      const last = await startChild({ agent: 'scout', input })
      return [sampled.ok, started.kind, spawned && 'id' in spawned && spawned.id, again && 'id' in again && again.id, last.kind].join()
    },
  }
  const { run } = team(
    {
      boss: {
        agents: ['scout'],
        script: (request, step) =>
          request.tools.length > 0 && step === 1
            ? { calls: [{ tool: 'agent__scout', input: { task: 'x' } }] }
            : { text: resultsOf(request).at(0) ?? 'sampled' },
      },
      scout,
    },
    { tools: [mixed], config: { approvals: { name: 'test', rules: [{ allow: 'sampling(*)' }] } } },
  )
  const { outcome, events } = await run()
  expect(outcome.report?.text).toMatch(/^true,ended,scout#2,scout#2,ended/)
  const created = events.filter(({ type }) => type === 'interaction.session.created').map(({ sessionId }) => sessionId.split('/')[1])
  expect(created).toEqual([undefined, 't1.s1.1~s1', 't1.s1.1', 't1.s1.1~2', 't1.s1.1~3'])
})
