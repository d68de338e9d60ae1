import { afterEach, describe, expect, test } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import type { ScriptedStepSource } from '../../src/testing/index.ts'
import { type Served, type ServedOptions, serve } from './support.ts'

// A request is answered once, and a client id means one thing.

let open: Served[] = []
afterEach(async () => {
  for (const served of open) await served.close()
  open = []
})
async function server(options?: ServedOptions): Promise<Served> {
  const served = await serve(options)
  open.push(served)
  return served
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of the server, which the tests check.
const json = async (response: Response | Promise<Response>): Promise<any> => (await response).json()

const helper = { name: 'helper', description: 'Helps.', prompt: 'Help.', model: 'scripted/model', tools: ['*'] }
let deleted = 0
const deleting: Tool = {
  name: 'delete_file',
  description: 'Deletes a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  approval: () => ({
    summary: 'Delete a.txt',
    keys: [{ key: 'path:a.txt', label: 'a.txt' }],
    wider: [{ key: 'path:', label: 'any file', isPrefix: true }],
  }),
  execute: () => `deleted ${++deleted}`,
}
const asks = { calls: [{ tool: 'delete_file', input: { path: 'a.txt' } }] }
const done = { text: 'Done.' }

/** A server with sessions that wait for an answer. */
async function waiting(count = 1, options: ServedOptions = {}) {
  // Whatever is asked first: a session that waits has its first step only.
  const step: ScriptedStepSource = ({ messages }) => (messages.some(({ role }) => role === 'tool') ? done : asks)
  const served = await server({ model: Array(2 * count).fill(step), tools: [deleting], agents: [helper], ...options })
  const requests = []
  for (let each = 0; each < count; each++) {
    const { sessionId, approvals } = await json(served.fetch('/v1/helper?q=Delete'))
    requests.push({ sessionId: sessionId as string, id: approvals[0].id as string })
  }
  const answer = ({ sessionId, id }: { sessionId: string; id: string }, decision: object, token?: string) =>
    served.fetch(`/v1/sessions/${sessionId}/approvals/${id}`, { json: decision, ...(token !== undefined && { token }) })
  const events = async (sessionId: string) => (await json(served.fetch(`/v1/sessions/${sessionId}/events`))).events
  const audit = async () => (await served.store.records.list('audit')).map(({ value }) => value as { readonly [key: string]: unknown })
  return { ...served, requests, answer, events, audit }
}

const decisions = [{ kind: 'approve' }, { kind: 'deny', feedback: 'no' }, { kind: 'approve', breadth: 'session' }, { kind: 'abort' }]

describe('a request', () => {
  test('gets one of two racing answers, 30 times: the other is 409 with the first, and the audit has what took effect', async () => {
    const { requests, answer, events, audit } = await waiting(30)
    const effects: object[] = []
    for (const [index, request] of requests.entries()) {
      const pair = [decisions[index % 4] as object, decisions[(index + 1) % 4] as object]
      const answers = await Promise.all(pair.map((decision) => answer(request, decision)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409])
      const won = pair[answers.findIndex(({ status }) => status === 202)] as { kind: string; breadth?: string }
      const lost = await json(answers.find(({ status }) => status === 409) as Response)
      const decision = won.kind === 'approve' ? { breadth: 'once', ...won } : won
      expect(lost.error).toMatchObject({ code: 'approval_answered', first: { decision, by: 'local' } })
      const resolved = (await events(request.sessionId)).filter(({ type }: { type: string }) => type === 'interaction.approval.resolved')
      expect(resolved).toMatchObject([{ approvalId: request.id, decision }])
      effects.push({ action: `approval.${won.kind}`, approvalId: request.id })
    }
    expect(await audit()).toMatchObject(effects)
  })

  test('takes the same answer again as 200, another one as 409, now and after the turn; an unknown one is 404', async () => {
    const { requests, answer, audit, token, fetch } = await waiting()
    const [request] = requests as [{ sessionId: string; id: string }]
    const admin = await token({ name: 'boss', scopes: ['read', 'approve', 'admin'] })
    const deny = { kind: 'deny', feedback: 'not now' }
    const [before] = [deleted]
    expect((await answer(request, deny)).status).toBe(202)
    for (const when of ['at once', 'after the turn']) {
      const again = await answer(request, deny, admin)
      expect([when, again.status, await again.json()]).toEqual([
        when,
        200,
        { clientId: request.id, driven: expect.any(Boolean), first: { decision: deny, by: 'local' } },
      ])
      const other = await answer(request, { kind: 'approve' }, admin)
      expect([when, other.status, await other.json()]).toMatchObject([
        when,
        409,
        { error: { message: 'Already answered: denied by local.', first: { decision: deny, by: 'local' } } },
      ])
      await fetch(`/v1/sessions/${request.sessionId}/events?until=turn`, { headers: { accept: 'text/event-stream' } }).then((all) =>
        all.text(),
      )
    }
    expect((await answer({ ...request, id: `${request.sessionId}:t9.s9.1/call` }, deny)).status).toBe(404)
    expect([await audit(), deleted]).toMatchObject([[{ by: 'local', action: 'approval.deny' }], before])
  })

  test('refuses a decision that does not fit as 400, stores and audits nothing of it, and stays open', async () => {
    const { requests, answer, audit, store } = await waiting()
    const [request] = requests as [{ sessionId: string; id: string }]
    for (const decision of [
      { kind: 'answer', text: 'yes' },
      { kind: 'approve', breadth: 'session', key: 'path:/' },
      { kind: 'approve', breadth: 'for ever' },
    ])
      expect((await answer(request, decision)).status).toBe(400)
    expect([await store.inbox.read(request.sessionId as never, 0), await audit()]).toEqual([[], []])
    expect((await answer(request, { kind: 'approve', breadth: 'session', key: 'path:' })).status).toBe(202)
  })
})

test('a client id that returns with another agent or input is 409; the same again stays idempotent', async () => {
  const agents = ['echo', 'other'].map((name) => ({ name, description: 'Repeats.', prompt: 'Repeat.', model: 'test/echo', tools: [] }))
  const { fetch } = await server({ agents })
  const image = { type: 'image', mediaType: 'image/png', data: Buffer.from('one').toString('base64') }
  const body = { agent: 'echo', input: [{ type: 'text', text: 'one' }, image], clientId: 'c1' }
  const start = (more: object = {}) => fetch('/v1/sessions', { json: { ...body, ...more } })
  const { sessionId } = await json(start())
  expect(await json(start())).toEqual({ sessionId })
  const changed = [
    { agent: 'other' },
    { input: 'two' },
    { input: [body.input[0], { ...image, data: Buffer.from('two').toString('base64') }] },
  ]
  for (const more of changed) {
    const refused = await start(more)
    expect([refused.status, await refused.json()]).toMatchObject([409, { error: { code: 'client_id_taken', remedy: expect.any(String) } }])
  }
  const send = (input: string) => fetch(`/v1/sessions/${sessionId}/messages`, { json: { input, clientId: 'm1' } })
  expect([(await send('hello')).status, (await send('hello')).status, (await send('goodbye')).status]).toEqual([202, 202, 409])
})
