import { once } from 'node:events'
import { chmod, readFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'
import { request } from '../server/raw-request.ts'
import { agentText, type ModelReply, type Served, type ServeScene, serveScene } from './serve-scene.ts'
import { binary } from './troupe.ts'

const scene = await serveScene()
await scene.put('clerk.ai', agentText('You answer.'))

/** The model is asked, and answers when the test says so. */
function heldModel(at: ServeScene) {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<ModelReply>()
  let requests = 0
  at.reply = () => {
    requests++
    asked.resolve()
    return answer.promise
  }
  onTestFinished(() => answer.resolve({ text: 'too late' }))
  return { asked: asked.promise, answer: (text: string) => answer.resolve({ text }), requests: () => requests }
}

const start = async (served: Served): Promise<string> => {
  const response = await served.fetch('/v1/sessions', { json: { agent: 'clerk', input: 'Hello' } })
  return ((await response.json()) as { sessionId: string }).sessionId
}

/** The answer of a session, once its turn has ended. */
async function answerOf(served: Served, sessionId: string): Promise<string> {
  await (await served.fetch(`/v1/sessions/${sessionId}/events?until=turn`, { headers: { accept: 'text/event-stream' } })).text()
  const { outcome } = (await (await served.fetch(`/v1/sessions/${sessionId}`)).json()) as { outcome: { status: string; text: string } }
  return `${outcome.status}: ${outcome.text}`
}

test('SIGTERM: new work is refused, the running turn finishes and its client gets the answer', async () => {
  const served = await scene.serve()
  const model = heldModel(scene)
  const waiting = served.fetch('/v1/clerk?q=Hello')
  await model.asked
  await served.after(async () => served.process.kill('SIGTERM'), 'Stopping')
  const refused = await served.fetch('/v1/clerk?q=More')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  expect((await served.fetch('/ready')).status).toBe(503)
  expect((await served.fetch('/health')).status).toBe(200)
  model.answer('In time.')
  expect(await (await waiting).json()).toMatchObject({ text: 'In time.' })
  expect(await served.ended).toMatchObject({ code: 143, signal: null, stdout: '' })
})

test('a turn that does not finish in time is suspended, and the next server continues it', async () => {
  const first = await scene.serve(['--drain', '1ms'])
  const model = heldModel(scene)
  const sessionId = await start(first)
  await model.asked
  first.process.kill('SIGINT')
  expect(await first.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('continues them') })
  scene.reply = () => ({ text: 'After the restart.' })
  const second = await scene.serve()
  expect(second.token).toBe(first.token)
  expect(await answerOf(second, sessionId)).toBe('completed: After the restart.')
  second.process.kill('SIGTERM')
  await second.ended
})

test('a second signal ends the process immediately', async () => {
  const served = await scene.serve()
  const model = heldModel(scene)
  const waiting = served.fetch('/v1/clerk?q=Hello').catch(() => 'cut')
  await model.asked
  await served.after(async () => served.process.kill('SIGTERM'), 'Stopping')
  // Signals within 50 ms are taken for one.
  const again = setInterval(() => served.process.kill('SIGTERM'), 20)
  onTestFinished(() => clearInterval(again))
  expect(await served.ended).toMatchObject({ code: 143 })
  expect(await waiting).toBe('cut')
})

test('a server that was killed leaves sessions that the next one continues; messages to its ended sessions begin a turn', async () => {
  const first = await scene.serve()
  scene.reply = () => ({ text: 'First answer.' })
  const ended = await start(first)
  expect(await answerOf(first, ended)).toBe('completed: First answer.')
  const model = heldModel(scene)
  const interrupted = await start(first)
  await model.asked
  first.process.kill('SIGKILL')
  await first.ended
  scene.reply = ({ last }) => ({ text: `Answer to ${last}.` })
  const second = await scene.serve()
  expect(await answerOf(second, interrupted)).toBe('completed: Answer to Hello.')
  const receipt = await second.fetch(`/v1/sessions/${ended}/messages`, { json: { input: 'More' } })
  expect(await receipt.json()).toMatchObject({ driven: true })
  expect(await answerOf(second, ended)).toBe('completed: Answer to More.')
  second.process.kill('SIGTERM')
  await second.ended
})

