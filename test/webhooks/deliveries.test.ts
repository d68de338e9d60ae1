import { setImmediate as macrotask } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { deliveryTable, type OutgoingWebhook, retryDeliveries } from '../../src/project/index.ts'
import { withDeliveries } from '../../src/project/webhooks/stored-deliveries.ts'
import { WebhookDeliveries } from '../../src/project/webhooks/webhook-deliveries.ts'
import type { AgentRuntime, RuntimeOptions } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { ask, send, team, textOf } from '../subagents/team.ts'
import { receiver, secret } from './receiver.ts'

// Deliveries of sessions to receivers on loopback; only the clock and the models are replaced.

const workspace = '/srv/project'

interface Scene {
  readonly store: Store
  readonly runtime: AgentRuntime
  /** A process that delivers. */
  process(): WebhookDeliveries
  /** Lets time pass, step by step, until something is true. Resolves with the number of steps. Default: seconds. */
  until(isTrue: () => unknown, stepMs?: number): Promise<number>
  waiting(): Promise<readonly string[]>
}

/** An agent `boss`, with a child `kid`. They fail, or ask a person, if the input says so. */
function scene(webhooks: readonly Partial<OutgoingWebhook>[], approver: RuntimeOptions['approver'] = { decide: () => 'suspend' }): Scene {
  const events = ['completed', 'failed', 'waiting'] as const
  const outgoing = webhooks.map((each) => ({ name: 'ci', url: '', secret, events, ...each }))
  const clock = new FakeClock(Date.now())
  const store = withDeliveries(memoryStore(), outgoing, workspace)
  const { runtime } = team(
    {
      boss: {
        agents: ['kid'],
        script(request, step) {
          if (textOf(request).includes('fail')) return { fails: 'auth' }
          return textOf(request).includes('ask') && step === 1
            ? { calls: [ask('kid', 'go')] }
            : { text: 'Done.', usage: { input: 7, output: 3 } }
        },
      },
      kid: { tools: ['send'], script: (_, step) => (step === 1 ? { calls: [{ tool: 'send' }] } : { text: 'Sent.' }) },
    },
    { tools: [send], store, approver, clock },
  )
  onTestFinished(() => runtime.close())
  return {
    store,
    runtime,
    process() {
      const made = new WebhookDeliveries({ store, settings: { outgoing, incoming: [] }, workspace, clock })
      onTestFinished(() => made.close())
      made.start()
      return made
    },
    async until(isTrue, stepMs = 1_000) {
      for (let steps = 0; ; steps++) {
        // Requests take real time, timers none.
        for (let turn = 0; turn < 200; turn++) await macrotask()
        if (await isTrue()) return steps
        clock.advance(stepMs)
      }
    },
    waiting: async () =>
      (await deliveryTable(store.records, workspace).list()).map(({ error, isDead }) => `${isDead ? 'dead' : 'waiting'}: ${error}`),
  }
}

test('a completed turn is a signed request: who, what, what it cost; turns of children are none', async () => {
  const ci = await receiver()
  const { runtime, process } = scene([{ url: ci.url }])
  const { sessionId } = await runtime.run('work')
  process()
  const [one] = await ci.have(1)
  expect(one).toMatchObject({ isVerified: true, path: '/hook', headers: { 'content-type': 'application/json' } })
  expect(one?.payload).toEqual({
    type: 'session.completed',
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: {
      ...{ sessionId, agent: 'boss', title: 'work', status: 'completed', text: 'Done.' },
      ...{ usage: { inputTokens: 7, outputTokens: 3 }, costUsd: 0, durationMs: expect.any(Number) },
    },
  })
})

test('a failed turn says why', async () => {
  const ci = await receiver()
  const { runtime, process } = scene([{ url: ci.url }])
  await runtime.run('fail')
  process()
  const [one] = await ci.have(1)
  expect(one?.payload).toMatchObject({
    type: 'session.failed',
    data: { status: 'failed', error: { message: expect.stringContaining('scripted auth') } },
  })
})

test('a request of a child is one of its session; one that is answered before the delivery is not sent', async () => {
  const ci = await receiver()
  const { runtime, process, waiting, until } = scene([{ url: ci.url }])
  const { sessionId } = await runtime.run('ask')
  const first = process()
  const [one] = await ci.have(1)
  expect(one?.payload.data).toEqual({
    ...{ sessionId, agent: 'boss', title: 'ask', status: 'waiting' },
    requests: [{ id: expect.any(String), kind: 'approval', agentPath: 'root/kid#1', tool: 'send', summary: 'Send it' }],
  })
  await until(async () => (await waiting()).length === 0)
  await first.close()
  const other = await runtime.run('ask')
  await runtime.open(other.sessionId)
  const [request] = await runtime.sessions.requests(other.sessionId)
  await runtime.sessions.approve(other.sessionId, { approvalId: request?.id ?? '', decision: { kind: 'deny' } })
  await runtime.sessions.outcome(other.sessionId)
  process()
  await ci.have(2)
  expect(ci.received.slice(1).map(({ payload }) => payload.type)).toEqual(['session.completed'])
})

test('a request that is decided at once is none', async () => {
  const ci = await receiver()
  const decision = { kind: 'approve', breadth: 'once' } as const
  const { runtime, process } = scene([{ url: ci.url }], { decide: () => ({ decision, by: 'policy' }) })
  await runtime.run('ask')
  await process().close()
  expect(ci.received.map(({ payload }) => payload.type)).toEqual(['session.completed'])
})

