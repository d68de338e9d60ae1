import { describe, expect, it } from 'vitest'
import { fold } from '../../test/fixtures/fold-journal.ts'
import * as sample from '../../test/fixtures/sample-journal.ts'
import type { ApprovalId, ClientId, EventDraft, EventType, ItemId, Message, SessionId } from '../contracts/index.ts'
import { type OpenTurn, type SessionState, speakerOf } from './state/state.ts'

const {
  accepted,
  turnStarted,
  stepStarted,
  textStarted,
  textCompleted,
  answered,
  called,
  stepFailed,
  callStarted,
  callCompleted,
  approvalRequested,
} = sample

const state = (...drafts: EventDraft[]): SessionState => fold(sample.journal(drafts))
const openTurn = (...drafts: EventDraft[]): OpenTurn => {
  const { turn } = state(...drafts)
  if (turn.kind !== 'open') throw new Error(`the turn is ${turn.kind}`)
  return turn
}
const begun = [accepted(), turnStarted()]
const asked = [...begun, stepStarted()]
const resolved = (decision: Extract<EventDraft, { type: 'interaction.approval.resolved' }>['decision']): EventDraft => ({
  type: 'interaction.approval.resolved',
  approvalId: 't1.s1.1.approval' as ApprovalId,
  decision,
  by: 'ann',
})

const childEnd = { childId: 'tree/t1.s1.1' as SessionId, agent: 'scout', totals: sample.totals, paidUsd: 0.25, children: 2, idleMs: 40 }
const childEnded = (end: EventDraft) => {
  const itemId = 't1.s1.1' as ItemId
  const started: EventDraft = {
    type: 'interaction.subagent.started',
    itemId,
    childId: childEnd.childId,
    agent: 'scout',
    childPath: 'root/scout#1',
  }
  return state(...begun, stepStarted(), called('agent__scout'), callStarted(), started, { itemId, ...end } as EventDraft)
}

/** A call has spawned a child, and is over. */
const spawned: readonly EventDraft[] = [
  ...begun,
  stepStarted(),
  called('spawn_agent'),
  callStarted(),
  {
    type: 'interaction.subagent.started',
    itemId: 't1.s1.1' as ItemId,
    childId: childEnd.childId,
    agent: 'scout',
    childPath: 'root/scout#1',
    turn: 1,
  },
  callCompleted(),
]
const firstTurn = { itemId: 't1.s1.1' as ItemId, turn: 1, notice: '[scout#1: completed]' }
const handedOver = {
  type: 'interaction.handoff.started',
  itemId: 't1.s1.1' as ItemId,
  childId: childEnd.childId,
  agent: 'scout',
  childPath: 'root/scout#1',
} as const
const reported: EventDraft = { type: 'interaction.subagent.completed', status: 'completed', ...childEnd, ...firstTurn }

