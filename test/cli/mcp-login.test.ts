import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { oauthServer } from '../mcp/oauth-fixture.ts'
import { makeProject, troupeIn, variablesIn } from './in-process.ts'

/** A project with the server `lab`, an agent that calls it, and a browser that approves everything. */
async function project(url: string, auth?: object) {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-mcp-login-'))
  const before = process.cwd()
  onTestFinished(async () => {
    process.chdir(before)
    await rm(folder, { recursive: true })
  })
  await makeProject(folder)
  await mkdir(join(folder, 'bin'))
  const script = `#!/bin/sh\nexec ${process.execPath} -e 'fetch(process.argv[1])' "$1"\n`
  await writeFile(join(folder, 'bin', 'xdg-open'), script)
  chmodSync(join(folder, 'bin', 'xdg-open'), 0o755)
  await writeFile(
    join(folder, '.ai-agent.json'),
    JSON.stringify({ mcpServers: { lab: { url, ...(auth && { auth }), approval: { '*': 'allow' } } } }),
  )
  await writeFile(
    join(folder, 'script.yaml'),
    JSON.stringify({ steps: [{ calls: [{ tool: 'lab__echo', input: {} }] }, { text: 'Done.' }] }),
  )
  await writeFile(join(folder, 'a.ai'), '---\ndescription: x\nmodels: script/script.yaml\ntools: [lab/echo]\n---\nWork.\n')
  const env = { ...variablesIn(folder), PATH: `${join(folder, 'bin')}:${process.env.PATH}`, DISPLAY: ':0' }
  return { tokens: join(folder, 'state', 'troupe', 'mcp-tokens'), troupe: (...words: string[]) => troupeIn(folder, words, env) }
}

it('troupe mcp login and logout', async () => {
  const fixture = await oauthServer()
  const { troupe, tokens } = await project(fixture.url)
  expect(await troupe('mcp', 'login', 'lab')).toMatchObject({ code: 2, stderr: expect.stringMatching(/not trusted.*troupe trust/s) })
  expect(fixture.bearers).toEqual([])
  await troupe('trust', '--all')
  expect(await troupe('mcp', 'login', 'lub')).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean "lab"') })

  const refused = await troupe('run', 'a.ai', 'Go')
  expect(refused.stderr).toContain('troupe mcp login lab')

  const login = await troupe('mcp', 'login', 'lab')
  expect(login).toMatchObject({ code: 0 })
  expect(login.stderr).toMatch(/Log in to lab in the browser.*\n\nhttp:\/\/127\.0\.0\.1:\d+\/authorize\?/)
  expect(login.stdout.split('\n')).toEqual([
    'Logged in to lab, which has 1 tool.',
    `Granted by ${fixture.issuer}: basic`,
    expect.stringMatching(/^Valid until: \d{4}-\d\d-\d\d \d\d:\d\d UTC, renewed automatically$/),
    '',
  ])
  const [file = ''] = readdirSync(tokens)
  expect([statSync(tokens).mode & 0o777, statSync(join(tokens, file)).mode & 0o777]).toEqual([0o700, 0o600])

  const run = await troupe('run', 'a.ai', 'Go', '--json')
  expect(run).toMatchObject({ code: 0 })
  const token = [...fixture.valid.keys()].at(-1) ?? ''
  expect(readFileSync(join(tokens, file), 'utf8')).toContain(token)
  expect(JSON.stringify(run)).not.toContain(token)
  const sessions = await troupe('sessions', 'list', '--json')
  const [{ sessionId = '' } = {}] = JSON.parse(sessions.stdout).sessions
  const shown = await troupe('sessions', 'show', sessionId, '--stream-json')
  expect(shown.stdout).toContain('called with [redacted:MCP_ACCESS_TOKEN]')

  expect(await troupe('mcp', 'logout', 'lab')).toMatchObject({
    code: 0,
    stdout: 'Logged out from lab: the tokens are removed and revoked.\n',
  })
  expect(readdirSync(tokens)).toEqual([])
  expect(await troupe('mcp', 'logout', 'lab', '--json')).toMatchObject({ code: 0, stdout: expect.stringContaining('"kind":"none"') })
})

it('`auth` without a type is that of a person: troupe mcp login uses its client and scopes', async () => {
  const fixture = await oauthServer()
  const { troupe } = await project(fixture.url, { clientId: 'known', scopes: ['own'] })
  await troupe('trust', '--all')
  expect(await troupe('validate', 'a.ai')).toMatchObject({ code: 0 })
  expect(await troupe('mcp', 'login', 'lab')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Granted by ${fixture.issuer}: own`),
  })
  expect(fixture.log).toEqual(['authorize own', 'token authorization_code'])
})
