import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ApprovalDecision, InteractionEvent, ItemId, Journal, Outcome, SessionId, Store, Tool } from '../src/contracts/index.ts'
import { decide } from '../src/core/index.ts'
import { createAgentRuntime } from '../src/runtime/index.ts'
import { snapshotOf } from '../src/runtime/journal/session-snapshot.ts'
import { memoryStore } from '../src/stores/memory/index.ts'
import { FakeClock, ScriptedModel, type ScriptedStep, sequentialIds } from '../src/testing/index.ts'
import { fold } from './fixtures/fold-journal.ts'
import { restore } from './restore-snapshot.ts'
import { settle } from './settle.ts'

// Random conversations through the real driver; what must hold of every journal that it writes (invariants 4, 5, 7).

const toolNames = [
  'read_it',
  'put_it',
  'write_it',
  'write_shared',
  'write_keyed',
  'hang',
  'throws',
  'fails',
  'no_such_tool',
  'needs_yes',
] as const

const callArbitrary = fc.record({
  tool: fc.constantFrom(...toolNames),
  input: fc.oneof(fc.record({ token: fc.stringMatching(/^[a-z]{1,4}$/) }), fc.constantFrom('{"token": "x"', '{broken', '[]', '')),
})
const stepArbitrary: fc.Arbitrary<ScriptedStep> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ calls: fc.array(callArbitrary, { minLength: 1, maxLength: 4 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      text: fc.string({ minLength: 1, maxLength: 20 }),
      calls: fc.array(callArbitrary, { maxLength: 2 }),
      chunks: fc.nat({ max: 5 }).map((n) => n + 1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ text: fc.string({ maxLength: 5 }), finish: fc.constantFrom('length', 'other', 'content-filter') }) },
  {
    weight: 1,
    arbitrary: fc.record({ text: fc.constant('cut in two'), chunks: fc.constant(4), fault: fc.constantFrom('cut', 'silence', 'throw') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      fault: fc.record({ class: fc.constantFrom('rate_limit', 'network', 'auth', 'model'), message: fc.constant('no') }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant({
      calls: [
        { tool: 'read_it', id: 'same' },
        { tool: 'read_it', id: 'same' },
      ],
    }),
  },
)
const limitsArbitrary = fc.record(
  {
    maxToolTurns: fc.integer({ min: 1, max: 6 }),
    maxCalls: fc.nat({ max: 5 }),
    maxTokens: fc.integer({ min: 200, max: 20_000 }),
    timeBudget: fc.integer({ min: 1_000, max: 400_000 }),
    parallelToolCalls: fc.integer({ min: 1, max: 3 }),
  },
  { requiredKeys: ['maxToolTurns'] },
)

interface Ran {
  readonly events: readonly InteractionEvent[]
  readonly outcome: Outcome
  /** Call ids in the order in which the tools were entered. */
  readonly entered: readonly string[]
  /** Lengths that the journal had after each append: a batch is stored whole, so no crash leaves another. */
  readonly lengths: readonly number[]
}

const schema = { type: 'object', properties: { token: { type: 'string' } } }

function toolsOf(entered: string[]): Tool[] {
  const tool = (name: string, more: Partial<Tool>): Tool => ({
    name,
    description: name,
    inputSchema: schema,
    execute: (_, { callId }) => {
      entered.push(callId)
      return 'done'
    },
    ...more,
  })
  const entering = <T>(callId: string, answer: T): T => {
    entered.push(callId)
    return answer
  }
  return [
    tool('read_it', { effect: 'read', concurrency: 'shared' }),
    tool('put_it', { effect: 'idempotent', concurrency: 'shared' }),
    tool('write_it', {}),
    tool('write_shared', { concurrency: 'shared' }),
    tool('write_keyed', { concurrency: { key: (input) => String(input.token) } }),
    tool('hang', { timeoutMs: 5_000, execute: (_, { callId }) => entering(callId, new Promise<never>(() => {})) }),
    tool('throws', {
      execute: (_, { callId }) => {
        entered.push(callId)
        throw new Error('thrown')
      },
    }),
    tool('fails', { execute: (_, { callId }) => entering(callId, { ok: false, error: { class: 'network', message: 'no' } }) }),
    tool('needs_yes', { approval: () => ({ keys: [{ key: 'k', label: 'k' }], summary: 's' }) }),
  ]
}

function decisions(seed: number): ApprovalDecision {
  return (
    [
      { kind: 'approve', breadth: 'session' },
      { kind: 'approve', breadth: 'once' },
      { kind: 'deny', feedback: 'no' },
      { kind: 'abort' },
    ] as const
  )[seed % 4]!
}

interface Conversation {
  readonly steps: readonly ScriptedStep[]
  readonly limits: object
  readonly seed: number
}

async function run({ steps, limits, seed }: Conversation, journal?: readonly InteractionEvent[]): Promise<Ran> {
  const clock = new FakeClock()
  const memory = memoryStore()
  const lengths: number[] = []
  const store: Store = { ...memory, journal: noting(memory.journal, lengths) }
  const entered: string[] = []
  // The script goes on for ever, so that every run ends by its own rules.
  const script = Array.from({ length: 60 }, (_, index) => steps[index] ?? { text: 'The end.' })
  const runtime = createAgentRuntime({
    config: { agents: [{ name: 'a', description: 'd', prompt: 'p', models: ['m', 'n'], limits }], tools: toolsOf(entered) },
    adapter: new ScriptedModel(script),
    store,
    clock,
    ids: sequentialIds(),
    approver: { decide: () => ({ decision: decisions(seed), by: 'test' }) },
  })
  let outcome: Outcome
  if (journal) {
    const treeId = journal[0]!.treeId
    await store.journal.claim(treeId, 'gone' as never)
    await store.journal.append({ treeId, expectedSeq: 0, epoch: 1, events: journal })
    await store.journal.release(treeId, 1)
    clock.jump(journal.at(-1)!.at - clock.now() + 5)
    const handle = await runtime.open(treeId)
    if (decide(fold(journal)).kind === 'idle') await runtime.close()
    outcome = await settle(handle.outcome, clock)
  } else {
    outcome = await settle(runtime.run('Go.'), clock)
  }
  return { outcome, entered, lengths, events: await store.journal.read(outcome.sessionId, 0) }
}

function noting(journal: Journal, lengths: number[]): Journal {
  return {
    claim: (treeId, owner) => journal.claim(treeId, owner),
    release: (treeId, epoch) => journal.release(treeId, epoch),
    read: (treeId, after, limit) => journal.read(treeId, after, limit),
    watch: (treeId, wake) => journal.watch(treeId, wake),
    append(batch) {
      lengths.push(batch.expectedSeq + batch.events.length)
      return journal.append(batch)
    },
  }
}

const conversation: fc.Arbitrary<Conversation> = fc.record({
  steps: fc.array(stepArbitrary, { maxLength: 7 }),
  limits: limitsArbitrary,
  seed: fc.nat({ max: 3 }),
})
const runs = process.env.TROUPE_FULL ? 600 : 120

describe('every journal', () => {
  it('folds, snapshots byte for byte, decides alike, and ends everything once', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (given) => {
        const { events, outcome } = await run(given)
        expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
        for (let length = 1; length <= events.length; length++) {
          const state = fold(events.slice(0, length))
          const bytes = JSON.stringify(snapshotOf(state))
          const again = restore(JSON.parse(bytes))
          expect(JSON.stringify(snapshotOf(again))).toBe(bytes)
          expect(decide(again)).toEqual(decide(state))
          expect(decide(state)).toEqual(decide(state))
        }
        expect(JSON.stringify(snapshotOf(fold(events)))).toBe(JSON.stringify(outcome.snapshot))
        expectEndsOnce(events)
        expect(outcome.status).not.toBe('suspended')
      }),
      { numRuns: runs },
    )
  })

  it('is the same when the same conversation happens again', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (given) => {
        expect((await run(given)).events).toEqual((await run(given)).events)
      }),
      { numRuns: runs / 4 },
    )
  })

  it('can be resumed at any place without repeating a write', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, fc.nat(), async (given, cut) => {
        const whole = await run(given)
        const journal = whole.events.slice(0, whole.lengths[cut % whole.lengths.length])
        const resumed = await run(given, journal)
        expect(resumed.events.slice(0, journal.length)).toEqual(journal)
        if (resumed.events.length > journal.length) expectEndsOnce(resumed.events)
        const committed = new Map(
          journal.flatMap((event) =>
            event.type === 'interaction.item.started' && event.item.kind === 'call'
              ? [[`${event.sessionId}:${event.item.id}`, event.item] as const]
              : [],
          ),
        )
        const repeated = resumed.entered.filter(
          (callId) => committed.get(callId as `${SessionId}:${ItemId}`)?.effect === 'write' && !couldNotHaveBegun(journal, callId),
        )
        expect(repeated).toEqual([])
      }),
      { numRuns: runs },
    )
  })
})

