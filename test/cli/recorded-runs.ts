import fc from 'fast-check'
import {
  type AgentRuntime,
  type ApprovalId,
  type Approver,
  type ClientId,
  createAgentRuntime,
  type Hook,
  type Outcome,
  type RunHandle,
  type Store,
  type StreamEvent,
  type Tool,
  TroupeError,
} from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, ScriptedModel, type ScriptedStep, sequentialIds } from '../../src/testing/index.ts'
import { asksForSummary, windowed } from '../runtime/windows.ts'
import { settle } from '../settle.ts'

// Real runs of every kind: what they stream is what the published schemas have to describe.

export interface Recorded {
  readonly events: readonly StreamEvent[]
  readonly outcomes: readonly Outcome[]
}

const toolNames = ['read_it', 'write_it', 'write_keyed', 'hang', 'throws', 'fails', 'talks', 'needs_yes', 'walled_in', 'no_such_tool']
const call = fc.record({
  tool: fc.constantFrom(...toolNames),
  input: fc.oneof(fc.record({ token: fc.stringMatching(/^[a-z]{1,4}$/) }), fc.constantFrom('{"token": "x"', '{broken', '[]', '')),
})
const failure = fc.record(
  {
    class: fc.constantFrom('rate_limit' as const, 'network' as const, 'auth' as const, 'quota' as const, 'timeout' as const),
    message: fc.string({ maxLength: 20 }),
    remedy: fc.constant('Try again.'),
    retryAfterMs: fc.nat(5000),
  },
  { requiredKeys: ['class', 'message'] },
)
const usage = fc.record({ input: fc.nat(5000), output: fc.nat(500), cacheRead: fc.nat(50) })
const step: fc.Arbitrary<ScriptedStep> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record(
      {
        calls: fc.array(call, { minLength: 1, maxLength: 4 }),
        reasoning: fc.string({ minLength: 1 }),
        usage,
        costUsd: fc.double({ min: 0, max: 1, noNaN: true }),
      },
      { requiredKeys: ['calls'] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({ text: fc.string({ minLength: 1, unit: 'grapheme' }), chunks: fc.integer({ min: 1, max: 6 }), usage }),
  },
  { weight: 2, arbitrary: fc.constantFrom('{"city":"Oslo"}', '```json\n{"city":1}\n```', '{"town":').map((text) => ({ text })) },
  { weight: 1, arbitrary: fc.record({ text: fc.string({ maxLength: 5 }), finish: fc.constantFrom('length', 'other', 'content-filter') }) },
  {
    weight: 1,
    arbitrary: fc.record({ text: fc.constant('cut in two'), chunks: fc.constant(4), fault: fc.constantFrom('cut', 'silence', 'throw') }),
  },
  { weight: 1, arbitrary: fc.record({ fault: failure }) },
)

export interface Conversation {
  readonly steps: readonly ScriptedStep[]
  readonly limits: { readonly maxToolTurns: number; readonly maxCalls?: number; readonly maxTokens?: number; readonly timeBudget?: number }
  readonly approval: 'once' | 'session' | 'deny' | 'abort' | 'suspend'
  readonly wants: 'text' | 'markdown' | 'json' | 'schema'
  readonly meddling: 'none' | 'steer' | 'stop' | 'interrupt' | 'revoke' | 'late approval'
}
export const conversation: fc.Arbitrary<Conversation> = fc.record({
  steps: fc.array(step, { maxLength: 7 }),
  limits: fc.record(
    {
      maxToolTurns: fc.integer({ min: 1, max: 6 }),
      maxCalls: fc.nat(5),
      maxTokens: fc.integer({ min: 200, max: 20_000 }),
      timeBudget: fc.integer({ min: 1000, max: 400_000 }),
    },
    { requiredKeys: ['maxToolTurns'] },
  ),
  approval: fc.constantFrom('once', 'session', 'deny', 'abort', 'suspend'),
  wants: fc.constantFrom('text', 'markdown', 'json', 'schema'),
  meddling: fc.constantFrom('none', 'none', 'steer', 'stop', 'interrupt', 'revoke', 'late approval'),
})