test('sessions of agents that are not served are not continued, with one line for all of them', async () => {
  const first = await scene.serve()
  const model = heldModel(scene)
  const left = await Promise.all([start(first), start(first)])
  await model.asked
  first.process.kill('SIGKILL')
  await first.ended
  await scene.put('other.ai', agentText('You are another one.'))
  const second = await scene.serve(['--agent', 'other.ai'])
  if (!second.log().includes('not continued')) await second.after(async () => {}, 'not continued')
  for (const id of left) expect((await second.fetch(`/v1/sessions/${id}`, { method: 'DELETE' })).status).toBeLessThan(300)
  expect(second.log().match(/not continued: clerk\./g)).toHaveLength(1)
  expect(second.log()).not.toContain('cannot be continued')
  await scene.remove('other.ai')
  second.process.kill('SIGTERM')
  await second.ended
})

test('two servers of one folder share its sessions: each message is answered once', async () => {
  const [one, two] = [await scene.serve(), await scene.serve()]
  const asked: string[] = []
  scene.reply = ({ last }) => {
    asked.push(last)
    return { text: `Answer to ${last}.` }
  }
  const sessionId = await start(one)
  await turnsOf(two, sessionId, 1)
  const send = (served: Served, input: string) => served.fetch(`/v1/sessions/${sessionId}/messages`, { json: { input } })
  const receipts = await Promise.all([send(one, 'One'), send(two, 'Two')])
  expect(receipts.map(({ status }) => status)).toEqual([202, 202])
  await turnsOf(one, sessionId, 3)
  expect(asked.toSorted()).toEqual(['Hello', 'One', 'Two'])
  for (const served of [one, two]) served.process.kill('SIGTERM')
  const ended = await Promise.all([one.ended, two.ended])
  expect(ended.map(({ code }) => code)).toEqual([143, 143])
  expect(ended.map(({ stderr }) => stderr).join()).not.toContain('cannot be continued')
})

test('two servers of one folder answer a request once: 30 racing pairs, and the command line', async () => {
  await scene.put('writer.ai', agentText('You write.', 'tools: [write_file]\n'))
  onTestFinished(() => scene.remove('writer.ai'))
  scene.reply = ({ last }) =>
    last === 'Write' ? { call: { name: 'write_file', input: { path: 'note.txt', content: 'x', reason: 'asked' } } } : { text: 'Written.' }
  const servers = [await scene.serve(), await scene.serve()] as const
  type Waiting = { readonly sessionId: string; readonly approvals: readonly { readonly id: string }[] }
  const ask = async (served: Served): Promise<Waiting> => (await served.fetch('/v1/writer?q=Write')).json() as Promise<Waiting>
  const answer = (served: Served, { sessionId, approvals }: Waiting, kind: string) =>
    served.fetch(`/v1/sessions/${sessionId}/approvals/${approvals[0]?.id}`, { json: { kind } })
  const effects = new Map<string, string>()
  for (let pair = 0; pair < 30; pair++) {
    const waiting = await ask(servers[pair % 2 ? 0 : 1])
    const kinds = pair % 3 ? ['approve', 'deny'] : ['deny', 'approve']
    const answers = await Promise.all(servers.map((served, index) => answer(served, waiting, kinds[index] ?? '')))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409])
    effects.set(waiting.sessionId, `approval.${kinds[answers.findIndex(({ status }) => status === 202)]}`)
    await answerOf(servers[0], waiting.sessionId)
  }
  const last = await ask(servers[0])
  expect((await answer(servers[1], last, 'deny')).status).toBe(202)
  const { id = '' } = last.approvals[0] ?? {}
  expect(await scene.troupe(['approvals', 'answer', id, 'yes'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Already answered: denied by local.'),
  })
  expect(await scene.troupe(['approvals', 'answer', id, 'no'])).toMatchObject({
    code: 0,
    stdout: 'Already answered: denied by local. Nothing has changed.\n',
  })
  const { entries } = JSON.parse((await scene.troupe(['audit', '--json'])).stdout) as { entries: { sessionId: string; action: string }[] }
  const audited = entries.filter(({ action }) => action.startsWith('approval.')).map((entry) => [entry.sessionId, entry.action])
  expect(audited).toEqual([...effects, [last.sessionId, 'approval.deny']])
  for (const { process } of servers) process.kill('SIGTERM')
  await Promise.all(servers.map(({ ended }) => ended))
})

