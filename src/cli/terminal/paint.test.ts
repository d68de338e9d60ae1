import { expect, test } from 'vitest'
import { colourPaint, paintFor, plainPaint, windowFor } from './paint.ts'

test('colours only on a terminal that wants them', () => {
  expect(windowFor({ isTTY: true }, {})).toBe('terminal')
  expect(windowFor({ isTTY: true }, { NO_COLOR: '' })).toBe('terminal')
  expect(windowFor({ isTTY: true }, { NO_COLOR: '1' })).toBe('plain')
  expect(windowFor({ isTTY: true }, { TERM: 'dumb' })).toBe('plain')
  expect(windowFor({}, {})).toBe('plain')
  expect([paintFor('terminal'), paintFor('plain')]).toEqual([colourPaint, plainPaint])
})
