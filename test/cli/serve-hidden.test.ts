import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { connect } from '../server/mcp-clients.ts'
import { openChat } from '../web/chat-page.ts'
import { agentText, type Served, serveScene } from './serve-scene.ts'

// What a token without `admin` reads: every byte of every route, while a session waits and after its turn.

const scene = await serveScene()
const pasted = `trp_someone-else_${'aB3_-xyz'.repeat(4)}`
let served: Served
let token = ''
let sessionId = ''
const seen = { plain: new Map<string, string>(), admin: new Map<string, string>() }

const marks = { folder: scene.folder, prompt: 'PROMPT-MARK', rules: 'RULE-MARK', token: pasted }
const found = (texts: ReadonlyMap<string, string>, mark: string) =>
  [...texts].filter(([, text]) => text.includes(mark)).map(([path]) => path)

const calls = [
  { name: 'read_file', input: { path: 'a.txt', reason: 'look' } },
  { name: 'read_file', input: { path: '/elsewhere/x.txt', reason: 'outside' } },
  { name: 'agent__clerk', input: { prompt: `Use ${pasted}`, reason: 'ask' } },
  { name: 'write_file', input: { path: 'b.txt', content: pasted, reason: 'keep it' } },
  { name: 'shell', input: { command: 'pwd', reason: 'where' } },
]

/** Reads every route that can be read, and streams until the turn ends. */
async function readAll(when: string): Promise<void> {
  const document = (await (await served.fetch('/openapi.json')).json()) as { readonly paths: { readonly [path: string]: object } }
  const paths = Object.entries(document.paths).flatMap(([path, methods]) =>
    'get' in methods && !/agent\}$|watch|mcp/.test(path) ? [path] : [],
  )
  expect(paths.length).toBeGreaterThan(12)
  const streams = ['/v1/sessions/{id}/events?until=turn', '/v1/agents/boss', '/ready']
  for (const [texts, options] of [
    [seen.plain, { token }],
    [seen.admin, {}],
  ] as const) {
    for (const path of [...paths, ...streams]) {
      const accept = path.includes('until') ? { headers: { accept: 'text/event-stream' } } : {}
      const response = await served.fetch(path.replace('{id}', sessionId).replaceAll(/\{\w+\}/g, 'x'), { ...options, ...accept })
      texts.set(`${when} ${path}`, await response.text())
    }
    const leaving = new AbortController()
    const watched = await served.fetch(`/v1/watch?session=${sessionId}`, { ...options, signal: leaving.signal })
    let text = ''
    for await (const piece of watched.body!.pipeThrough(new TextDecoderStream())) {
      text += piece
      if (text.includes('turn.suspended') || text.includes('turn.completed')) break
    }
    leaving.abort()
    texts.set(`${when} watch`, text)
  }
}

beforeAll(async () => {
  await scene.put('AGENTS.md', 'RULE-MARK: be kind.')
  await scene.put('a.txt', `The token is ${pasted}`)
  await scene.put('.agents/skills/fold/SKILL.md', '---\nname: fold\ndescription: Folds paper\n---\nFold.\n')
  const tools = 'tools: [read_file, write_file, shell]\nskills: [fold]\nagents: [./clerk.ai]\n'
  await scene.put('boss.ai', agentText('PROMPT-MARK boss.', tools))
  await scene.put('clerk.ai', agentText('PROMPT-MARK clerk.', 'output: { format: markdown }\n'))
  served = await scene.serve()
  const created = await scene.troupe(['token', 'create', '--name', 'ci', '--scopes', 'run,read,approve', '--json'])
  token = JSON.parse(created.stdout).token
  const left = [...calls]
  scene.reply = ({ system }) => {
    const call = system.includes('clerk') ? undefined : left.shift()
    return call ? { call } : { text: `Done. ${pasted}` }
  }
  const started = await served.fetch('/v1/sessions', { token, json: { agent: 'boss', input: `My token is ${pasted}`, clientId: 'c' } })
  sessionId = ((await started.json()) as { sessionId: string }).sessionId
  await (await served.fetch(`/v1/sessions/${sessionId}/events?until=turn`, { headers: { accept: 'text/event-stream' } })).text()
  await readAll('waiting')
  await answerLikeThePage()
  await (await served.fetch(`/v1/sessions/${sessionId}/events?until=turn`, { headers: { accept: 'text/event-stream' } })).text()
  await readAll('ended')
})
afterAll(async () => {
  served?.process.kill('SIGTERM')
  await served?.ended
})

