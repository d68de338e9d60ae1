import { expect, it } from 'vitest'
import type { WaitedAgent } from '../../contracts/index.ts'
import { judgeHandoff } from './handoff-rules.ts'

type Result = NonNullable<WaitedAgent['result']>

const limits = { maxTurns: 2, maxTokensPerInvocation: 100, timeBudgetMs: 1_000, idleMs: 1_800_000 }
const result = (part: Partial<Result>, tool?: string, status: 'completed' | 'failed' = 'completed'): Result =>
  ({
    kind: 'ended',
    status: 'completed',
    operations: { steps: tool === undefined ? [] : [{ calls: [{ tool, status }] }] },
    ...part,
  }) as unknown as Result
const used = { inputs: 1, tokens: 99, workedMs: 999 }
const idle = (ended: Result, more: Partial<WaitedAgent> = {}) => ({ status: 'idle', turn: 2, result: ended, used, ...more }) as const

it.each([
  ['an answer', idle(result({})), 'continue'],
  ['no news', { status: 'idle', turn: 1, result: result({}), used } as const, 'asked'],
  ['a child that works', { status: 'working', turn: 2 } as const, 'asked'],
  ['a closed child', { status: 'closed', turn: 2 } as const, 'ended'],
  ['return_control', idle(result({}, 'return_control')), 'done'],
  ['return_control that was refused', idle(result({}, 'return_control', 'failed')), 'continue'],
  ['another tool', idle(result({}, 'look_up')), 'continue'],
  ['return_control with the last token', idle(result({}, 'return_control'), { used: { ...used, tokens: 100 } }), 'done'],
  ['a failure', idle(result({ status: 'failed', reason: 'model' })), 'failed'],
  ['a failure at a limit', idle(result({ status: 'failed', reason: 'time' })), 'time'],
  ['a partial answer at a limit', idle(result({ status: 'partial', reason: 'tokens' })), 'tokens'],
  ['another partial answer', idle(result({ status: 'partial', reason: 'steps' })), 'continue'],
  ['a stop', idle(result({ status: 'partial', reason: 'stopped' })), 'ended'],
  ['an interruption', idle(result({ status: 'interrupted', reason: 'interrupted' })), 'ended'],
  ['its last token', idle(result({}), { used: { ...used, tokens: 100 } }), 'tokens'],
  ['its last millisecond', idle(result({}), { used: { ...used, workedMs: 1_000 } }), 'time'],
  ['the last but one message', idle(result({}), { used: { ...used, inputs: 2 } }), 'continue'],
  ['a person who has asked for the caller', idle(result({}), { isRecalled: true }), 'asked'],
  ['a person who has asked for the caller after the end', idle(result({}, 'return_control'), { isRecalled: true }), 'done'],
  ['a person who is silent', idle(result({}), { idleMs: 1_800_000 }), 'idle'],
  ['a person who was silent before the last turn was seen', idle(result({}), { turn: 1, idleMs: 1_800_000 }), 'idle'],
  ['a person who is almost silent', idle(result({}), { idleMs: 1_799_999 }), 'continue'],
  ['the last message', idle(result({}), { used: { ...used, inputs: 3 } }), 'turns'],
] as const)('%s', (_, child, expected) => {
  expect(judgeHandoff({ child, seen: 1, isCancelled: false }, limits)).toBe(expected)
})

it('a call that is cancelled ends it, whatever the child has done', () => {
  expect(judgeHandoff({ child: idle(result({})), seen: 1, isCancelled: true }, limits)).toBe('ended')
})
