import { expect, it } from 'vitest'
import { fold } from '../../test/fixtures/fold-journal.ts'
import * as sample from '../../test/fixtures/sample-journal.ts'
import type { ApprovalId, ClientId, EventDraft, TurnId } from '../contracts/index.ts'
import { decide } from './decide.ts'
import type { SessionState } from './state/state.ts'

const { accepted, turnStarted, stepStarted, textStarted, textCompleted, answered, called, approvalRequested, stepFailed } = sample

const state = (...drafts: EventDraft[]): SessionState => fold(sample.journal(drafts))
const asked = [accepted(), turnStarted(), stepStarted()]
const input = (clientId: string, mode: 'queue' | 'steer', inbox?: number): EventDraft =>
  ({ ...accepted(), clientId: clientId as ClientId, mode, ...(inbox && { inbox }) }) as EventDraft
const cancel = (mode: 'interrupt' | 'stop'): EventDraft => ({ type: 'interaction.cancel.requested', mode, by: 'ann' })
const end: EventDraft = {
  type: 'interaction.turn.interrupted',
  ending: { status: 'interrupted', reason: 'interrupted' },
  totals: sample.totals,
}
const sent: EventDraft = { type: 'interaction.held.sent', by: 'ann', inbox: 9 }
const pending = (...drafts: EventDraft[]) => state(...drafts).inputs.map(({ clientId, mode, held = false }) => [clientId, mode, held])

const unread = [...asked.slice(0, 2), input('a', 'steer', 1), input('b', 'queue', 2), input('c', 'steer', 3)]
const held = [...unread, cancel('interrupt'), end]
/** What steers would overtake what begins a turn. */
const inOrder = [
  ['a', 'steer', false],
  ['b', 'queue', false],
  ['c', 'queue', false],
]

it('an interrupt holds what no step has read, until it is sent or another message comes', () => {
  expect(pending(...held)).toEqual([
    ['a', 'steer', true],
    ['b', 'queue', true],
    ['c', 'steer', true],
  ])
  expect(decide(state(...held))).toEqual({ kind: 'idle' })
  expect(pending(...held, sent)).toEqual(inOrder)
  expect(decide(state(...held, sent))).toMatchObject({ kind: 'begin', input: { clientId: 'a' } })
  expect(pending(...held, input('d', 'steer', 4))).toEqual([...inOrder, ['d', 'queue', false]])
  expect(pending(...unread, cancel('stop')).some(([, , isHeld]) => isHeld)).toBe(false)
})

it('a denial that ends the turn holds them, too', () => {
  const denied: EventDraft = {
    type: 'interaction.approval.resolved',
    approvalId: 't1.s1.1.approval' as ApprovalId,
    decision: { kind: 'abort' },
    by: 'ann',
  }
  const waiting = [...asked, called('look_up'), approvalRequested(), input('a', 'queue', 1)]
  expect(pending(...waiting, denied)).toEqual([['a', 'queue', true]])
  expect(pending(...waiting, { ...denied, decision: { kind: 'deny' } })).toEqual([['a', 'queue', false]])
})

it('a message that comes while the turn ends sends the others; one that a child has not read does not', () => {
  expect(pending(...unread, cancel('interrupt'), input('d', 'queue', 4), end)).toEqual([...inOrder, ['d', 'queue', false]])
  expect(pending(...unread, cancel('interrupt'), input('d', 'steer'), end).at(-1)).toEqual(['d', 'steer', true])
})

it('a journal of an older version, which held nothing, continues as its events say', () => {
  const next: EventDraft = { type: 'interaction.turn.started', turnId: 't2' as TurnId, inputs: ['a' as ClientId] }
  expect(pending(...held, next)).toEqual(inOrder.slice(1))
})

it('what was said before an interrupt is part of the history; what a failed attempt said is not', () => {
  const said = [...asked, textStarted(), textCompleted()]
  const cancelled = stepFailed('cancelled')
  expect([...state(...said, { ...cancelled, keepsText: true } as EventDraft).history]).toEqual([...state(...said, answered()).history])
  // Journals of before: compactions in them count the messages without this one.
  expect([...state(...said, cancelled).history]).toEqual([...state(...asked).history])
  expect([...state(...said, stepFailed('network')).history]).toEqual([...state(...asked).history])
})
