import { describe, expect, it } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const now = () => Date.UTC(2026, 9, 21, 7, 28, 0)

describe('how long a server asks to wait', () => {
  it.each([
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after': ' 1.5 ' }, 1500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT' }, 30_000],
    [{ 'retry-after': 'Wednesday, 21-Oct-26 07:28:30 GMT' }, 30_000],
    [{ 'retry-after': 'Wed Oct 21 07:28:30 2026' }, 30_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:27:00 GMT' }, 0],
    [{ 'retry-after': 'Wed, 21 Oct 2026 09:00:30 GMT', date: 'Wed, 21 Oct 2026 09:00:00 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date: 'today' }, 30_000],
  ])('%j is %d ms', (headers, expected) => {
    expect(retryAfterMs(headers, now)).toBe(expected)
  })

  it.each(['', 'soon', '-5', '1e9', '12 bananas', 'May 5', 'Infinity', 'Wed, 99 Foo 2026 07:28:30 GMT', '99999999999'])(
    'ignores %j',
    (value) => {
      expect(retryAfterMs({ 'retry-after': value }, now)).toBeUndefined()
    },
  )

  it('is not said by most', () => {
    expect(retryAfterMs({}, now)).toBeUndefined()
  })
})
