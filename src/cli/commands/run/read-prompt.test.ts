import { closeSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FakeClock } from '../../../testing/index.ts'
import type { Host } from '../../terminal/process-host.ts'
import { isTyped, promptProblem, readPrompt } from './read-prompt.ts'

const piped = (text: string | Uint8Array): Readable => Readable.from(text === '' ? [] : [Buffer.from(text as string)])
const terminal = (text = ''): Host['stdin'] => Object.assign(text === '' ? new PassThrough() : piped(text), { isTTY: true })
/** A stream that stands for an open file: what it is, is asked of the system. */
function opened(path: string, stream = new PassThrough()): PassThrough & { readonly fd: number } {
  const fd = openSync(path, 'r')
  onTestFinished(() => closeSync(fd))
  return Object.assign(stream, { fd })
}

/** Reads with a clock that stands still until it is moved. */
function reading(argument: string | undefined, stdin: Host['stdin']) {
  const clock = new FakeClock(0)
  const state = { told: 0 }
  const read = readPrompt({ argument, stdin, clock, onWaiting: () => state.told++ })
  return { clock, read, state }
}

describe('the argument and piped input are combined', () => {
  const cases: readonly [name: string, argument: string | undefined, stdin: () => Host['stdin'], prompt: string][] = [
    ['prompt, terminal', 'Do it', terminal, 'Do it'],
    ['prompt, empty pipe', 'Do it', () => piped(''), 'Do it'],
    ['prompt, blank pipe', 'Do it', () => piped(' \n\n'), 'Do it'],
    ['prompt, pipe', 'Do it', () => piped('with this\n'), 'Do it\n\nwith this'],
    ['no prompt, pipe', undefined, () => piped('Do it\r\n'), 'Do it'],
    ['dash, pipe', '-', () => piped('a\n\nb\n\n'), 'a\n\nb\n'],
  ]
  test.each(cases)('%s', async (...row) => {
    const [, argument, stdin, prompt] = row
    const { read, clock, state } = reading(argument, stdin())
    expect(await read).toEqual({ prompt, warnings: [] })
    expect([clock.pending, state.told]).toEqual([0, 0])
  })

  test('a dash at a terminal waits for input, and a notice is printed', async () => {
    expect(await reading('-', terminal('Do it')).read).toEqual({ prompt: 'Do it', warnings: [] })
    expect([isTyped({ argument: '-', stdin: terminal() }), isTyped({ argument: '-', stdin: piped('') })]).toEqual([true, false])
    expect(isTyped({ argument: 'Do it', stdin: terminal() })).toBe(false)
  })
})

describe('an input that is slow', () => {
  test.each([
    ['beside a prompt', 'Do it', 'Do it\n\nslow'],
    ['instead of one', undefined, 'slow'],
    ['asked for', '-', 'slow'],
  ])('a pipe is waited for, and that is said once: %s', async (...row) => {
    const [, argument, prompt] = row
    const pipe = new PassThrough()
    const { clock, read, state } = reading(argument, pipe)
    await clock.elapse(2999)
    expect(state.told).toBe(0)
    await clock.elapse(3_600_000)
    expect(state.told).toBe(1)
    pipe.end('slow')
    expect(await read).toEqual({ prompt, warnings: [] })
  })

  test('a pipe that keeps speaking is no reason to say anything', async () => {
    const pipe = new PassThrough()
    const { clock, read, state } = reading('Do it', pipe)
    for (const part of ['a', 'b', 'c']) {
      await clock.elapse(2000)
      pipe.write(part)
    }
    await clock.elapse(2000)
    expect(state.told).toBe(0)
    await clock.elapse(1000)
    expect(state.told).toBe(1)
    pipe.end()
    expect((await read).prompt).toBe('Do it\n\nabc')
  })

  test('a device that stays silent is left out, and that is said', async () => {
    const { clock, read, state } = reading('Do it', opened('/dev/zero'))
    await clock.elapse(3000)
    expect(await read).toEqual({ prompt: 'Do it', warnings: [expect.stringMatching(/^Standard input sent nothing/)] })
    expect(state.told).toBe(0)
  })

  test('empty input causes no waiting', async () => {
    const { read } = reading('Do it', opened('/dev/null'))
    expect(await read).toEqual({ prompt: 'Do it', warnings: [] })
    const clock = new FakeClock()
    expect(await promptProblem({ argument: undefined, stdin: opened('/dev/null'), clock })).toMatchObject({ code: 'usage' })
  })

  test('one that has begun is read to its end, and so is one that was asked for', async () => {
    const begun = opened('/dev/zero')
    begun.write('first ')
    const asked = opened('/dev/zero')
    const both = [reading('Do it', begun), reading('-', asked)]
    for (const { clock } of both) await clock.elapse(10_000)
    begun.end('second')
    asked.end('Do it')
    expect(await Promise.all(both.map(async ({ read }) => (await read).prompt))).toEqual(['Do it\n\nfirst second', 'Do it'])
    expect(both.map(({ state }) => state.told)).toEqual([1, 1])
  })
})

describe('an invalid prompt', () => {
  const cases: readonly [name: string, argument: string | undefined, stdin: () => Host['stdin'], message: RegExp][] = [
    ['nothing', undefined, terminal, /^The prompt is missing/],
    ['an empty pipe', undefined, () => piped(''), /^The prompt is missing/],
    ['an empty argument', ' ', terminal, /^The prompt is empty/],
    ['bytes that are no text', 'Do it', () => piped(new Uint8Array([0xff, 0xfe, 0x00])), /not UTF-8 text/],
    ['more than there is room for', 'Do it', () => piped('x'.repeat(10 * 1024 * 1024 + 1)), /longer than 10485760 bytes/],
    ['a broken pipe', 'Do it', () => new Readable({ read: () => {} }).destroy(new Error('EIO: i/o error')), /EIO/],
    ['a folder', 'Do it', () => opened(tmpdir(), new PassThrough().end()), /it is a folder/],
  ]
  test.each(cases)('%s', async (...row) => {
    const [, argument, stdin, message] = row
    const wrong = { code: 'usage', problems: [{ message: expect.stringMatching(message) }] }
    await expect(reading(argument, stdin()).read).rejects.toMatchObject(wrong)
    expect(await promptProblem({ argument, stdin: stdin(), clock: new FakeClock(0) })).toMatchObject(wrong)
  })

  test('a dash and an empty pipe', async () => {
    await expect(reading('-', piped('')).read).rejects.toMatchObject({ problems: [{ message: 'Standard input is empty.' }] })
  })

  test('with another error the wait is short, and the unknown input is not reported', async () => {
    const clock = new FakeClock(0)
    const found = promptProblem({ argument: undefined, stdin: new PassThrough(), clock })
    await clock.elapse(100)
    expect(await found).toBeUndefined()
    expect(await promptProblem({ argument: '-', stdin: new PassThrough(), clock })).toBeUndefined()
  })
})
