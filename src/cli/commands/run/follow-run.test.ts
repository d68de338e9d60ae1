import { Readable, Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { Story } from '../../../../test/fixtures/run-story.ts'
import { Window } from '../../../../test/fixtures/terminal-window.ts'
import type { ClientId, Outcome, SessionId, StreamEvent } from '../../../contracts/index.ts'
import type { RunHandle } from '../../../runtime/index.ts'
import { FakeClock } from '../../../testing/index.ts'
import { Interruption } from '../../terminal/interruption.ts'
import { Output } from '../../terminal/output.ts'
import { plainPaint } from '../../terminal/paint.ts'
import type { EndRequest, Host } from '../../terminal/process-host.ts'
import { followRun } from './follow-run.ts'

/** A run that goes on, after these events, until it is told to end. */
function endlessRun(events: readonly StreamEvent[] = []) {
  const end = Promise.withResolvers<Outcome>()
  let interrupts = 0
  const handle: Partial<RunHandle> = {
    sessionId: 'root' as SessionId,
    outcome: end.promise,
    async interrupt() {
      interrupts++
      return { clientId: 'c' as ClientId, driven: true }
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent> {
      yield* events
      await end.promise
    },
  }
  return { handle: handle as RunHandle, interrupts: () => interrupts, end: end.resolve }
}

function fakeHost() {
  const written: string[] = []
  const listeners = new Set<(request: EndRequest) => void>()
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
    cwd: '/',
    env: {},
    stdin: Readable.from([]),
    stdout: output,
    stderr: output,
    window: 'plain',
    paint: plainPaint,
    now: () => 0,
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
  const signal = (request: EndRequest = 'interrupted'): void => {
    for (const listener of listeners) listener(request)
  }
  return { host, exits, signal, listeners, written }
}

/** Follows it with a clock that stands still. */
function following(run = endlessRun()) {
  const clock = new FakeClock(0)
  const fake = fakeHost()
  const interruption = new Interruption(fake.host, () => clock.monotonic())
  let releases = 0
  const release = async (): Promise<void> => void releases++
  const followed = followRun(run.handle, { host: fake.host, progress: 'none', clock, interruption, release })
  return { ...run, ...fake, clock, releases: () => releases, followed }
}

test('a request of the system releases the run and does not interrupt it; Ctrl-C then ends the process', () => {
  const { interrupts, releases, exits, signal } = following()
  signal('terminated')
  expect([interrupts(), releases(), exits]).toEqual([0, 1, []])
  signal('interrupted')
  expect(exits).toEqual([143])
})

test('the first interrupt ends the run, the second the process', () => {
  const { interrupts, exits, signal, clock } = following()
  signal()
  clock.advance(200)
  expect([interrupts(), exits]).toEqual([1, []])
  signal()
  expect([interrupts(), exits]).toEqual([1, [130]])
})

test('a signal that a launcher passes on a moment later is the same wish', () => {
  const { interrupts, exits, signal, clock } = following()
  signal()
  clock.advance(50)
  signal()
  expect([interrupts(), exits]).toEqual([1, []])
  clock.advance(1)
  signal()
  expect([interrupts(), exits]).toEqual([1, [130]])
})

test('a run that does not end in time after an interrupt is left behind, and not before', async () => {
  const { followed, signal, clock } = following()
  let isOver = false
  void followed.then(() => {
    isOver = true
  })
  signal()
  await clock.elapse(1799)
  expect(isOver).toBe(false)
  await clock.elapse(1)
  expect(isOver).toBe(true)
  expect(await followed).toEqual({ events: [], past: 0, outcome: undefined })
})

test('a run that ends is reported with its outcome, and no timer is left', async () => {
  const { followed, end, signal, clock } = following()
  const outcome = { status: 'interrupted' } as Outcome
  signal()
  expect(clock.pending).toBe(1)
  end(outcome)
  expect(await followed).toEqual({ events: [], past: 0, outcome })
  expect(clock.pending).toBe(0)
})

test('an echo that comes when the run has ended, before its report is out, ends nothing', async () => {
  const { followed, end, signal, exits, clock } = following()
  signal()
  end({ status: 'interrupted' } as Outcome)
  await followed
  clock.advance(10)
  signal()
  // A busy machine may be late with it.
  clock.advance(1000)
  signal()
  expect(exits).toEqual([])
  clock.advance(1000)
  signal()
  expect(exits).toEqual([130])
})

test('an end requested before the run starts ends it immediately', () => {
  const { handle, interrupts } = endlessRun()
  const { host, signal } = fakeHost()
  const interruption = new Interruption(host)
  signal()
  void followRun(handle, { host, progress: 'none', clock: new FakeClock(0), interruption, release: async () => {} })
  expect(interrupts()).toBe(1)
})

/** All promises that can settle have settled. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a live tree', () => {
  const running = () => new Story().begins().asks(0, 1).events
  const outcome = { status: 'completed' } as Outcome

  test('is gone when the run has ended', async () => {
    const { handle, end } = endlessRun(running())
    const { host, written } = fakeHost()
    const window = new Window()
    const clock = new FakeClock(0)
    const followed = followRun(handle, {
      host,
      progress: 'live',
      terminal: window,
      clock,
      interruption: new Interruption(host),
      release: async () => {},
    })
    await settled()
    expect(await window.rows()).toEqual([expect.stringContaining('root')])
    expect(window.isCursorHidden).toBe(true)
    end(outcome)
    await followed
    expect(await window.rows()).toEqual([])
    expect([window.isCursorHidden, window.watchers, clock.pending, written]).toEqual([false, 0, 0, []])
  })

  test('reports an interrupt, and stays if nothing else shows the progress of the run', async () => {
    const { handle } = endlessRun(running())
    const { host, signal } = fakeHost()
    const window = new Window({ width: 80, height: 20 })
    const clock = new FakeClock(0)
    const followed = followRun(handle, {
      host,
      progress: 'live',
      terminal: window,
      clock,
      interruption: new Interruption(host),
      release: async () => {},
    })
    await settled()
    signal()
    expect(window.written.at(-1)).toContain('interrupting…')
    clock.advance(1800)
    expect(await followed).toMatchObject({ outcome: undefined })
    expect(await window.rows()).toEqual([expect.stringContaining('interrupting…'), expect.stringContaining('step 1')])
    expect([window.isCursorHidden, window.watchers]).toEqual([false, 0])
  })

  test('leaves the window in order when the run itself cannot be read', async () => {
    const { handle } = endlessRun()
    handle[Symbol.asyncIterator] = async function* () {
      yield* running()
      throw new Error('full')
    }
    const { host } = fakeHost()
    const window = new Window()
    const clock = new FakeClock(0)
    await expect(
      followRun(handle, { host, progress: 'live', terminal: window, clock, interruption: new Interruption(host), release: async () => {} }),
    ).rejects.toThrow('full')
    expect([window.isCursorHidden, window.watchers, clock.pending]).toEqual([false, 0, 0])
  })
})

test.each([
  ['plain', ['step 1 fast\n', '  → look_up · Oslo\n']],
  ['verbose', ['step 1 fast\n', '  = 100 → 20 tokens · $0.0020 · 500 ms · stop\n', '  → look_up · Oslo\n    {"city":"Oslo"}\n']],
  ['none', []],
] as const)('%s is printed in lines', async (progress, lines) => {
  const { handle, end } = endlessRun(new Story().begins().asks(0, 1).answers(500, 1).calls(500, 1, { id: '1' }).events)
  const { host, written } = fakeHost()
  end({ status: 'completed' } as Outcome)
  await followRun(handle, { host, progress, interruption: new Interruption(host), release: async () => {} })
  expect(written).toEqual(lines)
})

test('events are written to standard output, complete and in order, besides the display', async () => {
  const story = new Story().begins().asks(0, 1).says(1, 'word')
  const { handle, end } = endlessRun(story.events)
  const { host, written } = fakeHost()
  end({ status: 'completed' } as Outcome)
  await followRun(handle, { host, progress: 'none', output: 'stream-json', interruption: new Interruption(host), release: async () => {} })
  expect(written.map((line) => JSON.parse(line))).toEqual(story.events)
})

test('a log is JSON, one document a line', async () => {
  const { handle, end } = endlessRun(running('quick'))
  const { host, written } = fakeHost()
  end({ status: 'completed' } as Outcome)
  await followRun(handle, { host, progress: 'json', interruption: new Interruption(host), release: async () => {} })
  expect(written.map((line) => JSON.parse(line).msg)).toEqual(['session created: root', 'turn started', 'model request: quick'])
})

const running = (model: string): readonly StreamEvent[] => new Story().begins().asks(0, 1, { model }).says(1, 'word').events