test('a server that is killed in mid turn: another one of its folder finishes it once, and its readers lose and repeat nothing', async () => {
  const servers = [await scene.serve(), await scene.serve(), await scene.serve()] as const
  const [dying, two, three] = servers
  const model = heldModel(scene)
  const ids = await Promise.all([start(dying), start(dying)])
  await expect.poll(model.requests).toBe(2)
  const readers = ids.map((id) => readTurns(two, id, 2))
  // The reader is connected and has what there is.
  await Promise.all(readers.map(({ first }) => first))
  for (const id of ids) expect((await two.fetch(`/v1/sessions/${id}/messages`, { json: { input: 'More' } })).status).toBe(202)
  const answered: string[] = []
  scene.reply = ({ last }) => {
    answered.push(last)
    return { text: `Answer to ${last}.` }
  }
  dying.process.kill('SIGKILL')
  await dying.ended
  for (const [index, id] of ids.entries()) {
    const streamed = await readers[index]?.all
    const { events } = (await (await three.fetch(`/v1/sessions/${id}/events`)).json()) as { events: { seq: number; type: string }[] }
    expect(streamed).toEqual(events.map(({ seq }) => seq))
    expect(events.filter(({ type }) => type === 'interaction.session.resumed')).toHaveLength(1)
    expect(await answerOf(three, id)).toBe('completed: Answer to More.')
  }
  expect(answered.toSorted()).toEqual(['Hello', 'Hello', 'More', 'More'])
  for (const served of [two, three]) served.process.kill('SIGTERM')
  const ended = await Promise.all([two.ended, three.ended])
  expect(ended.map(({ code }) => code)).toEqual([143, 143])
  expect(ended.map(({ stderr }) => stderr).join()).not.toContain('cannot be continued')
})

/** The numbers of the durable events of a session, until so many turns are completed and it is idle. */
function readTurns(served: Served, sessionId: string, turns: number) {
  const first = Promise.withResolvers<void>()
  const read = async (): Promise<readonly number[]> => {
    const response = await served.fetch(`/v1/sessions/${sessionId}/events`, { headers: { accept: 'text/event-stream' } })
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk)
      first.resolve()
      const ends = text.split('event: interaction.turn.completed\n')
      if (ends.length > turns && ends.at(-1)?.includes('event: interaction.session.idle\n') && text.endsWith('\n\n')) break
    }
    return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  }
  return { first: first.promise, all: read() }
}

/** Resolves when so many turns have been completed. */
async function turnsOf(served: Served, sessionId: string, count: number): Promise<void> {
  const events = await served.fetch(`/v1/sessions/${sessionId}/events?until=closed`, { headers: { accept: 'text/event-stream' } })
  let text = ''
  for await (const chunk of events.body ?? []) {
    text += new TextDecoder().decode(chunk)
    if (text.split('event: interaction.turn.completed').length > count) return
  }
}

