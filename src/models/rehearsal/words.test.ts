import { describe, expect, it } from 'vitest'
import { clip, nameWords, readWords } from './words.ts'

const read = (text: string) => readWords(text).map(({ kind, text: word }) => `${kind} ${word}`)

describe('reading', () => {
  it.each<[text: string, words: string[]]>([
    ['Read src/index.ts.', ['word Read', 'path src/index.ts', 'mark .']],
    ['./a, ~/b and /c/d/', ['path ./a', 'mark ,', 'path ~/b', 'word and', 'path /c/d/']],
    ['*.ts .env README.md', ['path *.ts', 'path .env', 'path README.md']],
    ['and/or 24/7 km/h', ['word and/or', 'word 24/7', 'word km/h']],
    ['see https://a.example/b?c=1.', ['word see', 'url https://a.example/b?c=1', 'mark .']],
    ['mail a.b@c.example, please', ['word mail', 'email a.b@c.example', 'mark ,', 'word please']],
    ['say "a \'b\' c" or “d”', ['word say', "quote a 'b' c", 'word or', 'quote d']],
    ["the dogs' and it's", ['word the', 'word dogs', "mark '", 'word and', "word it's"]],
    ['`ls -la` ```sh\nmake\n```', ['quote ls -la', 'quote make\n']],
    ['-3.5 1,200 3-5', ['number -3.5', 'number 1,200', 'number 3', 'mark -', 'number 5']],
    ['at 9:30, 3pm on 2026-05-01', ['word at', 'time 9:30', 'mark ,', 'time 3pm', 'word on', 'date 2026-05-01']],
    ['Tromsø 天気 e-mail', ['word Tromsø', 'word 天気', 'word e-mail']],
    ['a "quote that never ends', ['word a', 'mark "', 'word quote', 'word that', 'word never', 'word ends']],
    ['', []],
  ])('%j', (text, words) => {
    expect(read(text)).toEqual(words)
  })

  it('knows the position of each word', () => {
    const text = 'one two,\nthree'
    expect(readWords(text).map(({ start, end }) => text.slice(start, end))).toEqual(['one', 'two', ',', 'three'])
    expect(readWords(text).map(({ startsLine }) => startsLine)).toEqual([false, false, false, true])
  })

  it.each(['a', 'a.', 'a/', '"', '1,', "'", '((', 'a@', ' ', '😀', '`', '-1'])(
    'looks at beginning and end of a megabyte of %j',
    (piece) => {
      const text = `first ${piece.repeat(1_000_000 / piece.length)} last`
      const words = readWords(text)
      expect(words.length).toBeLessThan(13_000)
      expect([words[0]?.text, words.at(-1)?.text.slice(-4)]).toEqual(['first', 'last'])
    },
  )
})

it.each([
  ['lookUpWeather', ['look', 'up', 'weather']],
  ['look_up.weather-now', ['look', 'up', 'weather', 'now']],
  ['server__HTTPGet2', ['server', 'httpget2']],
  ['', []],
])('the words of %j are %j', (name, words) => {
  expect(nameWords(name)).toEqual(words)
})

it('clips at words, on one line, and never in the middle of a letter', () => {
  expect(clip('one two  three', 20)).toBe('one two three')
  expect(clip('one two, three', 10)).toBe('one two …')
  expect(clip('😀😀😀', 3)).toBe('😀 …')
})