const schema = { type: 'object', properties: { token: { type: 'string' } } }
const asks = { keys: [{ key: 'k', label: 'all of k' }], summary: 'May it?' }

function tools(): readonly Tool[] {
  const tool = (name: string, more: Partial<Tool>): Tool => ({
    name,
    description: name,
    inputSchema: schema,
    execute: () => 'done',
    ...more,
  })
  return [
    tool('read_it', { effect: 'read', concurrency: 'shared', execute: () => ({ ok: true, content: 'read', value: { n: [1, null] } }) }),
    tool('write_it', { namespace: 'files', view: () => ({ type: 'file_change', details: { path: '/a' } }) }),
    tool('write_keyed', { effect: 'idempotent', concurrency: { key: ({ token }) => String(token) } }),
    tool('hang', { timeoutMs: 5000, execute: () => new Promise<never>(() => {}) }),
    tool('throws', {
      execute: () => {
        throw new Error('thrown')
      },
    }),
    tool('fails', { execute: () => ({ ok: false, error: { class: 'network', message: 'no', remedy: 'wait' }, partial: 'half' }) }),
    tool('talks', {
      execute: (_, { progress, maxOutputBytes }) => {
        progress('half way')
        return 'x'.repeat(maxOutputBytes + 1)
      },
    }),
    tool('needs_yes', { approval: () => asks }),
    tool('walled_in', {
      execute: (_, { confinement }) =>
        confinement.kind === 'none' ? 'out' : { ok: false, error: { class: 'sandbox', message: 'there is a wall' } },
    }),
  ]
}

const hooks: readonly Hook[] = [
  {
    name: 'meddler',
    onFailure: 'open',
    beforeCall({ tool, input }) {
      if (tool === 'write_it' && input.token === undefined) return { kind: 'block', reason: 'no token' }
      if (tool === 'write_keyed') return { kind: 'change', input: { token: 'changed' }, reason: 'for the test' }
      if (tool === 'fails') throw new Error('a broken hook')
      return { kind: 'continue' }
    },
    afterCall: ({ tool }) => (tool === 'read_it' ? { kind: 'context', text: 'by the way' } : { kind: 'continue' }),
  },
]

const approverOf = (approval: Conversation['approval']): Approver => ({
  decide() {
    if (approval === 'suspend') return 'suspend'
    const decision =
      approval === 'abort'
        ? ({ kind: 'abort' } as const)
        : approval === 'deny'
          ? ({ kind: 'deny', feedback: 'no' } as const)
          : ({ kind: 'approve', breadth: approval } as const)
    return { decision, by: 'test' }
  },
})