describe('a spawned child', () => {
  const child = { childId: childEnd.childId, itemId: 't1.s1.1', name: 'scout#1', agent: 'scout', turn: 1, isWorking: true, idleBefore: 0 }

  it('is in the list of the turn until it is closed, over several turns, and is charged for each', () => {
    expect(state(...spawned).turn).toMatchObject({ children: 1, spawned: [child] })
    const idle = state(...spawned, reported)
    expect(idle.turn).toMatchObject({ children: 3, paidUsd: 0.75, spawned: [{ ...child, isWorking: false }] })
    const again = { ...(spawned[5] as EventDraft), turn: 2 } as EventDraft
    expect(state(...spawned, reported, again).turn).toMatchObject({ children: 3, spawned: [{ ...child, turn: 2 }] })
    expect(() => state(...begun, stepStarted(), called('spawn_agent'), callStarted(), again)).toThrow(/no such spawned child/)
  })

  it('reports like a steering message that does not become the goal and ends with the turn', () => {
    const clientId = `${childEnd.childId}.1` as ClientId
    const notice = { role: 'user', parts: [{ type: 'text', text: '[scout#1: completed]' }] }
    expect(state(...spawned, reported).inputs).toEqual([{ clientId, parts: notice.parts, mode: 'steer', child: childEnd.childId }])
    const step = { ...stepStarted({ absorbs: [clientId] }), stepId: 't1.s2' } as EventDraft
    const absorbed = state(...spawned, reported, step)
    expect([...absorbed.history].at(-1)).toEqual(notice)
    expect(absorbed).toMatchObject({ inputs: [], turn: { goal: [{ parts: [{ text: 'hello' }] }] } })
    const ending = { status: 'partial', reason: 'steps' } as const
    const end: EventDraft = { type: 'interaction.turn.completed', ending, report: { format: 'text', text: '' }, totals: sample.totals }
    expect(state(...spawned, reported, end).inputs).toEqual([])
  })

  it('is not reported again by the call whose result has its report', () => {
    const waits = [
      ...spawned,
      { ...stepStarted(), stepId: 't1.s2' } as EventDraft,
      { ...called('wait_for_agent'), stepId: 't1.s2' } as EventDraft,
    ]
    const started = callStarted()
    const done = callCompleted()
    if (started.type !== 'interaction.item.started' || done.type !== 'interaction.item.completed' || done.item.kind !== 'call')
      throw new Error()
    const id = 't1.s2.1' as ItemId
    const item = { ...done.item, id, delivers: [`${childEnd.childId}.1` as ClientId] }
    const call = { ...started, itemId: id, item: { ...started.item, id } } as EventDraft
    expect(state(...waits, call, reported, { ...done, itemId: id, item }).inputs).toEqual([])
  })
})

