import { expect, test } from 'vitest'
import { lastLines } from './last-lines.ts'

test.each<[string, number, readonly string[]]>([
  ['', 10, []],
  ['one two', 10, ['one two']],
  ['one two three four', 9, ['one two', 'three', 'four'].slice(-2)],
  ['incomprehensibilities are long', 8, ['are long']],
  ['incomprehensibilities', 8, ['incompr…']],
  ['日本語 日本語', 7, ['日本語', '日本語']],
])('%j in %d columns', (text, width, expected) => {
  expect(lastLines(text, { width, most: 2 }).slice(-expected.length || undefined)).toEqual(expected)
})

test('a line that is full stays as it is', () => {
  const before = lastLines('one two three', { width: 8, most: 9 })
  expect(lastLines('one two three four five', { width: 8, most: 9 }).slice(0, 1)).toEqual(before.slice(0, 1))
})
