// How long `troupe up` needs to be back after a restart with open conversations: half of them idle, half in a handoff. Then every
// conversation gets a message, and must answer with everything that was said before. Target: 2 s from the request to the first answer.
// npm run build && npx node bench/kernel-restart.mjs [conversations]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'

const count = Number(process.argv[2] ?? 20)
const home = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
const put = (path, text) => {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}

/** By conversation: how many messages of the person its agent has seen. */
const heard = new Map()
const model = createServer(async (request, response) => {
  if (request.method !== 'POST') return response.writeHead(404).end()
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const { messages, tools = [] } = JSON.parse(body)
  const said = messages.filter(({ role }) => role === 'user')
  const [marker] = /(?:conversation|handoff|restart) \d+/.exec(JSON.stringify(said[0]?.content)) ?? ['']
  const isRoot = tools.some((tool) => tool.function.name === 'agent__guide')
  const tool = marker.startsWith('restart') ? 'restarter__restart' : marker.startsWith('handoff') && isRoot ? 'agent__guide' : undefined
  const isCall = tool !== undefined && messages.at(-1).role === 'user'
  if (!isCall) heard.set(marker, said.length)
  const call = { name: tool, arguments: JSON.stringify({ task: marker, reason: 'r' }) }
  const delta = isCall ? { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: call }] } : { content: `I heard ${said.length}.` }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const chunk of [{ delta }, { delta: {}, finish_reason: isCall ? 'tool_calls' : 'stop' }])
    response.write(
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, ...chunk }] })}\n\n`,
    )
  response.end('data: [DONE]\n\n')
})
model.listen(0, '127.0.0.1')
await once(model, 'listening')
const spare = createServer().listen(0, '127.0.0.1')
await once(spare, 'listening')
const { port } = spare.address()
spare.close()

const providers = { lab: { baseURL: `http://127.0.0.1:${model.address().port}/v1`, apiKey: 'none' } }
put(
  '.ai-agent/.ai-agent.json',
  JSON.stringify({ providers, defaults: { models: 'lab/model' }, approvals: { rules: [{ allow: 'restarter__*' }] } }),
)
put('.ai-agent/extensions/guide/manifest.yaml', manifest('guide', 'agent:\n  integration_mode: handoff\n  model: lab/model\n'))
put('.ai-agent/extensions/restarter/manifest.yaml', manifest('restarter', 'entrypoint: main:Main\n'))
put(
  '.ai-agent/extensions/restarter/main.js',
  `export class Main {
  initialize(context) { this.context = context }
  getTools() {
    const execute = async () => { await this.context.requestRestart('bench'); return 'requested' }
    return [{ name: 'restart', description: 'restarts', inputSchema: { type: 'object', properties: { task: { type: 'string' } } }, effect: 'idempotent', execute }]
  }
}
`,
)
put('extensions/README.md', '')

function manifest(id, more) {
  return `id: ${id}\nname: ${id}\nversion: "1.0.0"\ndescription: ${id}\n${more}`
}

const data = join(home, 'data')
const troupe = join(import.meta.dirname, '../bin/troupe.mjs')
const up = spawn(process.execPath, [troupe, 'up', '--port', String(port), '--data-dir', data], {
  cwd: home,
  env: { HOME: home, PATH: process.env.PATH },
  stdio: ['ignore', 'ignore', 'pipe'],
})
let log = ''
up.stderr.on('data', (text) => {
  log += text
})

const api = async (path, json) => {
  const token = readFileSync(join(data, 'local-token'), 'utf8').trim()
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    ...(json && { method: 'POST', body: JSON.stringify(json) }),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}
/** Tries again while the server is away. */
async function persistently(work) {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (up.exitCode !== null) throw new Error(`troupe up has ended:\n${log}`, { cause: error })
      await pause(5)
    }
  }
}
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const until = async (isTrue) => {
  while (!isTrue()) await pause(2)
}

try {
  await persistently(() => api('/v1/status'))
  const markers = Array.from({ length: count }, (_, index) => `${index % 2 === 0 ? 'conversation' : 'handoff'} ${index}`)
  const ids = await Promise.all(markers.map(async (input) => (await api('/v1/sessions', { agent: 'orchestrator', input })).sessionId))
  await until(() => heard.size === count)
  await api('/v1/orchestrator', { input: 'restart 1' })
  const begin = performance.now()
  await persistently(async () => {
    // The old process answers, too, until it ends.
    if ((await api('/v1/status')) && !log.includes('Stopping')) throw new Error('not yet')
    await api('/v1/extensions')
  })
  const [first, ...others] = ids
  const send = (id) => persistently(() => api(`/v1/sessions/${id}/messages`, { input: 'Are you there?', clientId: `again-${id}` }))
  await send(first)
  await until(() => heard.get(markers[0]) === 2)
  const back = performance.now()
  await Promise.all(others.map(send))
  await until(() => markers.every((marker) => heard.get(marker) === 2))
  console.log(
    JSON.stringify({ conversations: count, backMs: Math.round(back - begin), allAnsweredMs: Math.round(performance.now() - begin) }),
  )
} finally {
  up.kill('SIGTERM')
  await once(up, 'exit')
  model.closeAllConnections()
  model.close()
  rmSync(home, { recursive: true, force: true })
}
