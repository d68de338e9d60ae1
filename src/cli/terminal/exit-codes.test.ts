import { expect, test } from 'vitest'
import { type ErrorCode, errorTable, type ModelFailureClass, type OutcomeStatus, type TurnReason } from '../../contracts/index.ts'
import { exitCodeOf, exitCodeOfError } from './exit-codes.ts'

const outcomes: readonly { status: OutcomeStatus; reason?: TurnReason; failure?: ModelFailureClass; code: number }[] = [
  { status: 'completed', code: 0 },
  { status: 'partial', reason: 'stopped', code: 0 },
  { status: 'partial', reason: 'steps', code: 5 },
  { status: 'partial', reason: 'tokens', code: 5 },
  { status: 'partial', reason: 'time', code: 5 },
  { status: 'partial', reason: 'calls', code: 5 },
  { status: 'failed', reason: 'steps', code: 5 },
  { status: 'failed', reason: 'stopped', code: 1 },
  { status: 'failed', reason: 'internal', code: 1 },
  { status: 'failed', reason: 'store', code: 1 },
  { status: 'failed', reason: 'config', code: 2 },
  { status: 'failed', reason: 'denied', code: 6 },
  { status: 'failed', code: 1 },
  { status: 'failed', reason: 'model', code: 4 },
  { status: 'failed', reason: 'model', failure: 'auth', code: 3 },
  { status: 'failed', reason: 'model', failure: 'config', code: 2 },
  { status: 'failed', reason: 'model', failure: 'network', code: 4 },
  { status: 'failed', reason: 'model', failure: 'quota', code: 4 },
  { status: 'failed', reason: 'model', failure: 'timeout', code: 4 },
  { status: 'failed', reason: 'time', failure: 'timeout', code: 5 },
  { status: 'interrupted', reason: 'interrupted', code: 130 },
  { status: 'interrupted', reason: 'denied', code: 6 },
  { status: 'interrupted', code: 130 },
  { status: 'suspended', reason: 'approval', code: 6 },
]

test.each(outcomes)('$status, $reason, $failure: $code', ({ code, failure, ...outcome }) => {
  expect(exitCodeOf({ ...outcome, ...(failure && { failure: { class: failure, message: '' } }) })).toBe(code)
})

test('every error has a code of its own kind', () => {
  const codes = (Object.keys(errorTable) as ErrorCode[]).map((code) => [code, exitCodeOfError({ code })])
  expect(codes).toContainEqual(['usage', 2])
  expect(codes).toContainEqual(['agent_file_invalid', 2])
  expect(codes).toContainEqual(['model_unknown', 3])
  expect(codes).toContainEqual(['store_failed', 1])
  expect(codes.filter(([, exit]) => exit === 0)).toEqual([])
})
