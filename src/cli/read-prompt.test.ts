import { PassThrough, Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { isTyped, type ReadPrompt, readPrompt } from './read-prompt.ts'

const piped = (text: string | Uint8Array): Readable => Readable.from(text === '' ? [] : [Buffer.from(text as string)])
const terminal = (text = ''): Readable & { isTTY: boolean } => Object.assign(text === '' ? new PassThrough() : piped(text), { isTTY: true })

const read = (argument: string | undefined, stdin: Readable): Promise<ReadPrompt> => readPrompt({ argument, stdin, patienceMs: 20 })

describe('what is on the command line and what is piped in combine', () => {
  const cases: readonly [name: string, argument: string | undefined, stdin: () => Readable, prompt: string][] = [
    ['prompt, terminal', 'Do it', terminal, 'Do it'],
    ['prompt, empty pipe', 'Do it', () => piped(''), 'Do it'],
    ['prompt, blank pipe', 'Do it', () => piped(' \n\n'), 'Do it'],
    ['prompt, pipe', 'Do it', () => piped('with this\n'), 'Do it\n\nwith this'],
    ['no prompt, pipe', undefined, () => piped('Do it\r\n'), 'Do it'],
    ['dash, pipe', '-', () => piped('a\n\nb\n\n'), 'a\n\nb\n'],
  ]
  test.each(cases)('%s', async (...row) => {
    const [, argument, stdin, prompt] = row
    expect(await read(argument, stdin())).toEqual({ prompt, notices: [] })
  })

  test('a dash at a terminal waits for the person, who is to be told', async () => {
    expect(await read('-', terminal('Do it'))).toEqual({ prompt: 'Do it', notices: [] })
    expect([isTyped({ argument: '-', stdin: terminal() }), isTyped({ argument: '-', stdin: piped('') })]).toEqual([true, false])
    expect(isTyped({ argument: 'Do it', stdin: terminal() })).toBe(false)
  })

  test('a pipe that stays open and silent is left out, and that is said', async () => {
    expect(await read('Do it', new PassThrough())).toEqual({
      prompt: 'Do it',
      notices: [expect.stringMatching(/^Nothing came from standard input/)],
    })
  })

  test('a pipe that has begun is read to its end, however slowly', async () => {
    const slow = new PassThrough()
    slow.write('first ')
    setTimeout(() => slow.end('second'), 60)
    expect((await read('Do it', slow)).prompt).toBe('Do it\n\nfirst second')
  })
})

describe('what is no prompt', () => {
  const cases: readonly [name: string, argument: string | undefined, stdin: () => Readable, message: RegExp][] = [
    ['nothing', undefined, terminal, /^It is missing/],
    ['an empty pipe', undefined, () => piped(''), /^It is missing/],
    ['an empty argument', ' ', terminal, /^It is empty/],
    ['a dash and an empty pipe', '-', () => piped(''), /^Standard input is empty/],
    ['bytes that are no text', 'Do it', () => piped(new Uint8Array([0xff, 0xfe, 0x00])), /not text in UTF-8/],
    ['more than there is room for', 'Do it', () => piped('x'.repeat(10 * 1024 * 1024 + 1)), /longer than 10485760 bytes/],
    ['a broken pipe', 'Do it', () => new Readable({ read: () => {} }).destroy(new Error('EIO: i/o error')), /EIO/],
  ]
  test.each(cases)('%s', async (...row) => {
    const [, argument, stdin, message] = row
    await expect(read(argument, stdin())).rejects.toMatchObject({ code: 'usage', problems: [{ message: expect.stringMatching(message) }] })
  })
})