const outputs = {
  text: { format: 'text' },
  markdown: { format: 'markdown' },
  json: { format: 'json' },
  schema: { format: 'json', schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
} as const

/** A run as a reader of the stream sees it, and, where it was suspended, what follows the answer. */
export async function record({ steps, limits, approval, wants, meddling }: Conversation): Promise<Recorded> {
  const clock = new FakeClock()
  const store = memoryStore()
  const ids = sequentialIds()
  // The script goes on for ever, so that every run ends by its own rules.
  const model = new ScriptedModel(Array.from({ length: 80 }, (_, index) => steps[index] ?? { text: '{"city":"Oslo"}' }))
  const agents = ['clerk', 'other'].map((name) => ({
    name,
    description: 'd',
    prompt: 'p',
    models: ['m', 'n'],
    limits,
    output: outputs[wants],
    parameters: { temperature: 0.5 },
  }))
  const runtimeWith = (approver: Approver) =>
    createAgentRuntime({
      config: { agents, agentSelection: { agent: 'clerk' }, tools: tools(), context: [{ source: 'AGENTS.md', text: 'Be brief.' }] },
      adapter: model,
      store,
      clock,
      ids,
      hooks,
      approver,
      sandbox: { confinement: { kind: 'sandbox', name: 'box' } },
    })
  const first = runtimeWith(approverOf(approval))
  const handle = first.stream('Go.', { agent: 'other' })
  const events: StreamEvent[] = []
  const read = follow(handle, events, () => meddle(meddling, handle, { sessions: first.sessions, store }))
  const outcome = await settle(handle.outcome, clock)
  await read
  await first.close()
  if (outcome.status !== 'suspended') return { events, outcomes: [outcome] }

  const second = runtimeWith(approverOf('once'))
  const again = await second.open(outcome.sessionId)
  const resumed = follow(again, events, async () => {})
  for (const event of [...events]) {
    // The approver may be faster.
    if (event.type === 'interaction.approval.requested')
      await again.approve(event.request.id, { kind: 'approve', breadth: 'session' }).catch(unlessAnswered)
  }
  const end = await settle(again.outcome, clock)
  await resumed
  await second.close()
  return { events, outcomes: [outcome, end] }
}

function unlessAnswered(error: unknown): void {
  if (!(error instanceof TroupeError && error.code.startsWith('approval_'))) throw error
}

/** A run that makes a plan and looks at so much that its history has to become shorter. */
export async function recordLong(): Promise<Recorded> {
  const clock = new FakeClock()
  const look: Tool = { name: 'look', description: 'l', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'x'.repeat(2_600) }
  const plan: Tool = {
    name: 'plan',
    description: 'p',
    inputSchema: { type: 'object' },
    effect: 'idempotent',
    execute: (_, { updatePlan }) => {
      updatePlan({ steps: [{ step: 'Look', status: 'in_progress' }] })
      return 'planned'
    },
  }
  const work = ['plan', 'plan', ...Array.from({ length: 8 }, () => 'look')]
  const model = windowed(
    4_000,
    Array.from({ length: 40 }, () => (request) => {
      if (asksForSummary(request)) return { text: 'It was long.' }
      const tool = work.shift()
      return tool === undefined ? { text: 'Done.' } : { calls: [{ tool, input: { n: work.length } }] }
    }),
  )
  const agents = [{ name: 'clerk', description: 'd', prompt: 'p', models: ['m'], limits: { maxToolTurns: 30 } }]
  const runtime = createAgentRuntime({ config: { agents, tools: [look, plan] }, adapter: model, clock, store: memoryStore() })
  const handle = runtime.stream('Look at it all.')
  const events: StreamEvent[] = []
  const read = follow(handle, events, async () => {})
  const outcome = await settle(handle.outcome, clock)
  await read
  await runtime.close()
  return { events, outcomes: [outcome] }
}

async function follow(handle: RunHandle, events: StreamEvent[], meddle: () => Promise<unknown>): Promise<void> {
  let hasMeddled = false
  for await (const event of handle) {
    events.push(event)
    if (hasMeddled || event.type !== 'interaction.step.started') continue
    hasMeddled = true
    await meddle()
  }
}

async function meddle(
  how: Conversation['meddling'],
  handle: RunHandle,
  { sessions, store }: Pick<AgentRuntime, 'sessions'> & { readonly store: Store },
): Promise<unknown> {
  switch (how) {
    case 'none':
      return
    case 'steer':
      return handle.steer([
        { type: 'text', text: 'Hurry.' },
        { type: 'image', mediaType: 'image/png', data: 'aGk=' },
      ])
    case 'stop':
      return handle.stop()
    case 'interrupt':
      return Promise.all([handle.interrupt(), sessions.sendHeld(handle.sessionId, 'test')])
    case 'revoke':
      return sessions.revoke(handle.sessionId, ['k'], 'test')
    case 'late approval':
      // As a surface of another process may do it.
      return store.inbox.add(handle.sessionId, 'late' as ClientId, {
        kind: 'approval',
        approvalId: 'nothing' as ApprovalId,
        decision: { kind: 'abort' },
        by: 'test',
      })
    default:
      return how satisfies never
  }
}
