import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { colourPaint, plainPaint } from '../paint.ts'
import { widthOf } from '../text-width.ts'
import { renderMarkdown, wrapText } from './render-markdown.ts'

const plain = (text: string, width = 40): string => renderMarkdown(text, { width, paint: plainPaint }).join('\n')

describe('Markdown on a terminal', () => {
  test('headings, lists, code, quotes and tables, wrapped to the width', () => {
    const text = [
      '# Trip to **Oslo**',
      '',
      'Take the *early* train: it has `Wi-Fi` and [seats](https://example.com/s).',
      'Line breaks stay.',
      '',
      '1. Pack an umbrella and a warm coat, because it rains',
      '   - [x] umbrella',
      '> quoted',
      '',
      '',
      '| city | what it is known for |',
      '|---|---|',
      '| **Bergen** | rain, and the railway across the mountains |',
      '```sh',
      'echo "a line of code stays whole however long it is"   # spaces, too',
      '```',
      '---',
      'snake_case_name and 2 * 3 * 4 are text, \\*this\\* too.',
    ].join('\n')
    expect(plain(text)).toMatchInlineSnapshot(`
      "Trip to Oslo

      Take the early train: it has Wi-Fi and
      seats (https://example.com/s).
      Line breaks stay.

      1. Pack an umbrella and a warm coat,
         because it rains
         • ☑ umbrella
      │ quoted

      city   │ what it is known for
      ───────┼────────────────────────────────
      Bergen │ rain, and the railway across
             │ the mountains
        echo "a line of code stays whole however long it is"   # spaces, too
      ────────────────────────────────────────
      snake_case_name and 2 * 3 * 4 are text,
      *this* too."
    `)
  })

  test('styles are escapes, and nest', () => {
    const [line] = renderMarkdown('**bold `code`** and *slanted*', { width: 80, paint: colourPaint })
    expect(line).toBe('\u001b[1mbold \u001b[22m\u001b[36m\u001b[1mcode\u001b[22m\u001b[39m and \u001b[3mslanted\u001b[23m')
  })

  test('code that has no end yet is code; a table too wide for the window is text', () => {
    expect(plain('```js\nconst a = 1')).toBe('  const a = 1')
    expect(plain('| a | b | c | d |\n|-|-|-|-|\n| one | two | three | four |', 12)).toBe('a | b | c |\nd\none | two |\nthree | four')
  })

  test('escapes in the text have no effect', () => {
    expect(plain('a \u001b[31mred\u001b]0;title\u0007 word')).toBe('a red word')
  })

  test('a wide table with many rows, and many fences, take no time', () => {
    const wide = `|${'a|'.repeat(10_000)}\n|${'-|'.repeat(10_000)}\n${'|x\n'.repeat(10_000)}`
    const began = performance.now()
    expect(plain(wide)).toContain('a | a | a')
    expect(plain('```\n'.repeat(60_000))).toBe('')
    expect(performance.now() - began).toBeLessThan(5_000)
  })

  test('no line is wider than the window, and no letter is lost', () => {
    const pieces = fc.constantFrom(
      '**',
      '*',
      '_',
      '`',
      '[',
      '](',
      ')',
      '# ',
      '- ',
      '> ',
      '|',
      '|-|',
      '\n',
      '\n\n',
      'word',
      '日本',
      ' ',
      '1. ',
      'x'.repeat(30),
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), fc.integer({ min: 8, max: 60 }), (parts, width) => {
        const text = parts.join('')
        const lines = renderMarkdown(text, { width, paint: plainPaint, cutsCode: true })
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
        const letters = (shown: string): string => shown.replace(/[^a-z日本]/g, '')
        expect(letters(lines.join(''))).toHaveLength(letters(text).length)
      }),
      { numRuns: 300 },
    )
  })
})

test('text that is not Markdown is wrapped, and keeps its marks and its indentation', () => {
  expect(wrapText('**not bold** and a few words\n  indented and long enough to wrap', { width: 20 })).toEqual([
    '**not bold** and a',
    'few words',
    '  indented and long',
    '  enough to wrap',
  ])
})
