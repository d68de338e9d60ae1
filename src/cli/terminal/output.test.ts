import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { Output } from './output.ts'

function breaking(code: string): { stream: Writable; written: string[] } {
  const written: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      if (written.length > 0) return done(Object.assign(new Error(code), { code }))
      written.push(String(chunk))
      done()
    },
  })
  return { stream, written }
}

test('1, 2: a reader that leaves is no failure, and nothing more is written', async () => {
  const { stream, written } = breaking('EPIPE')
  const output = new Output(stream)
  let ends = 0
  output.onEnd(() => ends++)
  await output.lines(['one', 'two'])
  await output.line('three')
  await new Promise((resolve) => setImmediate(resolve))
  await output.line('four')
  expect([written, ends, output.failure]).toEqual([['one\ntwo\n'], 1, undefined])
})

test('what a model has written reaches a pipe as it is, and a terminal without what would steer it', async () => {
  const evil = '\u001b]0;title\u0007One\ttab\r\n\u009b2JTwo\u202e three\rover\u0000\n👩‍🚀 می‌خواهم\n'
  const shown: string[] = []
  for (const isTTY of [false, true]) {
    const stream = new Writable({
      write(chunk, _encoding, done) {
        shown.push(String(chunk))
        done()
      },
    })
    await new Output(Object.assign(stream, { isTTY })).text(evil)
  }
  expect(shown).toEqual([evil, 'One\ttab\nTwo three\nover\n👩‍🚀 می‌خواهم\n'])
})

test('1: a full disk is reported, not thrown', async () => {
  const output = new Output(breaking('ENOSPC').stream)
  await output.line('one')
  await output.line('two')
  await new Promise((resolve) => setImmediate(resolve))
  expect(output.failure?.message).toBe('ENOSPC')
})
