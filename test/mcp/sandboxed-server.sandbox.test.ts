// A stdio server with a sandbox policy.
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

  it('is not started where there is no sandbox', async () => {
    const { source } = openServer(server('none'), { host: hostOf({ workspace }) })
    await expect(source.list()).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('there is no sandbox here'),
    })
  })
})
