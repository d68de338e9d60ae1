import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Deadlines } from './deadlines.ts'

describe('Deadlines', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('fires in order, each at its time, and none that was cancelled', () => {
    const deadlines = new Deadlines()
    const fired: string[] = []
    deadlines.after(100, () => fired.push('a'))
    const cancel = deadlines.after(100, () => fired.push('cancelled'))
    vi.advanceTimersByTime(50)
    deadlines.after(100, () => fired.push('b'))
    deadlines.after(33, () => fired.push('odd'))
    cancel()
    vi.advanceTimersByTime(49)
    expect(fired).toEqual(['odd'])
    vi.advanceTimersByTime(1)
    expect(fired).toEqual(['odd', 'a'])
    vi.advanceTimersByTime(50)
    expect(fired).toEqual(['odd', 'a', 'b'])
  })

  it('shares timers, and leaves none behind (2)', () => {
    const deadlines = new Deadlines()
    const cancels = Array.from({ length: 1_000 }, () => deadlines.after(60_000, () => {}))
    expect(vi.getTimerCount()).toBe(1)
    for (const cancel of cancels) cancel()
    const odd = Array.from({ length: 100 }, (_, index) => deadlines.after(1_001 + 7 * index, () => {}))
    for (const cancel of odd) cancel()
    vi.advanceTimersByTime(60_000)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('sets no timer for deadlines that never come (4)', () => {
    const cancel = new Deadlines().after(Number.POSITIVE_INFINITY, () => expect.unreachable())
    expect(vi.getTimerCount()).toBe(0)
    cancel()
  })

  it('takes deadlines that are set while one fires', () => {
    const deadlines = new Deadlines()
    let fired = 0
    const again = () => {
      if (++fired < 3) deadlines.after(100, again)
    }
    deadlines.after(100, again)
    vi.advanceTimersByTime(300)
    expect(fired).toBe(3)
  })
})
