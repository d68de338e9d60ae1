import { createHmac, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { beforeAll, expect, test } from 'vitest'
import { agentText, type Served, serveScene } from '../cli/serve-scene.ts'
import { secret } from './receiver.ts'

// `troupe serve` as it was built, and programs that send webhooks to it.

const scene = await serveScene()
const own = '.ai-agent/.ai-agent.json'
const settings = JSON.parse(await readFile(join(scene.folder, own), 'utf8'))
const incoming = {
  issues: { agent: 'clerk', input: '{% if body.issue %}Triage: {{ body.issue.title }}{% endif %}', secret, key: '{{ body.issue.id }}' },
  push: {
    agent: 'clerk',
    input: 'Push by {{ body.pusher }} ({{ headers["x-github-event"] }})',
    secret: 'a github secret',
    signature: 'github',
  },
  build: { agent: 'clerk', input: 'Build {{ body.build }}', token: 'a-token-of-the-builds', id: '{{ body.build }}' },
  lab: { agent: 'clerk', input: '{{ body.text }}', token: 'a-token-of-the-lab', header: 'X-Lab-Token', requestsPerMinute: 2 },
  poor: { agent: 'clerk', input: 'Hello', token: 'a-token-without-money', budget: { tokensPerDay: 1 } },
  nobody: { agent: 'absent', input: 'Hello', token: 'a-token-for-nobody' },
}
await scene.put('clerk.ai', agentText('You answer.'))
await scene.put(own, JSON.stringify({ ...settings, webhooks: { incoming } }))

let served: Served
beforeAll(async () => {
  served = await scene.serve()
})

interface Sent {
  readonly status: number
  readonly body: {
    readonly sessionId?: string
    readonly error?: { readonly code: string; readonly message: string }
    readonly ignored?: true
  }
  readonly headers: Headers
}

/** `to`: a webhook of the server, or a whole address. */
async function send(to: string, body: unknown, headers: { readonly [name: string]: string } = {}): Promise<Sent> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(to.startsWith('http') ? to : `${served.url}/hooks/${to}`, {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: response.status, body: JSON.parse(await response.text()), headers: response.headers }
}

/** Signed by the library of Standard Webhooks. */
function signed(body: unknown, { id = randomUUID(), at = new Date(), by = secret } = {}): { readonly [name: string]: string } {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const timestamp = String(Math.floor(at.getTime() / 1000))
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': new Webhook(by).sign(id, at, text) }
}
const sendSigned = (body: unknown, options = {}, at = served) => send(`${at.url}/hooks/issues`, body, signed(body, options))

const githubSigned = (body: object, more: { readonly [name: string]: string } = {}) => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', 'a github secret').update(JSON.stringify(body)).digest('hex')}`,
  'x-github-event': 'push',
  ...more,
})
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

interface Session {
  readonly agent: string
  readonly owner: string
  readonly title: string
}

/** What was said in a session, once it is idle. */
async function inputsOf(sessionId = '', at = served): Promise<readonly string[]> {
  const stream = await at.fetch(`/v1/sessions/${sessionId}/events?until=turn`, { headers: { accept: 'text/event-stream' } })
  const events = [...(await stream.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '{}']) => JSON.parse(data))
  return events.flatMap(({ type, parts }) => (type === 'interaction.input.accepted' ? [parts[0].text as string] : []))
}

test('a signed request starts a session of its own owner, with the text of the template', async () => {
  const sent = await sendSigned({ issue: { id: 1, title: 'It burns' } })
  const { sessionId = '' } = sent.body
  expect([sent.status, sent.headers.get('location')]).toEqual([202, `/v1/sessions/${sessionId}`])
  expect(await inputsOf(sessionId)).toEqual(['Triage: It burns'])
  const { session } = (await (await served.fetch(`/v1/sessions/${sessionId}`)).json()) as { session: Session }
  expect(session).toMatchObject({
    agent: 'clerk',
    owner: 'hook:issues',
    title: 'Triage: It burns',
    status: 'completed',
    key: 'hook:issues/1',
  })
  const audit = JSON.parse((await scene.troupe(['audit', '--json'])).stdout)
  expect(audit.entries).toContainEqual(expect.objectContaining({ by: 'hook:issues', action: 'hook.receive', sessionId }))
})

