import { expect, it } from 'vitest'
import { failuresAfter, pauseAfter, waitForNext } from './reconnect.ts'

/** `ends`: whether each stream has worked. */
const pauses = (ends: readonly boolean[]) => {
  let failures = 0
  return ends.map((hasWorked) => {
    failures = failuresAfter(failures, hasWorked)
    return pauseAfter(failures)
  })
}

it('waits longer after each failure, and not after a stream that worked', () => {
  expect(pauses(Array.from({ length: 7 }, () => false))).toEqual([250, 500, 1_000, 1_500, 1_500, 1_500, 1_500])
  expect(pauses([false, false, false, true, true, false, false])).toEqual([250, 500, 1_000, 250, 250, 250, 500])
})

it('does not let a person wait who comes back', async () => {
  const [timers, visitors] = [new Map<() => void, number>(), new Set<() => void>()]
  const waiting = {
    clock: {
      after(ms: number, fire: () => void) {
        timers.set(fire, ms)
        return () => void timers.delete(fire)
      },
    },
    onReturn(back: () => void) {
      visitors.add(back)
      return () => void visitors.delete(back)
    },
  }
  const leaving = new AbortController()
  const next = () => waitForNext(9, waiting, leaving.signal)
  const returned = next()
  for (const back of visitors) back()
  expect(await returned).toBe('returned')
  const elapsed = next()
  expect([...timers.values()]).toEqual([1_500])
  for (const fire of timers.keys()) fire()
  expect(await elapsed).toBe('elapsed')
  const aborted = next()
  leaving.abort()
  await aborted
  expect([timers.size, visitors.size]).toEqual([0, 0])
})
