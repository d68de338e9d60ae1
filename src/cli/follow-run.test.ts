import { Readable, Writable } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Outcome, StreamEvent, TreeId } from '../contracts/index.ts'
import type { RunHandle } from '../runtime/index.ts'
import { followRun } from './follow-run.ts'
import type { Host } from './host.ts'
import { Output } from './output.ts'
import { plainPaint } from './paint.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A run that goes on until it is told to end. */
function endlessRun() {
  const end = Promise.withResolvers<Outcome>()
  const interrupts: number[] = []
  const handle: Partial<RunHandle> = {
    treeId: 'tree' as TreeId,
    outcome: end.promise,
    async interrupt() {
      interrupts.push(performance.now())
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent> {
      await end.promise
      yield* []
    },
  }
  return { handle: handle as RunHandle, interrupts, end: end.resolve }
}

function fakeHost() {
  const listeners = new Set<() => void>()
  const exits: number[] = []
  const silent = new Output(new Writable({ write: (_chunk, _encoding, done) => done() }))
  const host: Host = {
    env: {},
    stdin: Readable.from([]),
    stdout: silent,
    stderr: silent,
    paint: plainPaint,
    width: 80,
    onInterrupt(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    exit(code) {
      exits.push(code)
      return undefined as never
    },
  }
  const signal = (): void => {
    for (const listener of listeners) listener()
  }
  return { host, exits, signal, listeners }
}

test('the first interrupt ends the run, the second the process', async () => {
  const { handle, interrupts } = endlessRun()
  const { host, exits, signal } = fakeHost()
  void followRun(handle, { host, isQuiet: true })
  signal()
  vi.advanceTimersByTime(200)
  expect([interrupts.length, exits]).toEqual([1, []])
  signal()
  expect([interrupts.length, exits]).toEqual([1, [130]])
})

test('a signal that a launcher passes on a moment later is the same wish', async () => {
  const { handle, interrupts } = endlessRun()
  const { host, exits, signal } = fakeHost()
  void followRun(handle, { host, isQuiet: true })
  signal()
  vi.advanceTimersByTime(20)
  signal()
  expect([interrupts.length, exits]).toEqual([1, []])
})

test('a run that does not end in time after an interrupt is left behind', async () => {
  const { handle } = endlessRun()
  const { host, signal, listeners } = fakeHost()
  const followed = followRun(handle, { host, isQuiet: true })
  signal()
  vi.advanceTimersByTime(1500)
  expect(await followed).toEqual({ events: [], outcome: undefined })
  expect(listeners.size).toBe(0)
})

test('a run that ends is told with its outcome, and nobody listens any more', async () => {
  const { handle, end } = endlessRun()
  const { host, listeners } = fakeHost()
  const outcome = { status: 'completed' } as Outcome
  const followed = followRun(handle, { host, isQuiet: true })
  end(outcome)
  expect(await followed).toEqual({ events: [], outcome })
  expect([listeners.size, vi.getTimerCount()]).toEqual([0, 0])
})
