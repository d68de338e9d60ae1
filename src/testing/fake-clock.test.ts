import { expect, test } from 'vitest'
import { FakeClock } from './fake-clock.ts'

test('1: time does not advance by itself', () => {
  const clock = new FakeClock(1000)
  expect([clock.now(), clock.monotonic(), clock.pending]).toEqual([1000, 0, 0])
  clock.advance(25)
  expect([clock.now(), clock.monotonic()]).toEqual([1025, 25])
})

test('2: timers fire by due time, then by age; a cancelled one never', () => {
  const clock = new FakeClock()
  const fired: string[] = []
  clock.after(20, () => fired.push('late'))
  clock.after(10, () => fired.push('first'))
  clock.after(10, () => fired.push('second'))
  const cancel = clock.after(15, () => fired.push('never'))
  cancel()
  cancel()
  clock.advance(19)
  expect([fired, clock.pending]).toEqual([['first', 'second'], 1])
  clock.advance(1)
  expect([fired, clock.pending]).toEqual([['first', 'second', 'late'], 0])
})

test('3: a timer sees its due time, and timers that it sets start from there', () => {
  const clock = new FakeClock(0)
  const seen: number[] = []
  clock.after(10, () => {
    seen.push(clock.monotonic())
    clock.after(5, () => seen.push(clock.now()))
  })
  clock.advance(100)
  expect([seen, clock.monotonic()]).toEqual([[10, 15], 100])
})

test('4: a jump moves the wall clock and fires nothing', () => {
  const clock = new FakeClock(0)
  clock.after(10, () => expect.unreachable())
  clock.jump(-5000)
  expect([clock.now(), clock.monotonic(), clock.pending]).toEqual([-5000, 0, 1])
})

test('elapse lets a promise set its next timer in time', async () => {
  const clock = new FakeClock(0)
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve))
  const woke: number[] = []
  const work = (async () => {
    for (let i = 0; i < 3; i++) {
      await sleep(10)
      woke.push(clock.now())
    }
  })()
  await clock.elapse(30)
  await work
  expect(woke).toEqual([10, 20, 30])
})
