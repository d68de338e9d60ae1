import { describe, expect, it } from 'vitest'
import { fold } from '../../test/fixtures/fold-journal.ts'
import * as sample from '../../test/fixtures/sample-journal.ts'
import { type AgentLimits, type AgentSpec, defaultLimits, type EventDraft, type StepId } from '../contracts/index.ts'
import { decide } from './decide.ts'

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
const next = (drafts: readonly EventDraft[], change: Partial<AgentSpec> = {}) => decide(fold(sample.journal(drafts, change)))
const limited = (limits: Partial<AgentLimits>): Partial<AgentSpec> => ({ limits: { ...defaultLimits, ...limits } })

const begun = [accepted(), turnStarted()]
const asked = [...begun, stepStarted()]
const answer = [textStarted(), textCompleted(), answered()]
const cancel = (mode: 'stop' | 'interrupt'): EventDraft => ({ type: 'interaction.cancel.requested', mode, by: 'ann' })
const resumed: EventDraft = { type: 'interaction.session.resumed', epoch: 2, policy: 'p', diagnostics: [] }
const secondStep = stepStarted({ stepId: 't1.s2' as StepId })

describe('decide', () => {
  it('asks the first of other models where the one before was lost, or has failed, and is none of them', () => {
    const agent = { ...sample.agent, models: ['other', 'last'] }
    const changed: EventDraft = { type: 'interaction.session.configured', agent, tools: [], promptChars: 4, reason: 'asked' }
    expect(next([...asked, changed, stepFailed('lost')])).toMatchObject({ kind: 'ask', model: 'other', attempt: 2 })
    expect(next([...asked, stepFailed(), changed])).toMatchObject({ kind: 'ask', model: 'other', attempt: 2 })
  })

  it('is idle without input, and begins the oldest one', () => {
    expect(next([])).toEqual({ kind: 'idle' })
    expect(next([accepted('c1'), accepted('c2')])).toMatchObject({ kind: 'begin', input: { clientId: 'c1' } })
  })

  it('asks the first model immediately, with the cost limit of the step', () => {
    expect(next(begun)).toEqual({
      kind: 'ask',
      model: 'first',
      attempt: 1,
      notBefore: 0,
      reservation: { input: 138, output: 32_000 },
      absorbs: [],
    })
  })

  it('takes calls through review, execution and the next question', () => {
    expect(next([...asked, called('look_up')])).toMatchObject({ kind: 'review', calls: [{ itemId: 't1.s1.1' }] })
    expect(next([...asked, called('look_up'), callStarted()])).toMatchObject({ kind: 'execute', calls: [{ itemId: 't1.s1.1' }] })
    expect(next([...asked, called('look_up'), callStarted(), callCompleted()])).toMatchObject({ kind: 'ask', attempt: 1 })
  })

  it('finishes with an answer', () => {
    expect(next([...asked, ...answer])).toEqual({ kind: 'finish', ending: { status: 'completed' } })
    expect(next([...asked, textStarted(), textCompleted(), answered('t1.s1.1', 'length')])).toEqual({
      kind: 'finish',
      ending: { status: 'partial', reason: 'tokens' },
    })
  })

  it('takes steering in at the next step, also after an answer', () => {
    expect(next([...begun, accepted('c2', 'steer')])).toMatchObject({ kind: 'ask', absorbs: ['c2'] })
    expect(next([...asked, ...answer, accepted('c2', 'steer')])).toMatchObject({ kind: 'ask', absorbs: ['c2'] })
    expect(next([...asked, ...answer, accepted('c2', 'queue')])).toMatchObject({ kind: 'finish' })
  })

  it('counts steering tokens before using it, and leaves to the next turn what the budget does not allow', () => {
    const wordy = accepted('c2', 'steer', 'word '.repeat(800))
    const [quiet, steered] = [next(begun), next([...begun, wordy])]
    if (quiet.kind !== 'ask' || steered.kind !== 'ask') throw new Error('Both ask.')
    expect(steered.reservation.input - quiet.reservation.input).toBe(1_004)
    const tight = limited({ maxTokens: 1_000 })
    expect(next([...asked, ...answer, accepted('c2', 'steer')], tight)).toMatchObject({ kind: 'ask', absorbs: ['c2'] })
    expect(next([...asked, ...answer, wordy], tight)).toMatchObject({ kind: 'finish', ending: { status: 'completed' } })
  })

  it('rotates over the models and waits only when all have failed', () => {
    expect(next([...asked, stepFailed()])).toMatchObject({ kind: 'ask', model: 'second', attempt: 2, notBefore: 0 })
    const both = [...asked, stepFailed('network', 500), stepStarted({ attempt: 2, model: 'second' }), stepFailed('rate_limit', 100)]
    expect(next(both)).toMatchObject({ kind: 'ask', model: 'second', attempt: 3, notBefore: 1_106 })
  })

  it('does not ask a model again that refused us', () => {
    const refused = [...asked, stepFailed('auth'), stepStarted({ attempt: 2, model: 'second' }), stepFailed('network', 100)]
    expect(next(refused)).toMatchObject({ kind: 'ask', model: 'second', attempt: 3 })
    expect(
      next([...refused, stepStarted({ attempt: 3, model: 'second' }), called('look_up'), callStarted(), callCompleted()].map(renumber)),
    ).toMatchObject({ kind: 'ask', model: 'second' })
    expect(next([...asked, stepFailed('auth')], { models: ['first'] })).toMatchObject({
      kind: 'finish',
      ending: { status: 'failed', reason: 'model', failure: { class: 'auth' } },
    })
  })

  it('gives up after maxRetries further attempts, not counting those that a crash took', () => {
    const change = { models: ['first'], ...limited({ maxRetries: 1 }) }
    expect(next([...asked, stepFailed()], change)).toMatchObject({ kind: 'ask', attempt: 2 })
    expect(next([...asked, stepFailed(), stepStarted({ attempt: 2 }), stepFailed()], change)).toMatchObject({
      kind: 'finish',
      ending: { status: 'failed', reason: 'model' },
    })
    expect(next([...asked, stepFailed('lost'), stepStarted({ attempt: 2 }), stepFailed()], change)).toMatchObject({
      kind: 'ask',
      attempt: 3,
    })
  })

  it('offers tools in the last step that is allowed, skips what it calls, and asks for an answer from the reserve', () => {
    const once = [...asked, called('look_up'), callStarted(), callCompleted()]
    expect(next(once, limited({ maxToolTurns: 2 }))).not.toHaveProperty('last')
    expect(next([...asked, called('look_up')], limited({ maxToolTurns: 1 }))).toMatchObject({ kind: 'skip', why: 'steps' })
    expect(next([...asked, called('look_up'), callStarted()], limited({ maxToolTurns: 1 }))).toMatchObject({ kind: 'execute' })
    expect(next(once, limited({ maxToolTurns: 1 }))).toMatchObject({ kind: 'ask', last: 'steps' })
    const last = stepStarted({ stepId: 't1.s2' as StepId, last: { reason: 'steps', notice: 'now' } })
    const forced = [...asked, called('look_up'), callStarted(), callCompleted(), last, ...answer]
    expect(next(forced, limited({ maxToolTurns: 2 }))).toEqual({ kind: 'finish', ending: { status: 'partial', reason: 'steps' } })
    expect(
      next([...asked, called('look_up'), callStarted(), callCompleted(), last, stepFailed()], limited({ maxToolTurns: 2 })),
    ).toMatchObject({ kind: 'ask', attempt: 2, last: 'steps' })
  })

  it('forces the answer when calls, time or tokens run out, and ends when there is nothing left for one', () => {
    const oneCall = [...asked, called('look_up'), callStarted(), callCompleted()]
    expect(next(oneCall, limited({ maxCalls: 1 }))).not.toHaveProperty('last')
    expect(next(oneCall, limited({ maxCalls: 0 }))).toMatchObject({ kind: 'ask', last: 'calls' })
    expect(next(oneCall, limited({ timeBudget: 5 }))).toMatchObject({ kind: 'ask', last: 'time' })
    expect(next(oneCall, limited({ timeBudget: 4 }))).toEqual({ kind: 'finish', ending: { status: 'partial', reason: 'time' } })
    expect(next(begun, limited({ maxTokens: 1_300 }))).toMatchObject({
      kind: 'ask',
      last: 'tokens',
      reservation: { input: 138, output: 1_162 },
    })
    expect(next(begun, limited({ maxTokens: 150 }))).toEqual({ kind: 'finish', ending: { status: 'partial', reason: 'tokens' } })
    expect(next(oneCall, limited({ maxSessionTokens: 240 }))).toEqual({ kind: 'finish', ending: { status: 'partial', reason: 'tokens' } })
  })

  it('caps the output of a step so that the reserve stays whole; a text is not read again, calls are', () => {
    const action = next(begun, limited({ maxTokens: 3_236 }))
    expect(action).toMatchObject({ kind: 'ask', reservation: { input: 138, output: 1_936 }, callTokens: 968 })
    expect(action).not.toHaveProperty('last')
  })

  it('does not count waiting for a person as work', () => {
    const waited: EventDraft[] = [
      ...asked,
      called('look_up'),
      approvalRequested(),
      {
        type: 'interaction.approval.resolved',
        approvalId: 't1.s1.1.approval' as never,
        decision: { kind: 'approve', breadth: 'once' },
        by: 'ann',
      },
      callStarted(),
      callCompleted(),
    ]
    const journal = sample
      .journal(waited, limited({ timeBudget: 10_000 }))
      .map((event) => (event.seq > 6 ? { ...event, at: event.at + 3_600_000 } : event))
    expect(decide(fold(journal))).toMatchObject({ kind: 'ask' })
    expect(decide(fold(journal))).not.toHaveProperty('last')
  })

  it('waits if only a person can continue it', () => {
    expect(next([...asked, called('look_up'), approvalRequested()])).toEqual({ kind: 'wait' })
    expect(next([...asked, called('look_up', 'other'), approvalRequested()])).toMatchObject({
      kind: 'review',
      calls: [{ itemId: 't1.s1.2' }],
    })
  })

  it('stops with a last answer, interrupts without one', () => {
    expect(next([...begun, cancel('stop')])).toMatchObject({ kind: 'ask', last: 'stopped' })
    expect(next([...asked, called('look_up'), cancel('stop')])).toMatchObject({ kind: 'skip', why: 'stop' })
    expect(next([...begun, cancel('interrupt')])).toEqual({ kind: 'finish', ending: { status: 'interrupted', reason: 'interrupted' } })
    expect(next([...asked, called('look_up'), cancel('interrupt')])).toMatchObject({ kind: 'skip', why: 'interrupt' })
    expect(next([...asked, called('look_up'), approvalRequested(), cancel('interrupt')])).toMatchObject({
      kind: 'skip',
      why: 'interrupt',
    })
  })

  it('recovers what a dead driver left', () => {
    expect(next([...asked, resumed])).toEqual({ kind: 'recover' })
    expect(next([...asked, called('look_up'), callStarted(), resumed])).toEqual({ kind: 'recover' })
    expect(next([...asked, called('look_up'), resumed])).toMatchObject({ kind: 'review' })
    expect(next([...begun, resumed])).toMatchObject({ kind: 'ask' })
  })

  it('uses the second step id after the first', () => {
    expect(next([...asked, called('look_up'), callStarted(), callCompleted(), secondStep, ...answer])).toEqual({
      kind: 'finish',
      ending: { status: 'completed' },
    })
  })
})

/** Items of the third attempt have other names than those of the first. */
function renumber(draft: EventDraft): EventDraft {
  if (!('itemId' in draft) || draft.itemId === undefined) return draft
  const id = draft.itemId.replace('t1.s1.', 't1.s1r3.') as never
  return { ...draft, itemId: id, ...('item' in draft && { item: { ...draft.item, id } }) } as EventDraft
}
