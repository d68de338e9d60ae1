import { describe, expect, it } from 'vitest'
import { findJson } from './find-json.ts'

describe('jsonIn', () => {
  const found: [string, string, unknown][] = [
    ['the whole text', ' {"a": 1}\n', { a: 1 }],
    ['a list', '[1, 2]', [1, 2]],
    ['a scalar that is the whole text', '"yes"', 'yes'],
    ['null', 'null', null],
    ['a fence', '```json\n{"a": 1}\n```', { a: 1 }],
    ['a fence without a language, among words', 'Here it is:\n\n```\n[1]\n```\nDone.', [1]],
    ['a fence that is JSON among others', '```ts\nconst a = {}\n```\n```json\n{"b": 2}\n```', { b: 2 }],
    ['the last one of several', 'Example:\n```\n{"a": 1}\n```\nFinal:\n```\n{"a": 2}\n```', { a: 2 }],
    ['fences within a string', '{"code": "```js\\n1\\n```"}', { code: '```js\n1\n```' }],
    ['words around it', 'The answer is {"a": {"b": "}"}} as asked.', { a: { b: '}' } }],
    ['a fence with CRLF', '```json\r\n{"a": 1}\r\n```', { a: 1 }],
  ]
  it.each(found)('finds %s', (_, text, value) => expect(findJson(text)?.value).toEqual(value))

  it.each(['', 'yes', 'no {json} here', '{"a": 1', 'It costs 5.', '```json\n{"a": \n```'])('finds nothing in %j', (text) =>
    expect(findJson(text)).toBeUndefined(),
  )
  it('takes time in proportion to a hostile text', () => {
    for (const line of ['```\n{', '```a\n', '{[', '```json\n{\n']) expect(findJson(line.repeat(200_000))).toBeUndefined()
  })
})
