import { Readable, Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Outcome, StreamEvent, TreeId } from '../contracts/index.ts'
import type { RunHandle } from '../runtime/index.ts'
import { FakeClock } from '../testing/index.ts'
import { followRun } from './follow-run.ts'
import type { Host } from './host.ts'
import { Story } from './live/fixtures/story.ts'
import { Window } from './live/fixtures/window.ts'
import { Output } from './output.ts'
import { plainPaint } from './paint.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A run that goes on, after these events, until it is told to end. */
function endlessRun(events: readonly StreamEvent[] = []) {
  const end = Promise.withResolvers<Outcome>()
  const interrupts: number[] = []
  const handle: Partial<RunHandle> = {
    treeId: 'tree' as TreeId,
    outcome: end.promise,
    async interrupt() {
      interrupts.push(performance.now())
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent> {
      yield* events
      await end.promise
    },
  }
  return { handle: handle as RunHandle, interrupts, end: end.resolve }
}

function fakeHost() {
  const written: string[] = []
  const listeners = new Set<() => void>()
  const exits: number[] = []
  const output = new Output(
    new Writable({
      write(chunk, _encoding, done) {
        written.push(String(chunk))
        done()
      },
    }),
  )
  const host: Host = {
    env: {},
    stdin: Readable.from([]),
    stdout: output,
    stderr: output,
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
  return { host, exits, signal, listeners, written }
}

test('the first interrupt ends the run, the second the process', async () => {
  const { handle, interrupts } = endlessRun()
  const { host, exits, signal } = fakeHost()
  void followRun(handle, { host, progress: 'none' })
  signal()
  vi.advanceTimersByTime(200)
  expect([interrupts.length, exits]).toEqual([1, []])
  signal()
  expect([interrupts.length, exits]).toEqual([1, [130]])
})

test('a signal that a launcher passes on a moment later is the same wish', async () => {
  const { handle, interrupts } = endlessRun()
  const { host, exits, signal } = fakeHost()
  void followRun(handle, { host, progress: 'none' })
  signal()
  vi.advanceTimersByTime(20)
  signal()
  expect([interrupts.length, exits]).toEqual([1, []])
})

test('a run that does not end in time after an interrupt is left behind', async () => {
  const { handle } = endlessRun()
  const { host, signal, listeners } = fakeHost()
  const followed = followRun(handle, { host, progress: 'none' })
  signal()
  vi.advanceTimersByTime(1500)
  expect(await followed).toEqual({ events: [], outcome: undefined })
  expect(listeners.size).toBe(0)
})

test('a run that ends is told with its outcome, and nobody listens any more', async () => {
  const { handle, end } = endlessRun()
  const { host, listeners } = fakeHost()
  const outcome = { status: 'completed' } as Outcome
  const followed = followRun(handle, { host, progress: 'none' })
  end(outcome)
  expect(await followed).toEqual({ events: [], outcome })
  expect([listeners.size, vi.getTimerCount()]).toEqual([0, 0])
})

/** All promises that can settle have settled; the fake timers leave this one alone. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a live tree', () => {
  const running = () => new Story().begins().asks(0, 1).events
  const outcome = { status: 'completed' } as Outcome

  test('is gone when the run has ended', async () => {
    const { handle, end } = endlessRun(running())
    const { host, written } = fakeHost()
    const window = new Window()
    const clock = new FakeClock(0)
    const followed = followRun(handle, { host, progress: 'live', terminal: window, clock })
    await settled()
    vi.useRealTimers()
    expect(await window.rows()).toEqual([expect.stringContaining('root')])
    expect(window.isCursorHidden).toBe(true)
    end(outcome)
    await followed
    expect(await window.rows()).toEqual([])
    expect([window.isCursorHidden, window.watchers, clock.pending, written]).toEqual([false, 0, 0, []])
  })

  test('tells of an interrupt, and stays where nothing else tells how far the run came', async () => {
    const { handle } = endlessRun(running())
    const { host, signal } = fakeHost()
    const window = new Window({ width: 80, height: 20 })
    const followed = followRun(handle, { host, progress: 'live', terminal: window, clock: new FakeClock(0) })
    await settled()
    signal()
    expect(window.written.at(-1)).toContain('interrupting…')
    vi.advanceTimersByTime(1500)
    expect(await followed).toMatchObject({ outcome: undefined })
    vi.useRealTimers()
    expect(await window.rows()).toEqual([expect.stringContaining('interrupting…'), expect.stringContaining('step 1')])
    expect([window.isCursorHidden, window.watchers]).toEqual([false, 0])
  })

  test('leaves the window in order when whoever reads the events throws', async () => {
    const { handle } = endlessRun(running())
    const { host } = fakeHost()
    const window = new Window()
    const clock = new FakeClock(0)
    const onEvent = async (): Promise<void> => {
      throw new Error('full')
    }
    await expect(followRun(handle, { host, progress: 'live', terminal: window, clock, onEvent })).rejects.toThrow('full')
    expect([window.isCursorHidden, window.watchers, clock.pending]).toEqual([false, 0, 0])
  })
})

test.each([
  ['plain', ['step 1 fast\n', '  → look_up\n']],
  ['verbose', ['step 1 fast\n', '  = 100 → 20 tokens · $0.0020 · 500 ms · stop\n', '  → look_up\n    {"city":"Oslo"}\n']],
  ['none', []],
] as const)('%s is told in lines', async (progress, lines) => {
  const { handle, end } = endlessRun(new Story().begins().asks(0, 1).answers(500, 1).calls(500, 1, { id: '1' }).events)
  const { host, written } = fakeHost()
  end({ status: 'completed' } as Outcome)
  await followRun(handle, { host, progress })
  expect(written).toEqual(lines)
})

test('a log is JSON, one document a line', async () => {
  const { handle, end } = endlessRun(running('quick'))
  const { host, written } = fakeHost()
  end({ status: 'completed' } as Outcome)
  await followRun(handle, { host, progress: 'json' })
  expect(written.map((line) => JSON.parse(line).msg)).toEqual(['session created: root', 'turn started', 'model asked: quick'])
})

const running = (model: string): readonly StreamEvent[] => new Story().begins().asks(0, 1, { model }).says(1, 'word').events
