import { expect, test } from 'vitest'
import { InterruptedError, Interruption } from './interruption.ts'
import type { EndRequest } from './process-host.ts'

function interruptible() {
  const exits: number[] = []
  const state = { now: 0, interrupt: (_: EndRequest): void => {} }
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
  return {
    interruption,
    exits,
    interruptAt: (now: number, request: EndRequest = 'interrupted') => Object.assign(state, { now }).interrupt(request),
  }
}

test('1: work before a run is left at the first interrupt, and not begun after it', async () => {
  const { interruption, interruptAt } = interruptible()
  expect(await interruption.before(Promise.resolve('done'))).toBe('done')
  const waiting = interruption.before(new Promise(() => {}))
  interruptAt(0)
  await expect(waiting).rejects.toBeInstanceOf(InterruptedError)
  await expect(interruption.before(Promise.resolve('done'))).rejects.toMatchObject({ code: 'interrupted' })
})

test('1: work that fails rejects with its error', async () => {
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
  interruptAt(1800)
  expect(exits).toEqual([])
  interruptAt(1801)
  expect(exits).toEqual([130])
})

test('3: a report without a deadline is ended by the second interrupt', () => {
  const { interruption, exits, interruptAt } = interruptible()
  interruption.reporting()
  interruptAt(0)
  interruptAt(60)
  expect(exits).toEqual([130])
})

test('1: work before a run ends with the code of who asked', async () => {
  const { interruption, interruptAt } = interruptible()
  interruptAt(0, 'terminated')
  await expect(interruption.before(Promise.resolve('done'))).rejects.toMatchObject({ code: 'terminated' })
})

test('2: Ctrl-C while a run is released ends the process immediately, a lost output never does', () => {
  const { interruption, exits, interruptAt } = interruptible()
  interruptAt(0, 'terminated')
  interruptAt(500, 'pipe')
  expect([interruption.request, exits]).toEqual(['terminated', []])
  interruptAt(10, 'interrupted')
  expect(exits).toEqual([143])
})
