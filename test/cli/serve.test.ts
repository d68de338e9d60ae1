import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { codeBlocks, commandWords, readPage } from '../documentation.ts'
import { request as rawRequest } from '../server/raw-request.ts'
import { agentText, type Served, serveScene } from './serve-scene.ts'

const scene = await serveScene()
await scene.put('clerk.ai', agentText('Version one.', 'tools: [write_file]\n'))
await scene.put('boss.ai', agentText('You lead.', 'agents: [./helper.ai]\n'))
await scene.put('helper.ai', agentText('You help.', 'output: { format: text }\n'))
let served: Served
beforeAll(async () => {
  served = await scene.serve()
})
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
const json = async (path: string, options?: Parameters<Served['fetch']>[1]): Promise<any> => (await served.fetch(path, options)).json()
const names = async (): Promise<readonly string[]> => (await json('/v1/agents')).agents.map(({ name }: { name: string }) => name)
const troupe = scene.troupe

test('the agents of the folder are served with every protocol, their children are not', async () => {
  expect(await names()).toEqual(['boss', 'clerk'])
  expect(await json('/v1/clerk', { json: { input: 'Hello' } })).toMatchObject({ status: 'completed', text: 'You said: Hello' })
  expect((await served.fetch('/v1/helper?q=x')).status).toBe(404)
  const messages = [{ role: 'user', content: 'Hello' }]
  expect(await json('/v1/chat/completions', { json: { model: 'clerk', messages } })).toMatchObject({
    choices: [{ message: { content: 'You said: Hello' } }],
  })
  expect(await json('/v1/messages', { json: { model: 'clerk', messages, max_tokens: 99 } })).toMatchObject({
    content: [{ type: 'text', text: 'You said: Hello' }],
  })
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '0' } }
  const mcp = await served.fetch('/mcp', {
    json: { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize },
    headers: { accept: 'application/json, text/event-stream' },
  })
  expect([mcp.status, await mcp.text()]).toEqual([200, expect.stringContaining('"serverInfo"')])
  expect(await (await served.fetch('/metrics')).text()).toContain('troupe_turns_total{agent="clerk",status="completed"}')
})

test('the commands of the guide work', async () => {
  const shell = codeBlocks(readPage('docs/serve.md')).filter(({ language }) => language === 'sh')
  const lines = shell.flatMap(({ text }) => text.trim().split('\n'))
  const curls = lines.filter((line) => line.startsWith('curl '))
  const statuses = await Promise.all(curls.map((line) => curl(line.replaceAll('http://127.0.0.1:3900', served.url))))
  expect(statuses).toEqual([200, 200, 200, 201, 200, 200, 200])
  const commands = lines.filter((line) => line.startsWith('troupe '))
  expect(commands.length).toBeGreaterThan(3)
  for (const line of commands) expect(await troupe(commandWords(line).slice(1))).toMatchObject({ code: 0 })
})

/** With the flags that the guide uses. */
async function curl(line: string): Promise<number> {
  const [, url = '', ...flags] = commandWords(line).map((word) => word.replaceAll('$TOKEN', served.token))
  const valuesOf = (flag: string) => flags.flatMap((word, index) => (flags[index - 1] === flag ? [word] : []))
  const headers = valuesOf('-H').map((header) => header.split(': ') as [string, string])
  const [body] = valuesOf('-d')
  const response = await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) })
  await response.text()
  return response.status
}

test('the token is in a file that only the user can read', async () => {
  const { mode } = await stat(join(scene.folder, 'state/troupe/local-token'))
  expect(mode & 0o777).toBe(0o600)
  expect((await served.fetch('/v1/agents', { token: `${served.token}x` })).status).toBe(401)
})

test('another Host or Origin is refused', async () => {
  const status = async (headers: Record<string, string>) =>
    (await rawRequest(`${served.url}/v1/agents`, { headers: { authorization: `Bearer ${served.token}`, ...headers } })).status
  expect(await status({})).toBe(200)
  expect(await status({ host: 'evil.example' })).toBe(403)
  expect(await status({ origin: 'https://evil.example' })).toBe(403)
})