test('an address that others can reach needs a token; names, limits and the address come from the configuration', async () => {
  const other = await serveScene()
  await other.put('clerk.ai', agentText('You answer.'))
  const refused = await other.troupe(['serve', '--host', '0.0.0.0', '--port', '0'])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('troupe token create --name NAME') })
  expect((await other.troupe(['token', 'create', '--name', 'ops', '--scopes', 'run'])).code).toBe(0)
  const headends = {
    host: '0.0.0.0',
    hosts: ['agents.example.com'],
    origins: ['https://chat.example.com'],
    maxBodyBytes: '2KB',
    concurrency: { perAgent: 1, queue: 0 },
    legacyTransports: true,
    drain: '1ms',
  }
  await other.put('serve.json', JSON.stringify({ headends }))
  const served = await other.serve(['--config', 'serve.json'])
  const { port } = new URL(served.url)
  const ask = async (headers: Record<string, string>) =>
    request(`http://127.0.0.1:${port}/v1/agents`, { headers: { authorization: `Bearer ${served.token}`, ...headers } })
  expect((await ask({ host: 'agents.example.com' })).status).toBe(200)
  expect((await ask({ host: 'other.example.com' })).status).toBe(403)
  expect((await ask({ origin: 'https://chat.example.com' })).headers['access-control-allow-origin']).toBe('https://chat.example.com')
  expect((await served.fetch('/v1/clerk', { json: { input: 'x'.repeat(3_000) } })).status).toBe(413)
  const events = await served.fetch('/mcp/sse', { headers: { accept: 'text/event-stream' } })
  expect(events.status).toBe(200)
  await events.body?.cancel()
  const model = heldModel(other)
  const waiting = served.fetch('/v1/clerk?q=Hello').then(
    ({ status }) => status,
    () => 'cut',
  )
  await model.asked
  expect((await served.fetch('/v1/clerk?q=Hello')).status).toBe(503)
  served.process.kill('SIGTERM')
  expect(await served.ended).toMatchObject({ code: 143, stderr: expect.stringContaining('Some turns were suspended') })
  expect(await waiting).not.toBe(200)
})

test('a configuration that loses its trust by a change stays in effect until a person trusts it again', async () => {
  const other = await serveScene()
  await other.put('clerk.ai', agentText('You answer.'))
  await other.put('.git/HEAD', '')
  const priced = (input: number) => JSON.stringify({ pricing: { 'lab/model': { input, output: 0 } } })
  await other.put('.ai-agent.json', priced(1_000_000))
  const served = await other.serve(['--trust'])
  const cost = async () => ((await (await served.fetch('/v1/clerk?q=x')).json()) as { cost: unknown }).cost
  expect(await cost()).toBe(5)
  await served.after(() => other.put('.ai-agent.json', priced(2_000_000)), 'Not reloaded: ')
  expect(await cost()).toBe(5)
  await served.after(() => other.troupe(['trust', '--all']), 'Reloaded')
  expect(await cost()).toBe(10)
  await served.after(
    () => other.put('.ai-agent.json', JSON.stringify({ headends: { port: 1 }, telemetry: { content: true } })),
    'Not reloaded: ',
  )
  await served.after(() => other.troupe(['trust', '--all']), '`headends` of the configuration has changed: restart to use it')
  expect(await (await served.fetch('/ready')).json()).toMatchObject({
    status: 'ready',
    warnings: [expect.stringContaining('headends'), expect.stringContaining('telemetry')],
  })
  served.process.kill('SIGTERM')
  await served.ended
})

