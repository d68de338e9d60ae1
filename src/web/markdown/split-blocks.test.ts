import { expect, test } from 'vitest'
import { splitBlocks, steadyEnd } from './split-blocks.ts'

const blocksOf = (text: string): readonly string[] => {
  const { done, open } = splitBlocks(text)
  return [...done, open]
}

test('paragraphs, headings, tables and code are blocks', () => {
  const blocks = [
    '# Title\n',
    'One\ntwo\n\n',
    '| a | b |\n|---|---|\n| 1 | 2 |\n\n',
    '```sh\nls\n\n# no title\n```\n',
    'Text\n',
    '## End\n',
    'x',
  ]
  expect(blocksOf(blocks.join(''))).toEqual(blocks)
})

test('a list stays one block, with blank lines, paragraphs and code in it', () => {
  const list = 'Steps:\n1. one\n\n   more\n\n2. two\n\n   ```js\n   a\n\n   b\n   ```\n\n3. three\n\n'
  expect(blocksOf(`${list}After`)).toEqual([list, 'After'])
  expect(blocksOf('- a\n\n---\n\nb')).toEqual(['- a\n\n', '---\n\n', 'b'])
})

test('a line that may become an item stays with its list until it is known', () => {
  for (const end of ['2', '2.', '-', ' '] as const) expect(splitBlocks(`1. one\n\n${end}`).done).toEqual([])
  expect(splitBlocks('1. one\n\n2x').done).toEqual(['1. one\n\n'])
})

test('backticks and tildes inside of code do not end it', () => {
  const code = '````md\n```\n~~~\n```\n````\n'
  expect(blocksOf(`${code}x`)).toEqual([code, 'x'])
  expect(blocksOf('`` `not` a fence ``` ``\n\nx')).toEqual(['`` `not` a fence ``` ``\n\n', 'x'])
})

test('a text that grows gives the same blocks as the whole text, and keeps those that are complete', () => {
  const text = '# A\nIntro:\n- one\n- two\n\n  more\n\nText **bold**\n\n```ts\nconst a = 1\n\nb\n```\n\n| a |\n|---|\n| 1 |\n\nEnd\n'
  let known = splitBlocks('')
  for (let length = 1; length <= text.length; length++) {
    const before = known
    known = splitBlocks(text.slice(0, length), known)
    expect(known.done.slice(0, before.done.length)).toEqual(before.done)
    expect([...known.done, known.open].join('')).toBe(text.slice(0, length))
  }
  expect(known).toEqual(splitBlocks(text))
})

test('a text that was replaced is read again', () => {
  expect(splitBlocks('Other\n\ntext', splitBlocks('One\n\ntwo')).done).toEqual(['Other\n\n'])
})

test('a last block does not change its form while it is streamed', () => {
  expect(steadyEnd('Text\n-')).toBe('Text')
  expect(steadyEnd('Text\n\n1.')).toBe('Text')
  expect(steadyEnd('##')).toBe('')
  expect(steadyEnd('some **bold te')).toBe('some **bold te**')
  expect(steadyEnd('some **')).toBe('some ')
  expect(steadyEnd('call `f(**kw')).toBe('call `f(**kw`')
  expect(steadyEnd('see [the docs](https://exam')).toBe('see the docs')
  expect(steadyEnd('see [the do')).toBe('see the do')
  expect(steadyEnd('| a | b')).toBe('| a | b\n|---|---|')
  expect(steadyEnd('| a | b |\n|--')).toBe('| a | b |\n|---|---|')
  expect(steadyEnd('| a | b |\n|---|---|\n| 1')).toBe('| a | b |\n|---|---|\n| 1')
  expect(steadyEnd('```js\na\n``')).toBe('```js\na')
  expect(steadyEnd('```js\n**')).toBe('```js\n**')
})