test('the same delivery again is taken once; another one with the same key goes to the same session', async () => {
  const first = { issue: { id: 2, title: 'first' } }
  const second = { issue: { id: 2, title: 'second' } }
  const all = [
    await sendSigned(first, { id: 'delivery-1' }),
    await sendSigned(first, { id: 'delivery-1' }),
    await sendSigned(second, { id: 'delivery-2' }),
    ...(await Promise.all([second, second].map((body) => sendSigned(body, { id: 'delivery-2' })))),
    await sendSigned(first, { id: 'delivery-1' }),
  ]
  const { sessionId } = all[0]?.body ?? {}
  expect(all.map(({ status, body }) => [status, body.sessionId])).toEqual(all.map(() => [202, sessionId]))
  expect(await inputsOf(sessionId)).toEqual(['Triage: first', 'Triage: second'])
})

test('GitHub signs, and names its deliveries in a header', async () => {
  const body = { pusher: 'ann' }
  const [one, again, other] = [
    await send('push', body, githubSigned(body, { 'x-github-delivery': 'g1' })),
    await send('push', body, githubSigned(body, { 'x-github-delivery': 'g1' })),
    await send('push', body, githubSigned(body, { 'x-github-delivery': 'g2' })),
  ]
  expect([one.status, again.body.sessionId === one.body.sessionId, other.body.sessionId === one.body.sessionId]).toEqual([202, true, false])
  expect(await inputsOf(one.body.sessionId)).toEqual(['Push by ann (push)'])
})

test('a token is a bearer or in a header of the sender; the id comes from the body', async () => {
  const token = bearer('a-token-of-the-builds')
  const [one, again] = [await send('build', { build: 7 }, token), await send('build', { build: 7 }, token)]
  expect([one.status, again.body.sessionId]).toEqual([202, one.body.sessionId])
  expect((await send('lab', { text: 'hi' }, { 'x-lab-token': 'a-token-of-the-lab' })).status).toBe(202)
})

const issue = { issue: { id: 3, title: 'x' } }
const ago = (minutes: number) => ({ at: new Date(Date.now() - minutes * 60_000) })
const otherSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
test.each([
  ['no signature', 'issues', issue, () => ({})],
  ['another secret', 'issues', issue, () => signed(issue, { by: otherSecret })],
  ['another body', 'issues', issue, () => signed({ issue: { id: 4, title: 'x' } })],
  ['another id', 'issues', issue, () => ({ ...signed(issue), 'webhook-id': 'another' })],
  ['an old request', 'issues', issue, () => signed(issue, ago(6))],
  ['a request of the future', 'issues', issue, () => signed(issue, ago(-6))],
  ['a token instead', 'issues', issue, () => bearer(secret)],
  ['the token of this machine', 'issues', issue, () => bearer(served.token)],
  ['a wrong signature of GitHub', 'push', { pusher: 'ann' }, () => githubSigned({ pusher: 'eve' })],
  ['no token', 'build', { build: 1 }, () => ({})],
  ['a wrong token', 'build', { build: 1 }, () => bearer('a-token-of-the-lab')],
  ['the token in the wrong header', 'lab', { text: 'hi' }, () => bearer('a-token-of-the-lab')],
] as const)('%s is refused', async (...[, name, body, headers]) => {
  const refused = await send(name, body, headers())
  expect([refused.status, refused.body.error?.code]).toEqual([401, 'unauthorized'])
})