/** With a key that the token has read: it is the key of the request again when it comes back. */
async function answerLikeThePage(): Promise<void> {
  const { approvals } = (await (await served.fetch(`/v1/sessions/${sessionId}/approvals`, { token })).json()) as {
    readonly approvals: readonly { readonly id: string; readonly wider: readonly { readonly key: string }[] }[]
  }
  const [request] = approvals
  const answer = (decision: object) => served.fetch(`/v1/sessions/${sessionId}/approvals/${request?.id}`, { token, json: decision })
  const [wider] = request?.wider ?? []
  expect(wider?.key).toBe('path:<workspace>/')
  const decision = { kind: 'approve', breadth: 'session', key: wider?.key }
  for (const status of [202, 200]) {
    const answered = await answer(decision)
    seen.plain.set(`answer ${status}`, await answered.text())
    expect(answered.status).toBe(status)
  }
  const other = await answer({ kind: 'deny', feedback: pasted })
  seen.plain.set('answer 409', await other.text())
  expect(other.status).toBe(409)
}

test('contains no absolute path, no prompt and no project instructions; with admin it does', () => {
  for (const mark of [marks.folder, marks.prompt, marks.rules]) {
    expect(found(seen.plain, mark)).toEqual([])
    expect(found(seen.admin, mark)).toContain('ended /v1/sessions/{id}/events')
  }
  expect(seen.plain.get('ended /v1/sessions/{id}/events')).toContain('is outside the workspace <workspace>.')
  expect(seen.plain.get('ended /v1/sessions/{id}')).toContain('"status":"completed"')
})

test('nor do MCP resources and the answers of other protocols', async () => {
  const client = await connect({ kind: 'client 2.4, 2025-11-25', transport: 'http', url: served.url, token })
  const texts = new Map<string, string>()
  for (const uri of [`session://${sessionId}`, `session://${sessionId}/events`])
    texts.set(uri, JSON.stringify(await client.readResource(uri)))
  texts.set('tools', JSON.stringify(await client.listTools()))
  const ask = { model: 'boss', messages: [{ role: 'user', content: 'Hello' }] }
  texts.set('chat', await (await served.fetch('/v1/chat/completions', { token, json: ask })).text())
  texts.set('refused', await (await served.fetch('/v1/sessions', { token, json: { agent: 'boss', input: 'other', clientId: 'c' } })).text())
  for (const mark of Object.values(marks)) expect(found(texts, mark)).toEqual([])
  expect([texts.get(`session://${sessionId}`), texts.get('refused')]).toEqual([
    expect.stringContaining('write_file'),
    expect.stringContaining('client_id_taken'),
  ])
})

test('a token of Troupe that somebody pastes is nowhere: not in the store, nor for anybody', async () => {
  for (const texts of Object.values(seen)) expect(found(texts, pasted)).toEqual([])
  expect(seen.admin.get('ended /v1/sessions/{id}/events')).toContain('My token is [redacted:TROUPE_TOKEN]')
  const files = await readdir(join(scene.folder, 'state'), { recursive: true, withFileTypes: true })
  const stored = files.filter((file) => file.isFile())
  expect(stored.map(({ name }) => name)).toContainEqual(expect.stringMatching(/\.db$/))
  for (const { parentPath, name } of stored)
    expect([name, (await readFile(join(parentPath, name))).includes(pasted)]).toEqual([name, false])
})

test('the web chat works with such a token', async () => {
  const browser = await openBrowser()
  const chat = await openChat(browser, { url: served.url, address: `${served.url}/#token=${token}` }, { at: sessionId })
  await chat.says('My token is')
  await chat.rows.filter({ hasText: 'write_file' }).first().waitFor()
  const page = await chat.page.content()
  expect([page.includes(scene.folder), chat.problems]).toEqual([false, []])
  await chat.send('Once more')
  await chat.says('Once more')
  await browser.close()
})
