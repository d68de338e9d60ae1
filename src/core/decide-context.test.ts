import { describe, expect, it } from 'vitest'
import { fold } from '../../test/fixtures/fold-journal.ts'
import * as sample from '../../test/fixtures/sample-journal.ts'
import { type AgentSpec, defaultLimits, type EventDraft, type ModelFailure } from '../contracts/index.ts'
import { decide } from './decide.ts'

const { accepted, turnStarted, stepStarted, called, callStarted, callCompleted, stepFailed } = sample
const begun = [accepted(), turnStarted()]
const stepTaken = [...begun, stepStarted(), called('look_up'), callStarted(), callCompleted()]
const limits = { ...defaultLimits, maxRetries: 0 }

const compacted = (more: Partial<Extract<EventDraft, { type: 'interaction.context.compacted' }>> = {}): EventDraft => ({
  type: 'interaction.context.compacted',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'In short.' }] }],
  kept: 0,
  carried: { bundles: [], lines: [], summary: '', length: 1 },
  tokensBefore: 90,
  tokensAfter: 40,
  ...more,
})
const poor = (kept: number): EventDraft => compacted({ messages: [], kept, tokensAfter: 90 })
const added: EventDraft = { type: 'interaction.context.added', source: 'hook', text: 'News.' }
const refused = (kind: ModelFailure['class'] = 'context') =>
  ({ ...stepFailed(), failure: { class: kind, message: 'no' }, delayMs: 0 }) as EventDraft

/** With so small a window everything is too long. */
function next(drafts: readonly EventDraft[], { window = 50, ...change }: Partial<AgentSpec> & { window?: number } = {}) {
  return decide({
    ...fold(sample.journal(drafts, { models: ['first'], limits, ...change })),
    windows: { first: window, second: 1_000_000 },
  })
}

describe('a history that fills the window', () => {
  it('is summed up before the next step, which takes in what was said meanwhile', () => {
    const steered = [...stepTaken, accepted('c2', 'steer')]
    expect(next(steered)).toMatchObject({ kind: 'ask', compacts: true, absorbs: [] })
    expect(next([...steered, compacted()])).toMatchObject({ kind: 'ask', last: 'context', absorbs: ['c2'] })
    expect(next(steered, { window: 1_000_000 })).toMatchObject({ kind: 'ask', absorbs: ['c2'] })
  })

  it('is left alone where nothing has been done yet', () => {
    expect(next(begun)).toMatchObject({ kind: 'ask', last: 'context' })
  })

  it('is made shorter by rule before a last step', () => {
    const stop: EventDraft = { type: 'interaction.cancel.requested', mode: 'stop', by: 'ann' }
    expect(next([...stepTaken, stop])).toEqual({ kind: 'compact' })
    expect(next([...stepTaken, stop, compacted()])).toMatchObject({ kind: 'ask', last: 'stopped' })
  })

  it('is compacted again after new messages, but not endlessly if there are hardly any', () => {
    expect(next([...stepTaken, compacted(), added])).toMatchObject({ compacts: true })
    const again = [compacted(), added]
    expect(next([...stepTaken, ...again, ...again, ...again])).toMatchObject({ compacts: true })
    expect(next([...stepTaken, ...again, ...again, ...again, ...again])).toMatchObject({ kind: 'ask', last: 'context' })
    const often = Array.from({ length: 6 }, () => compacted())
    expect(next([...stepTaken, ...often, added])).toMatchObject({ compacts: true })
    const much = [compacted(), added, added, added, added]
    expect(next([...stepTaken, ...much, ...much, ...much, ...much, ...much])).toMatchObject({ compacts: true })
  })
})

describe('a provider that finds it too long', () => {
  const asked = [...stepTaken, stepStarted({ stepId: 't1.s2' as never })]

  it('is asked again with less, in the same step, however few retries there are', () => {
    expect(next([...asked, refused()], { window: 1_000_000 })).toEqual({ kind: 'compact' })
    expect(next([...asked, refused(), compacted()], { window: 1_000_000 })).toMatchObject({
      kind: 'ask',
      model: 'first',
      attempt: 2,
      notBefore: 0,
    })
  })

  it('is asked with less as long as that helps', () => {
    const twice = [...asked, refused(), compacted(), stepStarted({ stepId: 't1.s2' as never, attempt: 2 }), refused()]
    expect(next(twice, { window: 1_000_000 })).toEqual({ kind: 'compact' })
    expect(next([...twice, poor(1)], { window: 1_000_000 })).toMatchObject({ kind: 'finish', ending: { failure: { class: 'context' } } })
  })

  it('is left for another that can take more', () => {
    const drafts = [...asked, refused(), poor(3)]
    expect(next(drafts, { window: 1_000_000, models: ['first', 'second'] })).toMatchObject({ kind: 'ask', model: 'second', attempt: 2 })
  })

  it('has a window that is known from then on', () => {
    const state = fold(sample.journal([...asked, refused()]))
    expect(state.windows).toEqual({ first: 2_000 })
  })
})

describe('a summary that fails', () => {
  it('is not held against the model, nor against the step', () => {
    const asked = [...stepTaken, stepStarted({ stepId: 't1.s2' as never, compacts: true }), refused('network')]
    expect(next(asked)).toEqual({ kind: 'compact' })
    expect(next([...asked, compacted()], { window: 1_000_000 })).toMatchObject({ kind: 'ask', model: 'first', attempt: 2 })
    expect(next([...asked, poor(3)])).toMatchObject({ kind: 'ask', last: 'context', attempt: 2 })
  })

  it('is asked for again where only the driver was lost', () => {
    const asked = [...stepTaken, stepStarted({ stepId: 't1.s2' as never, compacts: true }), refused('lost')]
    expect(next(asked)).toMatchObject({ kind: 'ask', compacts: true, attempt: 2 })
  })
})