/** An earlier call of the same step without a result was in its way, also one that waits for approval. */
function couldNotHaveBegun(journal: readonly InteractionEvent[], callId: string): boolean {
  const state = fold(journal)
  if (state.turn.kind !== 'open' || state.turn.step.kind !== 'calling') return false
  const calls = [...state.turn.step.calls]
  const index = calls.findIndex((call) => callId.endsWith(`:${call.itemId}`))
  const mine = calls[index]
  if (mine?.kind !== 'started') return false
  return calls.slice(0, index).some((call) => {
    if (call.kind !== 'started' && call.kind !== 'awaiting') return false
    const a = call.kind === 'started' ? call.intent.lane : (call.request.lane ?? { kind: 'exclusive' })
    const b = mine.intent.lane
    return a.kind === 'exclusive' || b.kind === 'exclusive' || (a.kind === 'key' && b.kind === 'key' && a.key === b.key)
  })
}

function expectEndsOnce(events: readonly InteractionEvent[]): void {
  const items = new Map<string, number>()
  let openTurns = 0
  let openSteps = 0
  for (const event of events) {
    switch (event.type) {
      case 'interaction.item.started':
        expect(items.has(event.item.id)).toBe(false)
        items.set(event.item.id, 0)
        break
      case 'interaction.item.completed':
        expect(items.get(event.item.id)).toBe(0)
        items.set(event.item.id, 1)
        break
      case 'interaction.turn.started':
        expect(++openTurns).toBe(1)
        break
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted':
        expect(--openTurns).toBe(0)
        expect([...items.values()].every((ends) => ends === 1)).toBe(true)
        break
      case 'interaction.step.started':
        expect(++openSteps).toBe(1)
        break
      case 'interaction.step.completed':
      case 'interaction.step.failed':
        expect(--openSteps).toBe(0)
        break
      default:
        expect(openTurns === 1 || !('stepId' in event && event.stepId)).toBe(true)
    }
  }
  expect({ openTurns, openSteps }).toEqual({ openTurns: 0, openSteps: 0 })
  expect(events.at(-1)?.type).toBe('interaction.session.idle')
}
