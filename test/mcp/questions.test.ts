// What servers ask during a call, from the server to the journal.
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ApprovalDecision, ApprovalRequest, Approver, Store } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel, type ScriptedStep } from '../../src/testing/index.ts'
import { bounded, journalOf, resultsIn } from '../acceptance/support.ts'
import { recordsOf } from '../runtime/approval-stage.ts'
import { realClock, realServer } from './support.ts'

const folder = join(import.meta.dirname, 'fixtures')
const clerk = { name: 'clerk', description: 'Works', prompt: 'You work.', model: 'any' }
const travel = (protocol: '2025-11-25' | '2026-07-28') => ({
  command: process.execPath,
  args: ['asking-server.mjs'],
  protocol,
  timeout: 20_000,
})
const everything = { command: process.execPath, args: [realServer('everything')] }

const once: ApprovalDecision = { kind: 'approve', breadth: 'once' }
const filled = (content: { [name: string]: string }): ApprovalDecision => ({ kind: 'answer', text: '', content })

function stage(
  server: object,
  steps: readonly ScriptedStep[],
  { store = memoryStore(), ...answering }: { decide(request: ApprovalRequest): ApprovalDecision | 'suspend' | 'wait'; store?: Store },
) {
  const asked: ApprovalRequest[] = []
  const approver: Approver = {
    decide: (request) => {
      if (request.scope === 'call') return { decision: once, by: 'test' }
      asked.push(request)
      const decision = answering.decide(request)
      return typeof decision === 'string' ? decision : { decision, by: 'ann' }
    },
  }
  const model = new ScriptedModel([...steps])
  const runtime = createAgentRuntime({
    config: { agents: [clerk], mcpServers: { srv: server as never } },
    adapter: model,
    approver,
    clock: realClock,
    mcp: { workspace: folder },
    store,
  })
  onTestFinished(() => runtime.close())
  return { runtime, model, asked, store }
}

const call = (tool: string, input = {}): ScriptedStep => ({ calls: [{ tool: `srv__${tool}`, input }] })
const done: ScriptedStep = { text: 'Done.' }

describe('a server that asks while the call is open', () => {
  it('gets the fields of a form (server-everything)', async () => {
    const { runtime, model, asked } = stage(everything, [call('trigger-elicitation-request'), done], {
      decide: () => filled({ name: 'Ann' }),
    })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
    expect(asked).toMatchObject([{ scope: 'question', isLive: true, question: { from: 'srv', form: { required: ['name'] } } }])
    expect(resultsIn(model.requests[1])[0]?.content).toContain('Name: Ann')
  })

  it('gets the person who opened an address, in a request or before the call (server-everything)', async () => {
    const url = 'https://shop.example.org/pay'
    const steps = [
      call('trigger-url-elicitation', { url }),
      call('trigger-url-elicitation', { url, errorPath: true, elicitationId: 'e1' }),
      done,
    ]
    const { runtime, model, asked } = stage(everything, steps, { decide: () => ({ kind: 'answer', text: 'done' }) })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
    expect(asked.map(({ isLive, question }) => [isLive ?? false, question?.url])).toEqual([
      [true, url],
      [false, expect.stringContaining('http')],
      [true, url],
    ])
    expect(resultsIn(model.requests[1])[0]?.content).toMatch(/accept/)
    expect(resultsIn(model.requests[2])[0]?.content).toMatch(/accept/)
  })

  it('may say itself that the person is done with an address', async () => {
    const { runtime, model, asked } = stage(travel('2025-11-25'), [call('login'), done], { decide: () => 'wait' })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
    expect(asked).toMatchObject([{ question: { url: 'https://login.example.org/' } }])
    expect(resultsIn(model.requests[1])[0]?.content).toBe('login accept')
  })

  it('gets the answer of the model, in a child of the call, once that is approved (server-everything)', async () => {
    const input = { prompt: 'Name a colour', maxTokens: 20 }
    const { runtime, model, asked } = stage(everything, [call('trigger-sampling-request', input), { text: 'blue' }, done], {
      decide: () => once,
    })
    const { status, operations } = await bounded(runtime.run('go'))
    expect(status).toBe('completed')
    expect(asked).toMatchObject([{ scope: 'sampling', keys: [{ key: 'sampling:srv' }] }])
    expect(model.requests[1]).toMatchObject({ tools: [], parameters: { maxOutputTokens: 20 } })
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('Name a colour')
    expect(resultsIn(model.requests[2])[0]?.content).toContain('blue')
    expect(operations?.steps[0]?.calls[0]?.child?.agentPath).toBe('root/sampling#1')
  })

  it('gets cancel if nobody is there', async () => {
    const { runtime, model } = stage(everything, [call('trigger-elicitation-request'), done], { decide: () => 'suspend' })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
    expect(resultsIn(model.requests[1])[0]?.content).toMatch(/cancel/)
  })
})

describe('a server that asks by returning', () => {
  const answers = ({ question }: ApprovalRequest): ApprovalDecision =>
    question?.url ? { kind: 'answer', text: 'done' } : filled({ city: 'Oslo' })
  const booked = 'pay accept: Oslo, 3 nights, 1 roots'

  it('is called again with the answers and its state, round by round', async () => {
    const { runtime, model, asked } = stage(travel('2026-07-28'), [call('book', { nights: 3 }), done], { decide: answers })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
    expect(resultsIn(model.requests[1])[0]?.content).toBe(booked)
    expect(asked.map(({ isLive, summary }) => [isLive, summary])).toEqual([
      [undefined, 'Where to?'],
      [undefined, 'Pay'],
    ])
  })

  it('gets the answers of a later process, with another server process', async () => {
    const store = memoryStore()
    const first = stage(travel('2026-07-28'), [call('book', { nights: 3 })], { decide: () => 'suspend', store })
    const { sessionId, status } = await bounded(first.runtime.run('go'))
    expect(status).toBe('suspended')
    await first.runtime.close()
    for (const expected of ['suspended', 'completed']) {
      const next = stage(travel('2026-07-28'), [done], { decide: () => 'suspend', store })
      const [request] = await next.runtime.sessions.requests(sessionId)
      await next.runtime.sessions.approve(sessionId, { approvalId: request!.id, decision: answers(request!) })
      expect((await bounded((await next.runtime.open(sessionId)).outcome)).status).toBe(expected)
      await next.runtime.close()
    }
    expect(recordsOf(await journalOf(store, sessionId))).toMatchObject([{ status: 'completed', content: booked }])
  })

  it('gets a refusal, too', async () => {
    const { runtime, model } = stage(travel('2026-07-28'), [call('book', { nights: 3 }), done], { decide: () => ({ kind: 'deny' }) })
    await bounded(runtime.run('go'))
    expect(resultsIn(model.requests[1])[0]?.content).toBe('decline in 3 nights')
  })
})