test('what cannot be read is refused with its place, and starts nothing', async () => {
  const count = async () => ((await (await served.fetch('/v1/sessions?limit=200')).json()) as { sessions: unknown[] }).sessions.length
  const before = await count()
  const large = JSON.stringify({ text: 'x'.repeat(10 * 1024 ** 2) })
  expect((await send('issues', large, signed(large))).status).toBe(413)
  expect((await send('issues', '{"issue":', signed('{"issue":'))).status).toBe(400)
  expect((await send('issues', '"text"', signed('"text"'))).body).toMatchObject({ error: { code: 'unprocessable' } })
  const missing = await sendSigned({ issue: { id: 5 } })
  expect([missing.status, missing.body.error]).toEqual([
    422,
    expect.objectContaining({
      code: 'unprocessable',
      problems: [expect.objectContaining({ place: 'webhooks.incoming.issues.input:1:35' })],
    }),
  ])
  expect((await send('absent', {})).status).toBe(404)
  expect((await fetch(`${served.url}/hooks/issues`)).status).toBe(405)
  expect(await count()).toBe(before)
})

test('a template without text ignores the delivery', async () => {
  const sent = await sendSigned({ zen: 'Design for failure.', issue: null })
  expect([sent.status, sent.body]).toEqual([202, { ignored: true }])
})

test('values are text: what looks like a template is not read as one', async () => {
  const sent = await sendSigned({ issue: { id: 6, title: '{{ headers }} {% include "clerk.ai" %}' } })
  expect(await inputsOf(sent.body.sessionId)).toEqual(['Triage: {{ headers }} {% include "clerk.ai" %}'])
})

test('a webhook has a rate and a budget, and is unavailable without its agent, which /ready says', async () => {
  const lab = () => send('lab', { text: 'hi' }, { 'x-lab-token': 'a-token-of-the-lab' })
  const statuses = [(await lab()).status, (await lab()).status, (await lab()).status]
  expect(statuses.at(-1)).toBe(429)
  const poor = () => send('poor', {}, { ...bearer('a-token-without-money'), 'idempotency-key': randomUUID() })
  await inputsOf((await poor()).body.sessionId)
  expect(await poor()).toMatchObject({ status: 429, body: { error: { code: 'budget_exhausted' } } })
  expect((await send('nobody', {}, bearer('a-token-for-nobody'))).status).toBe(503)
  const ready = (await (await fetch(`${served.url}/ready`)).json()) as object
  expect(ready).toMatchObject({ status: 'ready', warnings: ['Webhook nobody refuses its requests: the agent absent is not served.'] })
})

test('a delivery is known after a kill -9, too: one session, each input once', async () => {
  const at = await scene.serve()
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<{ text: string }>()
  scene.reply = () => {
    asked.resolve()
    return answer.promise
  }
  const first = { issue: { id: 9, title: 'before' } }
  const { sessionId } = (await sendSigned(first, { id: 'kill-1' }, at)).body
  await asked.promise
  at.process.kill('SIGKILL')
  await at.ended
  scene.reply = ({ last }) => ({ text: `You said: ${last}` })
  answer.resolve({ text: 'too late' })
  const next = await scene.serve()
  const second = { issue: { id: 9, title: 'after' } }
  for (const [body, id] of [
    [first, 'kill-1'],
    [second, 'kill-2'],
    [second, 'kill-2'],
    [first, 'kill-1'],
  ] as const)
    expect((await sendSigned(body, { id }, next)).body.sessionId).toBe(sessionId)
  await next
    .fetch(`/v1/sessions/${sessionId}/events?until=turn`, { headers: { accept: 'text/event-stream' } })
    .then((stream) => stream.text())
  expect(await inputsOf(sessionId, next)).toEqual(['Triage: before', 'Triage: after'])
  next.process.kill()
  await next.ended
})

test('the description of the interface has the route', async () => {
  const document = (await (await fetch(`${served.url}/openapi.json`)).json()) as { paths: { [path: string]: object } }
  expect(document.paths['/hooks/{name}']).toMatchObject({ post: { tags: ['hooks'] } })
})
