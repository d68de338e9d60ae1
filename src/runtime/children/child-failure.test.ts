import { describe, expect, it } from 'vitest'
import type { ModelFailureClass, TurnEnding, TurnReason } from '../../contracts/index.ts'
import { childFailure } from './child-failure.ts'

const failed = (reason: TurnReason, failure?: ModelFailureClass): TurnEnding => ({
  status: 'failed',
  reason,
  message: 'It went wrong.',
  ...(failure && { failure: { class: failure, message: 'It went wrong.' } }),
})

const reasons: { readonly [Reason in TurnReason]: string } = {
  steps: 'budget',
  tokens: 'budget',
  time: 'timeout',
  calls: 'budget',
  cost: 'budget',
  context: 'budget',
  repeats: 'failed',
  hook: 'failed',
  stopped: 'cancelled',
  interrupted: 'cancelled',
  approval: 'denied',
  input: 'cancelled',
  client: 'cancelled',
  released: 'cancelled',
  denied: 'denied',
  model: 'model',
  invalid_output: 'model',
  config: 'config',
  store: 'failed',
  internal: 'failed',
}

const modelFailures: { readonly [Class in ModelFailureClass]: string } = {
  rate_limit: 'model',
  auth: 'auth',
  quota: 'auth',
  network: 'network',
  timeout: 'timeout',
  invalid_response: 'model',
  model: 'model',
  config: 'config',
  context: 'budget',
  budget: 'timeout',
  cancelled: 'cancelled',
  lost: 'model',
}

describe('a child that did not complete', () => {
  it.each(Object.entries(reasons))('because of %s is %s to its parent, which hears what to do about it', (reason, kind) => {
    const found = childFailure({ name: 'scout' }, failed(reason as TurnReason))
    expect(found).toEqual({ class: kind, message: 'scout failed: It went wrong.', remedy: expect.stringMatching(/^\w.*\.$/) })
  })

  it.each(Object.entries(modelFailures))('because its model failed with %s is %s', (failure, kind) => {
    expect(childFailure({ name: 'scout' }, failed('model', failure as ModelFailureClass))).toMatchObject({ class: kind })
  })

  it.each(['steps', 'tokens', 'time', 'calls', 'cost', 'context', 'repeats', 'stopped'] as const)(
    'but has something by %s says how far it came',
    (reason) => {
      const found = childFailure({ name: 'scout' }, { status: 'partial', reason })
      expect(found?.message).toMatch(/^scout (ran out of|repeated|was) .*\.$/)
    },
  )

  it('by a limit that it had names the figure', () => {
    const limits = { maxToolTurns: 10, maxTokens: 50_000, maxSessionTokens: 90_000, timeBudget: 120_000, maxCostUsd: 0.5, maxCalls: 2 }
    const said = (['steps', 'tokens', 'time', 'cost', 'calls', 'stopped'] as const).map(
      (reason) => childFailure({ name: 'scout', limits }, { status: 'partial', reason })?.message,
    )
    expect(said).toEqual([
      'scout ran out of steps (its maxToolTurns is 10).',
      'scout ran out of tokens (its maxTokens is 50000, its maxSessionTokens is 90000).',
      'scout ran out of time (its timeBudget is 2m).',
      'scout ran out of its cost budget (its maxCostUsd is 0.5).',
      'scout ran out of calls (its maxCalls is 2).',
      'scout was stopped.',
    ])
  })

  it('passes on the remedy of the failure', () => {
    expect(childFailure({ name: 'scout' }, { ...failed('config'), remedy: 'Bring it back.' } as TurnEnding)).toMatchObject({
      remedy: 'Bring it back.',
    })
  })

  it('and one that completed has no failure', () => {
    expect(childFailure({ name: 'scout' }, { status: 'completed' })).toBe(undefined)
  })
})
