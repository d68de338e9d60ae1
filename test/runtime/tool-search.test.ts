import { expect, it } from 'vitest'
import type { ApprovalRule, SessionToolSource, Tool } from '../../src/index.ts'
import { bounded, objectSchema, resultsIn, tool, world } from '../acceptance/support.ts'

const created: string[] = []
const createIssue: Tool = {
  ...tool('hub/create_issue', { schema: objectSchema({ title: { type: 'string' } }, ['title']), namespace: 'hub' }),
  description: 'Creates an issue in a repository.',
  concurrency: { key: ({ title }) => String(title) },
  approval: ({ title }) => ({ summary: `Create "${title}"`, keys: [{ key: `issue:${title}`, label: String(title) }] }),
  view: () => ({ type: 'mcp_tool_call', details: { server: 'hub', tool: 'create_issue' } }),
  execute: ({ title }) => `created ${created.push(String(title)) && title}`,
}
const source = (name: string, tools: readonly Tool[]): SessionToolSource => ({ name, open: () => ({ list: async () => tools }) })
const many = (name: string, count: number): SessionToolSource =>
  source(
    name,
    Array.from({ length: count }, (_, index) => ({
      ...tool(`${name}/tool_${index}`, { namespace: name }),
      description: `Does thing ${index} of ${name}. ${'It has a long description. '.repeat(20)}`,
    })),
  )
const hub = source('hub', [createIssue])
const sent = (request: { readonly tools: readonly { readonly name: string }[] } | undefined) => request?.tools.map(({ name }) => name)

it('tools beyond a share of the prompt are found by search instead of being sent', async () => {
  const { runtime, model } = world({
    config: { tools: [tool('local'), hub, many('big', 200)] },
    steps: [{ calls: [{ tool: 'find_tools', input: { query: 'create an issue' } }] }, { text: 'Done.' }],
  })
  await bounded(runtime.run('go'))
  expect(sent(model.requests[0])).toEqual(['find_tools', 'local', 'use_tool'])
  const found = JSON.stringify(model.requests[1]?.messages.at(-1))
  expect(found).toContain('hub__create_issue: Creates an issue in a repository.')
  expect(found).toContain('title')
})

it('few tools are sent, and the configuration can decide', async () => {
  const few = world({ config: { tools: [hub] }, steps: [{ text: 'Done.' }] })
  await bounded(few.runtime.run('go'))
  expect(sent(few.model.requests[0])).toEqual(['hub__create_issue'])
  const searched = world({ config: { tools: [hub], toolsOffered: 'search' }, steps: [{ text: 'Done.' }] })
  await bounded(searched.runtime.run('go'))
  expect(sent(searched.model.requests[0])).toEqual(['find_tools', 'use_tool'])
  const each = world({ config: { tools: [many('big', 200)], toolsOffered: 'each' }, steps: [{ text: 'Done.' }] })
  await bounded(each.runtime.run('go'))
  expect(sent(each.model.requests[0])).toHaveLength(200)
})

it('use_tool is a call of its target: rules, approval, lane, view and name are those of the target', async () => {
  const asked: unknown[] = []
  const { runtime } = world({
    config: { tools: [hub], toolsOffered: 'search', approvals: { rules: [{ deny: 'hub__create_issue(secret)' }] } },
    approver: {
      decide: ({ tool: name, summary, input, lane }) => {
        asked.push({ name, summary, input, lane })
        return { decision: { kind: 'approve', breadth: 'once' }, by: 'test' }
      },
    },
    steps: [
      { calls: [{ tool: 'use_tool', input: { tool: 'hub__create_issue', input: '{"title":"a"}', reason: 'It is needed' } }] },
      { calls: [{ tool: 'use_tool', input: { tool: 'hub__create_issue', input: { title: 'secret' } } }] },
      { calls: [{ tool: 'use_tool', input: { tool: 'hub__create_issue', input: {} } }] },
      { calls: [{ tool: 'use_tool', input: { tool: 'hub__create_isue', input: {} } }] },
      { text: 'Done.' },
    ],
  })
  const handle = runtime.stream('go')
  const items = []
  for await (const event of handle)
    if (
      'seq' in event &&
      (event.type === 'interaction.item.started' || event.type === 'interaction.item.completed') &&
      event.item.kind === 'call'
    )
      items.push(event.item)
  expect(created).toEqual(['a'])
  expect(asked).toEqual([{ name: 'hub__create_issue', summary: 'Create "a"', input: { title: 'a' }, lane: { kind: 'key', key: 'a' } }])
  expect(items[0]).toMatchObject({ tool: 'hub__create_issue', type: 'mcp_tool_call', title: 'It is needed', details: { server: 'hub' } })
  expect(items.flatMap((item) => ('status' in item ? [[item.status, item.content]] : []))).toMatchObject([
    ['completed', 'created a'],
    ['declined', expect.any(String)],
    ['failed', expect.stringContaining('title')],
    ['failed', expect.stringContaining('hub__create_issue')],
  ])
})

it('a rule for find_tools applies; one for use_tool is refused with the right form', async () => {
  const rules = (...rules: readonly ApprovalRule[]) => ({ tools: [hub], toolsOffered: 'search', approvals: { rules } }) as const
  const { runtime, model } = world({
    config: rules({ deny: 'find_tools', reason: 'No search' }),
    steps: [{ calls: [{ tool: 'find_tools', input: {} }] }, { text: 'Done.' }],
  })
  await bounded(runtime.run('go'))
  expect(resultsIn(model.requests[1])[0]?.content).toContain('No search')
  for (const pattern of ['use_tool', 'use_tool(hub__create_issue)'])
    expect(() => world({ config: rules({ deny: pattern }), steps: [] })).toThrow(
      /`use_tool` matches nothing: a call of it is a call of the tool that it names.*`server\/tool`/s,
    )
})