test('traces go to the configured receiver, with headers from variables, and with content if that is set', async () => {
  const received = Promise.withResolvers<{ readonly authorization: string | undefined; readonly text: string }>()
  const receiver = createHttpServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    response.writeHead(200).end('{}')
    received.resolve({ authorization: request.headers.authorization, text })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/v1/traces`
  const other = await serveScene()
  await other.put('clerk.ai', agentText('You greet.'))
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the configuration
  const headers = { authorization: 'Bearer ${OTEL_TOKEN}' }
  await other.put('traced.json', JSON.stringify({ telemetry: { endpoint, headers, content: true } }))
  await other.put('.ai-agent/.ai-agent.env', 'OTEL_TOKEN=abc123def\n')
  const served = await other.serve(['--config', 'traced.json'])
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  const traceparent = `00-${traceId}-${spanId}-01`
  expect((await served.fetch('/v1/clerk?q=Hello', { headers: { traceparent } })).status).toBe(200)
  served.process.kill('SIGTERM')
  await served.ended
  const { authorization, text } = await received.promise
  expect(authorization).toBe('Bearer abc123def')
  const parent = [`"traceId":"${traceId}"`, `"parentSpanId":"${spanId}"`]
  for (const part of ['invoke_agent clerk', 'chat model', '"lab"', 'You said: Hello', ...parent]) expect(text).toContain(part)
  await new Promise((resolve) => receiver.close(resolve))
})

test('--stdio is an MCP server for the program that starts it', async () => {
  scene.reply = ({ last }) => ({ text: `You said: ${last}` })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [binary, 'serve', '--stdio', '--agent', '*.ai'],
    cwd: scene.folder,
    env: { PATH: process.env.PATH ?? '', HOME: scene.folder, XDG_STATE_HOME: join(scene.folder, 'state') },
    stderr: 'pipe',
  })
  const client = new Client({ name: 'test', version: '0' })
  await client.connect(transport)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['clerk'])
  const result = await client.callTool({ name: 'clerk', arguments: { prompt: 'Hi' } })
  expect(result.content).toMatchObject([{ type: 'text', text: 'You said: Hi' }])
  await client.close()
})

test('the text format prints the addresses with the token; --open opens the web chat', async () => {
  await scene.put('bin/xdg-open', '#!/bin/sh\nprintf %s "$1" > opened.part && mv opened.part opened\n')
  await chmod(join(scene.folder, 'bin/xdg-open'), 0o755)
  const env = { PATH: `${join(scene.folder, 'bin')}:${process.env.PATH}`, DISPLAY: ':9' }
  const running = scene.start(['serve', '--port', '0', '--log-format', 'text', '--quiet', '--open'], { env })
  await running.says('Stop with Ctrl-C.')
  const opened = () => readFile(join(scene.folder, 'opened'), 'utf8').catch(() => '')
  await expect.poll(opened, { timeout: 5_000 }).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=trp_local_[\w-]{32}$/)
  running.process.kill('SIGHUP')
  const { code, stderr } = await running.ended
  expect(code).toBe(129)
  expect(stderr).toMatch(/Web chat +http:\/\/127\.0\.0\.1:\d+\/#token=trp_local_[\w-]{32}\n/)
})

test('what cannot be served is refused before anything starts', async () => {
  const other = await serveScene()
  const refusal = async (...args: readonly string[]) => {
    const { code, stderr } = await other.troupe(['serve', ...args])
    expect(code).toBe(2)
    return stderr
  }
  expect(await refusal()).toContain('There is no agent to serve.')
  expect(await refusal('--agent', 'none/*.ai')).toContain('--agent none/*.ai: no agent file found.')
  await other.put('models.ai', agentText('A route.'))
  await other.put('embeddings.ai', agentText('A route of OpenAI.'))
  const names = await refusal('--port', '0')
  expect(names).toContain('models.ai  An agent with the name `models` cannot be served: /v1/models is a route')
  expect(names).toContain('embeddings.ai  An agent with the name `embeddings` cannot be served: /v1/embeddings is a route')
  await other.remove('embeddings.ai')
  await other.put('models.ai', '---\ndescription: x\nmodels: lab/model\n---\nNo usage.\n')
  expect(await refusal()).toContain('`usage` is missing')
  expect(await refusal('--port', '70000', '--drain', 'soon')).toMatch(/--port {2}Expected a number.*--drain {2}Expected a duration/s)
  expect(await refusal('--prot', '1')).toContain('Did you mean --port?')
  expect(await refusal('--stdio', '--port', '1')).toContain('Cannot be combined')
  await other.put('models.ai', agentText('A route.'))
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  await other.put('clerk.ai', agentText('You answer.'))
  const { port } = taken.address() as { port: number }
  expect(await refusal('--agent', 'clerk.ai', '--port', String(port))).toContain(`The address 127.0.0.1:${port} is in use.`)
})
