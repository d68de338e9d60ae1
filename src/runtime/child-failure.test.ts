import { describe, expect, it } from 'vitest'
import type { ModelFailureClass, TurnEnding, TurnReason } from '../contracts/index.ts'
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
    const found = childFailure('scout', failed(reason as TurnReason))
    expect(found).toEqual({ class: kind, message: 'scout failed: It went wrong.', remedy: expect.stringMatching(/^\w.*\.$/) })
  })

  it.each(Object.entries(modelFailures))('because its model failed with %s is %s', (failure, kind) => {
    expect(childFailure('scout', failed('model', failure as ModelFailureClass))).toMatchObject({ class: kind })
  })

  it.each(['steps', 'tokens', 'time', 'calls', 'cost', 'context', 'repeats', 'stopped'] as const)(
    'but has something by %s says how far it came',
    (reason) => {
      const found = childFailure('scout', { status: 'partial', reason })
      expect(found?.message).toMatch(/^scout (ran out of|made|was) .*\.$/)
    },
  )

  it('hands on the remedy that it was told itself', () => {
    expect(childFailure('scout', { ...failed('config'), remedy: 'Bring it back.' } as TurnEnding)).toMatchObject({
      remedy: 'Bring it back.',
    })
  })

  it('and one that completed has no failure', () => {
    expect(childFailure('scout', { status: 'completed' })).toBe(undefined)
  })
})