test('each request is one line of the log, without queries and tokens', async () => {
  const response = await served.fetch('/v1/clerk?q=secret-question')
  const { sessionId } = (await response.json()) as { sessionId: string }
  const line = served
    .log()
    .split('\n')
    .find((each) => each.includes(sessionId))
  expect(JSON.parse(line ?? '{}')).toEqual({
    ...{ time: expect.any(String), level: 'info', msg: 'request', method: 'GET', path: '/v1/clerk', route: '/v1/:agent', headend: 'rest' },
    ...{ status: 200, principal: 'local', sessionId, requestId: response.headers.get('x-request-id'), durationMs: expect.any(Number) },
  })
  expect(served.log()).not.toMatch(/secret-question|trp_/)
})

describe('tokens', () => {
  test('are valid at once, for their agents and scopes, until they are revoked', async () => {
    const created = await troupe(['token', 'create', '--name', 'ci', '--agents', 'boss', '--scopes', 'run', '--rate', '3/day'])
    expect(created).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^trp_ci_[\w-]{32}\n$/),
      stderr: expect.stringContaining('only time'),
    })
    const token = created.stdout.trim()
    expect((await served.fetch('/v1/boss?q=x', { token })).status).toBe(200)
    expect((await served.fetch('/v1/clerk?q=x', { token })).status).toBe(404)
    expect((await served.fetch('/v1/agents', { token })).status).toBe(403)
    expect((await served.fetch('/v1/boss?q=x', { token })).status).toBe(200)
    expect((await served.fetch('/v1/boss?q=x', { token })).status).toBe(429)
    expect((await troupe(['token', 'list'])).stdout).toMatch(/ci {2}run · agents boss · 3 requests\/day · created /)
    expect((await troupe(['token', 'revoke', 'ci'])).code).toBe(0)
    expect((await served.fetch('/v1/boss?q=x', { token })).status).toBe(401)
    const audit = JSON.parse((await troupe(['audit', '--json', '--since', '1h'])).stdout)
    expect(audit.entries.slice(-2)).toMatchObject([
      { by: 'local', action: 'token.create', token: 'ci', scopes: 'run' },
      { by: 'local', action: 'token.revoke', token: 'ci' },
    ])
    expect(JSON.parse((await troupe(['audit', '--json', '--since', '2999-01-01'])).stdout).entries).toEqual([])
  })
})

test('the budget of a token bounds all its sessions', async () => {
  const created = await troupe(['token', 'create', '--name', 'poor', '--budget', '5000tokens/day', '--json'])
  const { token } = JSON.parse(created.stdout) as { token: string }
  scene.reply = () => ({ text: 'An expensive answer.', tokens: 5_000 })
  expect((await served.fetch('/v1/boss?q=x', { token })).status).toBe(200)
  const refused = await served.fetch('/v1/boss?q=x', { token })
  expect([refused.status, await refused.json()]).toMatchObject([429, { error: { code: 'budget_exhausted' } }])
  expect((await served.fetch('/v1/boss?q=x')).status).toBe(200)
})

