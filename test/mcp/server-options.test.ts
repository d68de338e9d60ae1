// What a definition says, and what a call can answer.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject, StdioServerDefinition, ToolContext } from '../../src/contracts/index.ts'
import { names, nodeServer, openServer, realServer } from './support.ts'

const modern = (more: Partial<StdioServerDefinition> = {}) => nodeServer(join(import.meta.dirname, 'fixtures/modern-server.mjs'), [], more)
const everything = (more: Partial<StdioServerDefinition> = {}) => nodeServer(realServer('everything'), [], more)
const answering = (content: JsonObject): Pick<ToolContext, 'ask'> => ({ ask: async () => ({ kind: 'accept', text: '', content }) })

describe('the revision of the protocol', () => {
  it.each([
    ['2026-07-28', '2026-07-28'],
    ['auto', '2026-07-28'],
    ['2025-11-25', '2025-11-25'],
    [undefined, '2025-11-25'],
  ] as const)('with `protocol: %s`, a process that speaks both uses %s', async (protocol, expected) => {
    const { source } = openServer(modern(protocol && { protocol }))
    expect(await source.facts()).toMatchObject({ name: 'modern', protocol: expected })
  })
  it('with `protocol: auto`, a process of the older revision uses that', async () => {
    const { source } = openServer(
      nodeServer(join(import.meta.dirname, 'fixtures/hostile-server.mjs'), ['none'], { protocol: 'auto', timeout: 3_000 }),
    )
    expect(await source.facts()).toMatchObject({ protocol: '2025-11-25' })
  })
  it('with `protocol: 2026-07-28`, an older server fails', async () => {
    const { source } = openServer(everything({ protocol: '2026-07-28' }))
    await expect(source.list()).rejects.toMatchObject({ code: 'tools_unavailable' })
  })
})

describe('a server that asks', () => {
  it('by returning gets the answer with its state in a further attempt', async () => {
    const { call } = openServer(modern({ protocol: '2026-07-28' }))
    expect(await call('ask', {}, answering({ city: 'Ulm' }))).toMatchObject({
      ok: true,
      content: '{"where":{"action":"accept","content":{"city":"Ulm"}}} state-1',
    })
  })
  it('without an end is stopped', async () => {
    const { call } = openServer(modern({ protocol: '2026-07-28' }))
    expect(await call('ask-for-ever', {})).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('asked more than 10 times') },
    })
  })
  it('while a call is open gets the answer of that call', async () => {
    const { call } = openServer(everything())
    expect(await call('trigger-elicitation-request', {}, answering({ name: 'Ada' }))).toMatchObject({
      ok: true,
      content: expect.stringContaining('Ada'),
    })
  })
  it('while two calls are open gets no answer: nobody knows whose question it is', async () => {
    const { source, call } = openServer(everything())
    await source.list()
    const cancel = new AbortController()
    const other = call('trigger-long-running-operation', { duration: 60, steps: 600 }, { signal: cancel.signal })
    expect(await call('trigger-elicitation-request', {}, answering({ name: 'Ada' }))).toMatchObject({
      ok: true,
      content: expect.stringContaining('cancel'),
    })
    cancel.abort()
    await other
  })
  it('cannot ask if all sessions share it', async () => {
    const { source } = openServer(everything({ share: 'process' }))
    expect(names(await source.list())).not.toContain('trigger-elicitation-request')
  })
})

it('a change of the tools is reported by a server of the newer revision, too', async () => {
  const { source, call } = openServer(modern({ protocol: '2026-07-28' }))
  await source.list()
  const changed = new Promise<void>((resolve) => source.onChange(resolve))
  await call('grow', {})
  await changed
  expect(names(await source.list())).toEqual(['ask', 'ask-for-ever', 'grow', 'grown'])
})

it('tools, effects and approval follow the definition, not the annotations of the server', async () => {
  const { source } = openServer(
    everything({
      tools: { allow: ['get-*', 'echo'], deny: ['get-env'] },
      effects: { '*': 'idempotent', 'get-*': 'read' },
      approval: { '*': 'allow', echo: 'ask' },
      timeout: 7_000,
    }),
  )
  const tools = await source.list()
  expect(names(tools)).not.toContain('get-env')
  const echo = tools.find(({ name }) => name === 'srv/echo')
  const sum = tools.find(({ name }) => name === 'srv/get-sum')
  expect([echo?.effect, sum?.effect, echo?.timeoutMs]).toEqual(['idempotent', 'read', 7_000])
  expect(await echo?.approval?.({})).toEqual({
    summary: 'Call echo of the MCP server srv',
    keys: [{ key: 'mcp:srv/echo', label: 'srv/echo' }],
    wider: [{ key: 'mcp:srv/', label: 'any tool of the MCP server srv', isPrefix: true }],
  })
  expect(await sum?.approval?.({})).toMatchObject({ asks: false })
  expect(await echo?.view?.({})).toEqual({ type: 'mcp_tool_call', details: { server: 'srv', tool: 'echo' } })
})

it.each(['', 'a__b', '-a', 'a_', 'a/b', 'a'.repeat(41)])('%j is not a name for a server', (name) => {
  expect(() => openServer(everything(), { name })).toThrow(expect.objectContaining({ code: 'config_invalid' }))
})
