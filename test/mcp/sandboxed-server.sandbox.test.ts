// A stdio server with a sandbox policy.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { processSandbox } from '../../src/tools/sandbox/index.ts'
import { noSandboxHere, sandboxed } from '../sandbox-here.ts'
import { hostOf, nodeServer, openServer, realClock } from './support.ts'

describe.skipIf(noSandboxHere)(sandboxed('a server with a sandbox policy'), () => {
  const [workspace, outside] = ['workspace', 'outside'].map((name) => realpathSync(mkdtempSync(join(tmpdir(), `troupe-mcp-${name}-`)))) as [
    string,
    string,
  ]
  afterAll(() => {
    for (const folder of [workspace, outside]) rmSync(folder, { recursive: true, force: true })
  })
  const sandbox = processSandbox({ root: workspace, path: process.env.PATH ?? '', home: process.env.HOME ?? '/root', clock: realClock })
  /** A copy in the workspace: the sandbox may not show where the tests are. */
  const script = join(workspace, 'server.mjs')
  copyFileSync(join(import.meta.dirname, 'fixtures/hostile-server.mjs'), script)
  const server = (mode: string) => nodeServer(script, [mode], { sandbox: {} } as never)

  it.each([
    ['read-file', () => join(workspace, 'in.txt'), { ok: true, content: 'inside' }],
    ['write-file', () => join(workspace, 'new.txt'), { ok: true }],
    ['read-file', () => join(outside, 'out.txt'), { ok: false }],
    ['write-file', () => '/usr/troupe', { ok: false }],
  ])('%s', async (mode, path, expected) => {
    writeFileSync(join(workspace, 'in.txt'), 'inside')
    writeFileSync(join(outside, 'out.txt'), 'outside')
    const { call } = openServer(server(mode), { host: hostOf({ workspace, sandbox }) })
    expect(await call('call', { path: path() })).toMatchObject(expected)
  })

  it.each([
    ['without a network', {}],
    ['with a network', { hosts: ['example.org'] }],
  ])('does not keep a program alive that never closes its runtime, %s', (_, policy) => {
    const mcpServers = { srv: { command: process.execPath, args: [script, 'read-file'], approval: { '*': 'allow' }, sandbox: policy } }
    const agents = [{ name: 'clerk', description: 'Reads', prompt: 'You read.', model: 'any' }]
    const steps = [{ calls: [{ tool: 'srv__call', input: { path: join(workspace, 'in.txt') } }] }, { text: 'Done.' }]
    writeFileSync(join(workspace, 'in.txt'), 'inside')
    const program = `
      import { createAgentRuntime } from 'troupe'
      import { processSandbox } from 'troupe/tools'
      import { ScriptedModel } from 'troupe/testing'
      const adapter = new ScriptedModel(${JSON.stringify(steps)})
      const mcp = { workspace: ${JSON.stringify(workspace)}, sandbox: processSandbox({ root: ${JSON.stringify(workspace)} }) }
      const runtime = createAgentRuntime({ config: ${JSON.stringify({ agents, mcpServers })}, adapter, mcp })
      const { status } = await runtime.run('Read it')
      process.stdout.write(JSON.stringify([status, adapter.requests[1].messages.at(-1)]))`
    const run = { cwd: import.meta.dirname, encoding: 'utf8', timeout: 30_000 } as const
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], run)
    expect(printed).toContain('"completed"')
    expect(printed).toContain('inside')
  })

  it('is not started where there is no sandbox', async () => {
    const { source } = openServer(server('none'), { host: hostOf({ workspace }) })
    await expect(source.list()).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('there is no sandbox here'),
    })
  })
})
