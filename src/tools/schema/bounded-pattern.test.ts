import { describe, expect, it } from 'vitest'
import { boundedPattern } from './bounded-pattern.ts'

describe('a pattern', () => {
  it.each(['^(a+)+$', '^(a|a)*$', '(x+x+)+y', '^([a-z]+\\.)*[a-z]+$'])('of other people ends: %s', (source) => {
    const pattern = boundedPattern(source, 'u')
    const started = performance.now()
    expect(pattern.test(`${'a'.repeat(20)}${'x'.repeat(40)}!`)).toBe(false)
    expect(performance.now() - started).toBeLessThan(20_000)
  })
  it('matches as it always did, short and long', () => {
    const words = boundedPattern('^([a-z]+\\.)*[a-z]+$', 'u')
    expect([words.test('a.b'), words.test('a..b'), words.test(`${'abc.'.repeat(50)}d`)]).toEqual([true, false, true])
  })
})
