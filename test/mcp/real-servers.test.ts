// Servers from npm, over all transports.
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { McpServerDefinition } from '../../src/contracts/index.ts'
import { hostOf, names, nodeServer, openServer, realServer, startEverything } from './support.ts'

const running: { stop(): void }[] = []
const definitions: { [kind: string]: McpServerDefinition } = { stdio: nodeServer(realServer('everything')) }

beforeAll(async () => {
  const [http, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')])
  running.push(http, sse)
  definitions.http = { type: 'http', url: http.url }
  definitions.sse = { type: 'sse', url: sse.url }
  definitions['a URL'] = { type: 'auto', url: sse.url }
})
afterAll(() => {
  for (const each of running) each.stop()
})

describe.each(['stdio', 'http', 'sse', 'a URL'])('server-everything over %s', (kind) => {
  it('lists tools, returns every kind of content, shows progress, and asks', async () => {
    const { source, reports, call } = openServer(definitions[kind] as McpServerDefinition)
    const tools = await source.list()
    expect(names(tools)).toEqual(
      expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image', 'read_resource', 'trigger-elicitation-request']),
    )
    expect(source.instructions()).toMatch(/^Instructions of the MCP server srv:\n/)
    expect(reports).toEqual([
      {
        code: 'tool_invalid',
        severity: 'warning',
        message: 'A tool of the MCP server "srv" is left out: simulate-research-query: it can be called as a task only',
      },
    ])
    expect(tools.find(({ name }) => name === 'srv/echo')).toMatchObject({ namespace: 'srv', effect: 'write', timeoutMs: 60_000 })
    expect(await call('echo', { message: 'hello' })).toEqual({ ok: true, content: 'Echo: hello' })
    expect(await call('get-structured-content', { location: 'Chicago' })).toMatchObject({
      ok: true,
      value: { conditions: expect.any(String) },
    })
    expect(await call('get-tiny-image', {})).toMatchObject({
      ok: true,
      parts: [{ type: 'text' }, { type: 'image', mediaType: 'image/png', data: expect.any(Uint8Array) }, { type: 'text' }],
    })
    expect(await call('get-resource-links', { count: 1 })).toMatchObject({ ok: true, parts: [{ type: 'text' }, { type: 'link' }] })
    expect(await call('get-resource-reference', { resourceType: 'Blob', resourceId: 2 })).toMatchObject({
      parts: [{ type: 'text' }, { type: 'file', name: 'demo://resource/dynamic/blob/2' }, { type: 'text' }],
    })
    const progress: string[] = []
    const long = { duration: 0.2, steps: 2 }
    expect(await call('trigger-long-running-operation', long, { progress: (text) => progress.push(text) })).toMatchObject({ ok: true })
    expect(progress).toContain('1/2')
    expect(await call('trigger-elicitation-request', {})).toMatchObject({ ok: true, content: expect.stringContaining('cancel') })
    expect(await call('get-roots-list', {})).toMatchObject({ content: expect.stringContaining(import.meta.dirname) })
    expect(await call('read_resource', { uri: 'demo://resource/static/document/features.md' })).toMatchObject({
      ok: true,
      content: expect.stringContaining('[demo://resource/static/document/features.md]'),
    })
    expect(await call('read_resource', {})).toMatchObject({
      content: expect.stringContaining('demo://resource/dynamic/text/{resourceId} (template'),
    })
    expect((await source.prompts()).find(({ name }) => name === 'args-prompt')?.arguments).toMatchObject([
      { name: 'city', required: true },
      { name: 'state', required: false },
    ])
    expect(await source.prompt('args-prompt', { city: 'Ulm' })).toEqual([{ role: 'user', text: "What's weather in Ulm?" }])
    expect(await source.facts()).toMatchObject({ name: 'mcp-servers/everything', protocol: '2025-11-25' })
  })

  it('a call ends when it is cancelled, and the next one works', async () => {
    const { call } = openServer(definitions[kind] as McpServerDefinition)
    const cancel = new AbortController()
    const started = performance.now()
    const ended = call(
      'trigger-long-running-operation',
      { duration: 20, steps: 200 },
      { signal: cancel.signal, progress: () => cancel.abort() },
    )
    expect(await ended).toMatchObject({ ok: false, error: { class: 'cancelled' } })
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(await call('get-sum', { a: 1, b: 2 })).toMatchObject({ ok: true })
  })
})

describe('a folder', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-mcp-')))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('server-filesystem works in the workspace, which is its root', async () => {
    const { call } = openServer(nodeServer(realServer('filesystem'), ['.']), { host: hostOf({ workspace: folder }) })
    expect(await call('write_file', { path: join(folder, 'a.txt'), content: 'text' })).toMatchObject({ ok: true })
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('text')
    expect(await call('read_text_file', { path: join(folder, 'a.txt') })).toMatchObject({ ok: true, content: 'text' })
    expect(await call('read_text_file', { path: '/etc/hostname' })).toMatchObject({ ok: false, error: { class: 'failed' } })
  })

  it('server-memory gets its own variables, filled in from the overlay', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder
    const definition = nodeServer(realServer('memory'), [], { env: { MEMORY_FILE_PATH: '${STATE}/memory.json' } } as never)
    const { call } = openServer(definition, { overlay: { STATE: folder } })
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote programs'] }]
    expect(await call('create_entities', { entities })).toMatchObject({ ok: true, value: { entities } })
    expect(readFileSync(join(folder, 'memory.json'), 'utf8')).toContain('Ada')
    expect(await call('search_nodes', { query: 'program' })).toMatchObject({ ok: true, value: { entities } })
  })
})
