import { expect, test } from 'vitest'
import { suggestion } from './nearest-names.ts'

test.each<[string, readonly string[], string | undefined]>([
  ['rnu', ['run', 'demo'], 'Did you mean run?'],
  ['nonsense', ['run', 'demo'], 'Available: run, demo.'],
  ['trip.ai', ['trip.ai', 'trap.ai'], 'Did you mean trap.ai?'],
  ['trip.ai', ['trip.ai'], undefined],
  ['x', [], undefined],
])('%s among %j: %s', (wanted, known, said) => {
  expect(suggestion(wanted, known)).toBe(said)
})

test('a long list is cut', () => {
  const many = Array.from({ length: 25 }, (_, i) => `command-number-${i}`)
  expect(suggestion('x', many)).toMatch(/^Available: command-number-0, .*command-number-19 and 5 more\.$/)
})
