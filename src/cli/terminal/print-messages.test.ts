import { Readable, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { TroupeError } from '../../contracts/index.ts'
import type { DisplayOptions } from './display-options.ts'
import { Output } from './output.ts'
import { colourPaint, plainPaint, type Window } from './paint.ts'
import { printError, printNotice, withColour } from './print-messages.ts'
import type { Host } from './process-host.ts'

const display: DisplayOptions = { detail: 'normal', logFormat: 'text', color: 'auto' }

function fakeHost(window: Window = 'plain', stream: { readonly isTTY?: boolean; readonly columns?: number } = {}) {
  let written = ''
  const output = new Output(
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          written += chunk
          done()
        },
      }),
      stream,
    ),
  )
  const size = { width: 80 }
  const host: Host = {
    cwd: process.cwd(),
    env: {},
    stdin: Readable.from([]),
    stdout: output,
    stderr: output,
    window,
    paint: window === 'terminal' ? colourPaint : plainPaint,
    get width() {
      return size.width
    },
    now: () => Date.UTC(2026, 0, 1),
    onInterrupt: () => () => {},
    exit: () => expect.unreachable(),
  }
  return { host, size, written: () => written }
}

test('colours that are asked for do not make a terminal of a pipe, and none means no escape at all', () => {
  expect(withColour(fakeHost('plain').host, { color: 'always' })).toMatchObject({ window: 'plain', paint: colourPaint })
  expect(withColour(fakeHost('terminal').host, { color: 'never' })).toMatchObject({ window: 'plain', paint: plainPaint })
  const { host } = fakeHost('terminal')
  expect(withColour(host, { color: 'auto' })).toBe(host)
})

test('a window that changes its width is seen through the colours', () => {
  const { host, size } = fakeHost('terminal')
  const coloured = withColour(host, { color: 'always' })
  size.width = 40
  expect(coloured.width).toBe(40)
})

test('an error is printed even with --quiet, and with its causes if verbose', async () => {
  const error = new TroupeError('internal', 'It broke.', { cause: new Error('within', { cause: new TypeError('deep') }) })
  const quiet = fakeHost()
  await printError(error, { host: quiet.host, display: { ...display, detail: 'quiet' } })
  expect(quiet.written()).toBe('error: It broke.\n')
  const verbose = fakeHost()
  await printError(error, { host: verbose.host, display: { ...display, detail: 'verbose' } })
  expect(verbose.written()).toBe('error: It broke.\n  caused by Error: within\n  caused by TypeError: deep\n')
})

test('a log has the time of the host', async () => {
  const { host, written } = fakeHost()
  await printNotice('Here.', { host, display: { ...display, logFormat: 'json' } })
  expect(JSON.parse(written())).toEqual({ time: '2026-01-01T00:00:00.000Z', level: 'info', msg: 'Here.' })
  await printNotice('Not here.', { host, display: { ...display, detail: 'quiet' } })
  expect(written().split('\n')).toHaveLength(2)
})

test('lines are wrapped on a terminal only', async () => {
  const error = new TroupeError('usage', 'There is no such run in that folder.', { remedy: 'Go on: troupe run a.ai --resume abc' })
  const told = async (stream: Parameters<typeof fakeHost>[1]): Promise<string> => {
    const { host, written } = fakeHost('plain', stream)
    await printError(error, { host, display })
    await printNotice('A notice that is longer than that.', { host, display })
    return written()
  }
  expect(await told({ isTTY: true, columns: 31 })).toBe(
    'error: There is no such run in\n  that folder.\n→ Go on:\n  troupe run a.ai --resume abc\nA notice that is longer than\n  that.\n',
  )
  expect(await told({ columns: 31 })).toBe(
    'error: There is no such run in that folder.\n→ Go on: troupe run a.ai --resume abc\nA notice that is longer than that.\n',
  )
})