describe('a changed file', () => {
  const promptNow = async (): Promise<unknown> => {
    scene.reply = ({ system }) => ({ text: system })
    return (await json('/v1/clerk?q=x')).text
  }

  test('takes effect with the next turn; an invalid one is reported and changes nothing', async () => {
    expect(await promptNow()).toContain('Version one.')
    await served.after(() => scene.put('clerk.ai', agentText('Version two.')), 'Reloaded')
    expect(await promptNow()).toContain('Version two.')
    const broken = agentText('Version three.', 'modls: x\n')
    const leaving = new AbortController()
    const { body } = await served.fetch('/v1/watch', { signal: leaving.signal })
    const heard = (async () => {
      let text = ''
      for await (const piece of body!.pipeThrough(new TextDecoderStream())) {
        text += piece
        if (text.includes('server.changed')) return 'server.changed'
      }
      return text
    })()
    await served.after(() => scene.put('clerk.ai', broken), 'Not reloaded: clerk.ai:5:1: Unknown key `modls`')
    expect(await promptNow()).toContain('Version two.')
    const ready = await served.fetch('/ready')
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      { status: 'ready', warnings: [expect.stringContaining('clerk.ai:5:1')] },
    ])
    // An open page hears of it.
    expect(await heard).toBe('server.changed')
    expect(await json('/v1/status')).toMatchObject({ warnings: [expect.stringContaining('clerk.ai:5:1')] })
    leaving.abort()
  })

  test('that lists a tool that cannot exist is refused at the start, and changes nothing while it runs', async () => {
    const wrong = agentText('You answer.', 'tools: [libary/find]\n')
    await served.after(() => scene.put('clerk.ai', wrong), 'Not reloaded: clerk.ai:5:9: `libary/find` matches nothing')
    expect(await promptNow()).toContain('Version two.')
    const refused = await scene.start(['serve', '--port', '0']).ended
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('clerk.ai:5:9')])
    const optional = agentText('Version two.', 'tools: ["libary/find?"]\n')
    await served.after(() => scene.put('clerk.ai', optional), 'Reloaded')
  })

  test('adds and removes agents; included files are watched; names of routes are refused', async () => {
    await scene.put('rules.md', 'Rule one.')
    await scene.put('output.json', '{}')
    await scene.put('clerk.ai', agentText('{% include "rules.md" %}'))
    await served.after(() => scene.put('extra.ai', agentText('Extra.')), 'Agents: boss, clerk, extra.')
    expect(await names()).toEqual(['boss', 'clerk', 'extra'])
    await served.after(() => scene.put('rules.md', 'Rule two.'), 'Reloaded')
    expect(await promptNow()).toContain('Rule two.')
    await served.after(() => scene.put('sessions.ai', agentText('A route.')), 'cannot be served: /v1/sessions is a route')
    await scene.remove('sessions.ai')
    await served.after(() => scene.remove('extra.ai'), 'Agents: boss, clerk."')
    expect(await names()).toEqual(['boss', 'clerk'])
    expect(await (await served.fetch('/ready')).json()).toEqual({ status: 'ready' })
  })
})

test('a call that needs approval suspends the session until somebody answers, from anywhere', async () => {
  await served.after(() => scene.put('clerk.ai', agentText('You write.', 'tools: [write_file]\n')), 'Reloaded')
  scene.reply = ({ last }) =>
    last === 'Write' ? { call: { name: 'write_file', input: { path: 'note.txt', content: 'x', reason: 'asked' } } } : { text: 'Written.' }
  const response = await served.fetch('/v1/clerk?q=Write')
  expect(response.status).toBe(202)
  const { sessionId, approvals } = (await response.json()) as { sessionId: string; approvals: readonly { id: string }[] }
  expect(approvals).toHaveLength(1)
  expect((await troupe(['sessions', 'list'])).stdout).toMatch(
    new RegExp(`${sessionId}  clerk  waiting for an answer\n  troupe serve · .*\n  troupe serve\n`),
  )
  const answered = await troupe(['approvals', 'answer', sessionId, 'yes'])
  expect(answered).toMatchObject({ code: 0, stderr: expect.stringContaining('A running troupe serve of its folder continues the session') })
  expect(await untilTurnEnds(sessionId)).toContain('interaction.turn.completed')
  expect(await json(`/v1/sessions/${sessionId}`)).toMatchObject({ session: { status: 'completed' } })
  const { entries } = JSON.parse((await troupe(['audit', '--json'])).stdout)
  expect(entries.at(-1)).toMatchObject({ by: 'local', action: 'approval.approve', sessionId, breadth: 'once' })
})

async function untilTurnEnds(sessionId: string): Promise<string> {
  const events = await served.fetch(`/v1/sessions/${sessionId}/events?until=closed`, { headers: { accept: 'text/event-stream' } })
  let text = ''
  for await (const chunk of events.body ?? []) {
    text += new TextDecoder().decode(chunk)
    if (/event: interaction\.turn\.(?:completed|failed)/.test(text)) break
  }
  return text
}