test('a webhook gets the events and agents that it names; a copy of a session is none of them', async () => {
  const ci = await receiver()
  const { runtime, process } = scene([
    { name: 'failures', url: `${ci.url}/failures`, events: ['failed'] },
    { name: 'mail', url: `${ci.url}/mail`, agents: ['mail-*'] },
    { name: 'boss', url: `${ci.url}/boss`, agents: ['bo*', 'kid'] },
  ])
  const { sessionId } = await runtime.run('work')
  await runtime.sessions.fork(sessionId)
  await runtime.run('fail')
  await process().close()
  expect(ci.received.map(({ path, payload }) => `${path} ${payload.type}`).toSorted()).toEqual([
    '/hook/boss session.completed',
    '/hook/boss session.failed',
    '/hook/failures session.failed',
  ])
})

test('after a failure the same id comes again, later and later; the next delivery does not wait for it', async () => {
  const ci = await receiver()
  const { runtime, process, until } = scene([{ url: ci.url }])
  await runtime.run('first')
  await runtime.run('second')
  ci.answer = ({ payload }) => ({ status: payload.data.title === 'first' && ci.received.length < 5 ? 500 : 204 })
  const running = process()
  const seconds: number[] = []
  for (const count of [2, 3, 4, 5]) seconds.push(await until(() => ci.received.length === count))
  expect(ci.received.map(({ payload }) => payload.data.title)).toEqual(['first', 'second', 'first', 'first', 'first'])
  for (const [index, delay] of [5, 30, 120].entries()) {
    expect(seconds[index + 1]).toBeGreaterThanOrEqual(delay - 1)
    expect(seconds[index + 1]).toBeLessThan(delay + 5)
  }
  expect(new Set(ci.received.filter(({ payload }) => payload.data.title === 'first').map(({ id }) => id)).size).toBe(1)
  expect([running.problems, running.counts]).toEqual([[], { ci: { delivered: 2, failed: 3, dead: 0 } }])
})

test('Retry-After holds back everything for its receiver, and nothing for others', async () => {
  const [busy, other] = [await receiver(), await receiver()]
  const { runtime, process, until } = scene([{ url: busy.url }, { name: 'other', url: other.url }])
  await runtime.run('first')
  await runtime.run('second')
  busy.answer = () => (busy.received.length === 1 ? { status: 429, headers: { 'retry-after': '60' } } : {})
  process()
  await until(() => other.received.length === 2)
  expect(busy.received).toHaveLength(1)
  expect(await until(() => busy.received.length === 3)).toBeGreaterThanOrEqual(58)
})

test('a receiver that is down, hangs or redirects gets it again, and the address of a redirect gets nothing', async () => {
  const [down, hangs, redirects, target] = [await receiver(), await receiver(), await receiver(), await receiver()]
  await down.stop()
  hangs.answer = () => ({ hangs: true })
  redirects.answer = () => ({ status: 307, headers: { location: target.url } })
  const urls = { down: down.url, hangs: hangs.url, redirects: redirects.url }
  const { runtime, process, until, waiting } = scene(Object.entries(urls).map(([name, url]) => ({ name, url })))
  await runtime.run('work')
  const running = process()
  await until(() => running.problems.length === 3)
  expect(await waiting()).toEqual([
    'waiting: ECONNREFUSED',
    'waiting: no answer in time',
    'waiting: HTTP 307, and redirects are not followed',
  ])
  expect(target.received).toEqual([])
})

test('after ten attempts it is given up and kept; a retry delivers it; 410 is given up immediately', async () => {
  const ci = await receiver()
  const { runtime, process, store, until, waiting } = scene([{ url: ci.url }])
  await runtime.run('work')
  ci.answer = () => ({ status: 503 })
  const running = process()
  const isDead = async () => (await waiting()).some((each) => each.startsWith('dead'))
  await until(isDead, 600_000)
  expect([ci.received.length, await waiting()]).toEqual([10, ['dead: HTTP 503']])
  expect(running.problems).toEqual(['Webhook ci: the last delivery failed: HTTP 503. It was given up. See: troupe webhooks list'])
  ci.answer = () => ({ status: 410 })
  const table = deliveryTable(store.records, workspace)
  const [first] = ci.received
  expect(await retryDeliveries(table, { id: 'another', now: 0 })).toEqual([])
  expect(await retryDeliveries(table, { id: undefined, now: 0 })).toEqual([first?.id])
  await until(async () => ci.received.length === 11 && (await isDead()))
  ci.answer = () => ({})
  await retryDeliveries(table, { id: first?.id, now: 0 })
  await until(async () => (await waiting()).length === 0)
  expect(new Set(ci.received.map(({ id }) => id))).toEqual(new Set([first?.id]))
}, 60_000)

test('two processes deliver it once; what a process left in mid delivery, the next one repeats', async () => {
  const ci = await receiver()
  ci.answer = () => (ci.received.length === 1 ? { hangs: true } : {})
  const { runtime, process, until, waiting } = scene([{ url: ci.url }])
  await runtime.run('work')
  const [one, other] = [process(), process()]
  await until(async () => ci.received.length === 2 && (await waiting()).length === 0)
  expect([one.counts, other.counts].flatMap((counts) => Object.values(counts)).reduce((sum, { delivered }) => sum + delivered, 0)).toBe(1)
  expect(ci.received[0]?.id).toBe(ci.received[1]?.id)
}, 60_000)
