import { expect, test } from 'vitest'
import { InterruptedError } from './interrupted-error.ts'
import { Interruption } from './interruption.ts'

function interruptible() {
  const exits: number[] = []
  const state = { now: 0, interrupt: (): void => {} }
  const interruption = new Interruption(
    {
      onInterrupt(listener) {
        state.interrupt = listener
        return () => expect.unreachable('somebody stops listening')
      },
      exit: (code) => exits.push(code) as never,
    },
    () => state.now,
  )
  return { interruption, exits, interruptAt: (now: number) => Object.assign(state, { now }).interrupt() }
}

test('1: work before a run is left at the first interrupt, and not begun after it', async () => {
  const { interruption, interruptAt } = interruptible()
  expect(await interruption.before(Promise.resolve('done'))).toBe('done')
  const waiting = interruption.before(new Promise(() => {}))
  interruptAt(0)
  await expect(waiting).rejects.toBeInstanceOf(InterruptedError)
  await expect(interruption.before(Promise.resolve('done'))).rejects.toMatchObject({ code: 'interrupted' })
})

test('1: work that fails is told as it fails', async () => {
  const { interruption } = interruptible()
  await expect(interruption.before(Promise.reject(new Error('broken')))).rejects.toThrow('broken')
})

test('2: an echo is the same wish, a second one ends the process', () => {
  const { interruption, exits, interruptAt } = interruptible()
  interruptAt(0)
  interruptAt(50)
  expect([interruption.signal.aborted, exits]).toEqual([true, []])
  interruptAt(51)
  expect(exits).toEqual([130])
})

test('3, 4: a report that is under way is not cut off, but not for ever', () => {
  const { interruption, exits, interruptAt } = interruptible()
  interruptAt(0)
  interruption.reporting()
  interruptAt(1500)
  expect(exits).toEqual([])
  interruptAt(1501)
  expect(exits).toEqual([130])
})

test('3: a report that nobody had asked to hurry is ended by the second interrupt', () => {
  const { interruption, exits, interruptAt } = interruptible()
  interruption.reporting()
  interruptAt(0)
  interruptAt(60)
  expect(exits).toEqual([130])
})