/** One test, at least, for each type; `covers every event type` fails when one has none. */
const tests: { readonly [Type in EventType]: () => void } = {
  'interaction.session.created': () => {
    expect(state()).toMatchObject({
      treeId: 'tree',
      agentPath: 'root',
      seq: 1,
      at: 1_000,
      tools: ['look_up'],
      promptChars: 400,
      turns: 0,
      turn: { kind: 'none' },
    })
    const [first] = sample.journal([])
    expect(() => fold([first!, { ...first!, seq: 2 }])).toThrow(/a session is created once/)
  },
  'interaction.session.configured': () => {
    const agent = { ...sample.agent, prompt: 'Another.' }
    const settings = { agent, tools: [], promptChars: 8, prices: { m: { input: 1, output: 2 } }, windows: { m: 9_000 } }
    expect(state({ type: 'interaction.session.configured', ...settings, reason: 'asked' })).toMatchObject(settings)
    const { prices: _, windows: __, ...bare } = settings
    const later: EventDraft[] = [
      { type: 'interaction.session.configured', ...settings, reason: 'asked' },
      { type: 'interaction.session.configured', ...bare, reason: 'asked again' },
    ]
    expect(state(...later)).toMatchObject({ ...bare, prices: {}, windows: {} })
  },
  'interaction.session.resumed': () => {
    const diagnostic = { code: 'tool_missing', severity: 'warning', message: 'gone' } as const
    const resumed: EventDraft = { type: 'interaction.session.resumed', epoch: 2, policy: 'p', diagnostics: [diagnostic] }
    expect(openTurn(...asked, resumed)).toMatchObject({ step: { kind: 'asking' }, idleMs: 1 })
    // Its children worked meanwhile, or something was recorded before the resumption.
    const { at } = state(...asked, resumed)
    for (const idleMs of [0, 3]) expect(openTurn(...asked, { ...resumed, stoppedAt: at - idleMs } as EventDraft)).toMatchObject({ idleMs })
    expect(openTurn(...asked, called('look_up'), callStarted(), resumed)).toMatchObject({
      step: { calls: [{ kind: 'started', orphaned: true }] },
    })
    expect(openTurn(...asked, called('look_up'), resumed)).toMatchObject({ step: { calls: [{ kind: 'requested' }] } })
    expect([...openTurn(...begun, resumed).diagnostics]).toEqual([diagnostic])
    expect(state(resumed).diagnostics).toEqual([diagnostic])
  },
  'interaction.session.idle': () => {
    expect(state({ type: 'interaction.session.idle' })).toEqual({ ...state(), seq: 2, at: 1_001 })
  },
  'interaction.input.accepted': () => {
    expect(state({ ...accepted(), inbox: 7 } as EventDraft)).toMatchObject({
      inputs: [{ clientId: 'c1', parts: [{ type: 'text', text: 'hello' }], mode: 'queue' }],
      inboxCursor: 7,
    })
  },
  'interaction.held.sent': () => {
    expect(state({ type: 'interaction.held.sent', by: 'ann', inbox: 9 })).toEqual({ ...state(), seq: 2, at: 1_001, inboxCursor: 9 })
  },
  'interaction.history.added': () => {
    const image = { type: 'image', mediaType: 'image/png', data: 'blob:b1', bytes: 4 } as const
    const messages: Message[] = [
      { role: 'user', parts: [{ type: 'text', text: 'Look this up.' }, image] },
      { role: 'assistant', parts: [{ type: 'call', id: 'c', name: 'look_up', input: '{}' }] },
      { role: 'tool', results: [{ id: 'c', name: 'look_up', ok: true, content: 'found' }] },
    ]
    const added: EventDraft = { type: 'interaction.history.added', messages }
    const seeded = state(added, ...begun)
    expect([...seeded.history]).toEqual([...messages, { role: 'user', parts: [{ type: 'text', text: 'hello' }] }])
    expect(seeded).toMatchObject({ stored: { parts: true }, initialMessages: [], turn: { goal: [{ parts: [{ text: 'hello' }] }] } })
    expect(seeded.historyChars).toBeGreaterThan(state(...begun).historyChars + 4_000)
    expect(() => state(...begun, added)).toThrow(/a turn has started/)
  },
  'interaction.turn.started': () => {
    const next = state(...begun)
    expect(next).toMatchObject({
      turns: 1,
      inputs: [],
      turn: { kind: 'open', id: 't1', steps: 0, calls: 0, step: { kind: 'ready', failures: [] } },
    })
    expect([...next.history]).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }])
    expect(() => state(...begun, accepted('c2'), turnStarted('c2', 't2' as never))).toThrow(/the turn before it has not ended/)
    expect(() => state(turnStarted('nobody'))).toThrow(/never accepted/)
  },
  'interaction.turn.suspended': () => {
    const suspended: EventDraft = { type: 'interaction.turn.suspended', reason: 'approval', approvals: [] }
    expect(openTurn(...asked, called('look_up'), approvalRequested(), suspended).waiting).toEqual({ kind: 'suspended', since: 1_005 })
  },
  'interaction.turn.completed': () => {
    const ending = { status: 'partial', reason: 'steps' } as const
    const end: EventDraft = { type: 'interaction.turn.completed', ending, report: { format: 'text', text: 'done' }, totals: sample.totals }
    expect(state(...begun, end).turn).toMatchObject({ kind: 'ended', id: 't1', ending, report: { text: 'done' }, totals: sample.totals })
    expect(() => state(...begun, end, end)).toThrow(/no turn is open/)
  },
  'interaction.turn.failed': () => {
    const failure = { class: 'auth', message: 'no key' } as const
    const ending = { status: 'failed', reason: 'model', message: 'no key', remedy: 'Set one.', failure } as const
    const end: EventDraft = { type: 'interaction.turn.failed', ending, totals: sample.totals }
    expect(state(...begun, end).turn).toMatchObject({ kind: 'ended', ending })
    expect(() => state(...begun, end, stepStarted())).toThrow(/no turn is open/)
  },
  'interaction.turn.interrupted': () => {
    const ending = { status: 'interrupted', reason: 'interrupted' } as const
    const end: EventDraft = { type: 'interaction.turn.interrupted', ending, totals: sample.totals }
    expect(state(...begun, end).turn).toMatchObject({ kind: 'ended', ending })
  },
  'interaction.step.started': () => {
    expect(openTurn(...asked)).toMatchObject({
      steps: 1,
      step: { kind: 'asking', id: 't1.s1', model: 'first', attempt: 1, open: [], texts: [] },
    })
    const steered = state(...begun, accepted('c2', 'steer', 'and this'), stepStarted({ absorbs: ['c2' as ClientId] }))
    expect([...steered.history].at(-1)).toEqual({ role: 'user', parts: [{ type: 'text', text: 'and this' }] })
    const last = stepStarted({ last: { reason: 'steps', notice: 'Answer now.' } })
    expect([...state(...begun, last).history].at(-1)).toEqual({ role: 'user', parts: [{ type: 'text', text: 'Answer now.' }] })
    expect(openTurn(...begun, last).last).toBe('steps')
    expect(state(...begun, last, stepFailed(), { ...last, attempt: 2 } as EventDraft).history.length).toBe(2)
    expect(() => state(...asked, stepStarted())).toThrow(/the step before it has not ended/)
  },
  'interaction.offer.recorded': () => {
    const recorded = (hash: string): EventDraft => ({ type: 'interaction.offer.recorded', hash, tools: [], instructions: '' })
    const offer = { hash: 'h2', abilities: ['tools'], capsOutput: false } as const
    expect(state(recorded('h1'), recorded('h2')).stored).toEqual({ output: false, parts: false, offers: ['h1', 'h2'] })
    expect(state(recorded('h2'), ...begun, stepStarted({ offer })).stored).toMatchObject({ offers: ['h2'], offer })
  },
  'interaction.step.completed': () => {
    const next = state(...asked, textStarted(), textCompleted(), answered())
    expect([...next.history].at(-1)).toEqual({ role: 'assistant', parts: [{ type: 'text', text: 'done' }] })
    expect(next).toMatchObject({
      spent: { usage: sample.usage, cost: 0.5 },
      turn: { step: { kind: 'answered', truncated: false }, lastText: 'done' },
    })
    expect(openTurn(...asked, textStarted(), textCompleted(), answered('t1.s1.1', 'length')).step).toMatchObject({ truncated: true })
    expect(openTurn(...asked, called('look_up', 'other')).step).toMatchObject({
      kind: 'calling',
      calls: [
        { kind: 'requested', itemId: 't1.s1.1' },
        { kind: 'requested', itemId: 't1.s1.2' },
      ],
    })
    expect([...openTurn(...asked, called('look_up')).accounting]).toEqual([
      {
        kind: 'model',
        agentPath: 'root',
        stepId: 't1.s1',
        attempt: 1,
        model: 'test/first',
        status: 'completed',
        usage: sample.usage,
        cost: 0.5,
        latencyMs: 5,
      },
    ])
    expect(() => state(...asked, answered())).toThrow(/which its step does not have/)
    const streamed: EventDraft = { ...called('look_up'), firstTokenMs: 2 } as EventDraft
    expect([...openTurn(...asked, streamed).accounting]).toEqual([...openTurn(...asked, called('look_up')).accounting])
  },
  'interaction.step.failed': () => {
    const turn = openTurn(...asked, stepFailed('auth', 300))
    expect(turn).toMatchObject({
      dropped: ['first'],
      spent: { cost: 'unknown' },
      step: { kind: 'ready', failures: [{ model: 'first', failure: { class: 'auth' }, notBefore: 1_304 }] },
    })
    expect(openTurn(...asked, stepFailed(), stepStarted({ attempt: 2, model: 'second' })).steps).toBe(1)
    expect(() => state(...asked, textStarted(), stepFailed())).toThrow(/its items are still open/)
  },
  'interaction.item.started': () => {
    expect(openTurn(...asked, textStarted()).step).toMatchObject({ open: [{ id: 't1.s1.1', type: 'agent_message' }] })
    expect(openTurn(...asked, called('look_up'), callStarted())).toMatchObject({
      calls: 1,
      step: { calls: [{ kind: 'started', attempt: 1, orphaned: false, intent: { tool: 'look_up' } }] },
    })
    expect(() => state(...asked, called('look_up'), callStarted(), callStarted())).toThrow(/already been started/)
    expect(() => state(...asked, called('look_up'), callStarted(2))).toThrow(/the step has no such call/)
  },
  'interaction.item.updated': () => {
    const updated: EventDraft = {
      type: 'interaction.item.updated',
      itemId: 't1.s1.1' as ItemId,
      update: { kind: 'attempt', attempt: 2, reason: 'resumed' },
    }
    const orphaned = [
      ...asked,
      called('look_up'),
      callStarted(),
      { type: 'interaction.session.resumed', epoch: 2, policy: 'p', diagnostics: [] } as EventDraft,
    ]
    expect(openTurn(...orphaned, updated).step).toMatchObject({ calls: [{ kind: 'started', attempt: 2, orphaned: false }] })
    expect(() => state(...asked, called('look_up'), updated)).toThrow(/not running/)
  },
  'interaction.item.completed': () => {
    const two = [...asked, called('look_up', 'other'), callStarted(1), callStarted(2)]
    expect(openTurn(...two, callCompleted(2, 'second')).step).toMatchObject({ calls: [{ kind: 'started' }, { kind: 'ended' }] })
    const both = state(...two, callCompleted(2, 'second'), callCompleted(1, 'first'))
    expect([...both.history].at(-1)).toEqual({
      role: 'tool',
      results: [
        { id: 'call_1', name: 'look_up', ok: true, content: 'first' },
        { id: 'call_2', name: 'look_up', ok: true, content: 'second' },
      ],
    })
    expect(both.turn).toMatchObject({ step: { kind: 'ready', failures: [] } })
    expect(() => state(...two, callCompleted(1), callCompleted(1))).toThrow(/not running/)
    expect(() => state(...asked, textCompleted())).toThrow(/the item is not open/)
    const stored = { ...callCompleted(1) } as Extract<EventDraft, { type: 'interaction.item.completed' }>
    const storedWith = (more: object) => state(...two, { ...stored, item: { ...stored.item, ...more } } as EventDraft).stored
    expect(state(...two, stored).stored).toEqual({ output: false, parts: false, offers: [] })
    expect(storedWith({ output: { handle: 'b', bytes: 9 } })).toEqual({ output: true, parts: false, offers: [] })
    expect(storedWith({ parts: [{ type: 'image', mediaType: 'image/png', blob: 'b', bytes: 9 }] })).toEqual({
      output: false,
      parts: true,
      offers: [],
    })
    expect(storedWith({ parts: [{ type: 'file', mediaType: 'text/csv', blob: 'b', bytes: 9 }] })).toEqual({
      output: true,
      parts: true,
      offers: [],
    })
  },
  'interaction.approval.requested': () => {
    expect(openTurn(...asked, called('look_up'), approvalRequested())).toMatchObject({
      waiting: { kind: 'approval', since: 1_005 },
      step: { calls: [{ kind: 'awaiting' }] },
    })
    expect(() => state(...asked, approvalRequested())).toThrow(/no step has calls/)
  },
  'interaction.approval.resolved': () => {
    const waiting = [...asked, called('look_up'), approvalRequested()]
    expect(state(...waiting, resolved({ kind: 'approve', breadth: 'session' }))).toMatchObject({
      grants: [{ key: 'tool:look_up' }],
      turn: { idleMs: 1, waiting: { kind: 'no' }, step: { calls: [{ kind: 'approved' }] } },
    })
    expect(state(...waiting, resolved({ kind: 'approve', breadth: 'once' })).grants).toEqual([])
    expect(openTurn(...waiting, resolved({ kind: 'deny', feedback: 'not now' })).step).toMatchObject({
      calls: [{ kind: 'denied', feedback: 'not now' }],
    })
    // A call that ends without an answer ends the waiting too.
    expect(openTurn(...waiting, callStarted()).waiting).toEqual({ kind: 'no' })
    expect(() => state(...waiting, { ...resolved({ kind: 'abort' }), approvalId: 'other' as ApprovalId } as EventDraft)).toThrow(
      /no open request/,
    )
    expect(openTurn(...waiting, resolved({ kind: 'abort' }))).toMatchObject({ cancel: 'abort', step: { calls: [{ kind: 'denied' }] } })
  },
  'interaction.approval.granted': () => {
    const keys = [{ key: 'tool:look_up', label: 'any look-up' }]
    expect(state(...asked, { type: 'interaction.approval.granted', keys, from: 'tree/t1.s1.1' as SessionId, by: 'ann' }).grants).toEqual(
      keys,
    )
  },
  'interaction.approval.revoked': () => {
    const granted = [...asked, called('look_up'), approvalRequested(), resolved({ kind: 'approve', breadth: 'session' })]
    expect(state(...granted, { type: 'interaction.approval.revoked', keys: ['tool:look_up'], by: 'ann', inbox: 3 })).toMatchObject({
      grants: [],
      inboxCursor: 3,
    })
  },
  'interaction.subagent.started': () => {
    const started: EventDraft = {
      type: 'interaction.subagent.started',
      itemId: 't1.s1.1' as ItemId,
      childId: 'tree/t1.s1.1' as SessionId,
      agent: 'scout',
      childPath: 'root/scout#1',
    }
    expect(state(...begun, stepStarted(), called('agent__scout'), callStarted(), started).turn).toMatchObject({ children: 1 })
    expect(() => state(started)).toThrow(/no turn is open/)
  },
  'interaction.subagent.completed': () => {
    expect(childEnded({ type: 'interaction.subagent.completed', status: 'completed', ...childEnd })).toMatchObject({
      spent: { usage: { input: 200, output: 20 } },
      turn: { spent: { usage: { input: 200, output: 20 } }, paidUsd: 0.75, children: 3, idleMs: 40 },
    })
  },
  'interaction.subagent.failed': () => {
    const failure = { class: 'network', message: 'It is gone.' } as const
    expect(childEnded({ type: 'interaction.subagent.failed', status: 'failed', failure, ...childEnd })).toMatchObject({
      turn: { paidUsd: 0.75, children: 3 },
    })
  },
  'interaction.subagent.closed': () => {
    const closed: EventDraft = {
      type: 'interaction.subagent.closed',
      itemId: 't1.s1.1' as ItemId,
      childId: childEnd.childId,
      agent: 'scout',
    }
    const ended = [...spawned, { type: 'interaction.subagent.completed', status: 'completed', ...childEnd, ...firstTurn }] as EventDraft[]
    expect(state(...ended, closed)).toMatchObject({ inputs: [], turn: { spawned: [] } })
    expect(state(...spawned, closed)).toMatchObject({ turn: { spawned: [], children: 1 } })
  },
  'interaction.handoff.started': () => {
    expect(state(...spawned, reported, handedOver)).toMatchObject({ inputs: [], turn: { spawned: [{ turn: 1, handoff: 'open' }] } })
    expect(speakerOf(state(...spawned, handedOver))).toMatchObject({ childId: childEnd.childId })
    expect(() => state(...begun, handedOver)).toThrow(/no such spawned child/)
  },
  'interaction.handoff.completed': () => {
    const { childPath: _, ...place } = handedOver
    const back: EventDraft = { ...place, type: 'interaction.handoff.completed', reason: 'asked' }
    const after = state(...spawned, handedOver, back)
    expect(after).toMatchObject({ turn: { spawned: [{ handoff: 'asked' }] } })
    expect(speakerOf(after)).toBeUndefined()
  },
  'interaction.subagent.selected': () => {
    expect(state({ type: 'interaction.subagent.selected', agent: 'clerk', reason: 'explicit', scores: {} })).toEqual({
      ...state(),
      seq: 2,
      at: 1_001,
    })
    const asked = { model: 'test/first', usage: sample.usage, cost: 0.5, paidUsd: 0.5, latencyMs: 300 }
    const selected: EventDraft = { type: 'interaction.subagent.selected', agent: 'clerk', reason: 'model', scores: {}, asked }
    expect(state(selected)).toMatchObject({ spent: { usage: sample.usage, cost: 0.5 }, turn: { kind: 'none', asked } })
    const turn = openTurn(selected, ...begun)
    expect(turn).toMatchObject({ spent: { usage: sample.usage, cost: 0.5 }, paidUsd: 0.5, steps: 0 })
    expect(turn.startedAt).toBe(state(selected, ...begun).at - 300)
    const { latencyMs, usage, cost } = asked
    const entry = { kind: 'model', agentPath: 'root', stepId: 't1.s0', attempt: 1, model: 'test/first', status: 'completed' }
    expect([...turn.accounting]).toEqual([{ ...entry, usage, cost, latencyMs }])
  },
  'interaction.context.added': () => {
    const told = state({ type: 'interaction.context.added', source: 'AGENTS.md', text: 'Be brief.' })
    expect(told.history.toArray()).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'Be brief.' }] }])
    expect(told.historyChars).toBeGreaterThan(0)
  },
  'interaction.context.compacted': () => {
    const head = { role: 'user', parts: [{ type: 'text', text: 'In short: nothing yet.' }] } as const
    const shortened = {
      type: 'interaction.context.compacted',
      messages: [head],
      carried: { bundles: [], lines: ['- wrote'], summary: 'nothing yet', length: 1 },
      tokensBefore: 9,
      tokensAfter: 4,
    } as const
    const before = state(...begun, { type: 'interaction.context.added', source: 'hook', text: 'newest' })
    const after = state(...begun, { type: 'interaction.context.added', source: 'hook', text: 'newest' }, { ...shortened, kept: 1 })
    expect(after.history.toArray()).toEqual([head, before.history.toArray().at(-1)])
    expect(after.compacted).toEqual({ length: 2, carried: shortened.carried, helped: true })
    expect(() => state(...begun, { ...shortened, kept: 9 })).toThrow('keeps 9 messages of')
  },
  'interaction.hook.completed': () => {
    expect(state({ type: 'interaction.hook.completed', hook: 'audit', verdict: 'changed' })).toEqual({ ...state(), seq: 2, at: 1_001 })
    const sent = state(...begun, { type: 'interaction.hook.completed', hook: 'review', verdict: 'resumed' })
    expect(sent.turn).toMatchObject({ resumed: 1, step: { kind: 'ready' } })
  },
  'interaction.cancel.requested': () => {
    const cancel = (mode: 'stop' | 'interrupt'): EventDraft => ({ type: 'interaction.cancel.requested', mode, by: 'ann', inbox: 4 })
    expect(state(...begun, cancel('stop'))).toMatchObject({ inboxCursor: 4, turn: { cancel: 'stop' } })
    expect(openTurn(...begun, cancel('stop'), cancel('interrupt')).cancel).toBe('interrupt')
    expect(openTurn(...begun, cancel('interrupt'), cancel('stop')).cancel).toBe('interrupt')
    expect(state(...begun, cancel('stop')).inboxCursor).toBe(4)
    expect(state(cancel('stop')).turn).toEqual({ kind: 'none' })
  },
  'interaction.diagnostic': () => {
    const diagnostic = { code: 'approval_late', severity: 'info', message: 'm' } as const
    expect([...openTurn(...begun, { type: 'interaction.diagnostic', diagnostic }).diagnostics]).toEqual([diagnostic])
    const early = state({ type: 'interaction.diagnostic', diagnostic, inbox: 2 })
    expect(early).toMatchObject({ diagnostics: [diagnostic], inboxCursor: 2 })
    expect([...openTurn({ type: 'interaction.diagnostic', diagnostic }, ...begun).diagnostics]).toEqual([diagnostic])
  },
}

describe('apply', () => {
  for (const [type, test] of Object.entries(tests)) it(`folds ${type}`, test)

  it('never changes the state it is given', () => {
    const events = sample.journal([...asked, called('look_up'), callStarted(), callCompleted(), stepStarted({ stepId: 't1.s2' as never })])
    const before = fold(events.slice(0, 5))
    const kept = JSON.stringify(before)
    fold(events)
    expect(JSON.stringify(before)).toBe(kept)
  })

  it('refuses a journal that does not begin with its creation', () => {
    expect(() => fold(sample.journal([accepted()]).slice(1))).toThrow(/begins with interaction.session.created/)
    expect(() => fold([])).toThrow(/is empty/)
    const foreign = sample.journal([accepted()]).map((event) => (event.seq === 2 ? { ...event, sessionId: 'other' as never } : event))
    expect(() => fold(foreign)).toThrow(/belongs to session other/)
  })
})
