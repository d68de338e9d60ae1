import { expect, test } from 'vitest'
import { cutText } from './cut-text.ts'
import { definitionsIn, withDefinitions } from './definitions.ts'
import { markdownHtml, safeAddress } from './markdown-html.ts'

const external = 'target="_blank" rel="noopener noreferrer"'

test('tags of the text are text, apart from plain formatting', () => {
  expect(markdownHtml('a <img src=x onerror=alert(1)> b')).toBe('<p>a &lt;img src=x onerror=alert(1)&gt; b</p>\n')
  expect(markdownHtml('<script>alert(1)</script>')).toBe('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(markdownHtml('<div style="position:fixed">x</div>')).not.toContain('<div')
  expect(markdownHtml('H<sub>2</sub>O<br>')).toBe('<p>H<sub>2</sub>O<br></p>\n')
  expect(markdownHtml('<b onclick=alert(1)>x</b>')).toContain('&lt;b onclick')
})

test('links lead to other places only, and open in a new tab', () => {
  expect(markdownHtml('[a](https://example.org/?a=1&b="2")')).toContain(
    `<a href="https://example.org/?a=1&amp;b=%222%22" ${external}>a</a>`,
  )
  expect(markdownHtml('https://example.org')).toContain(`<a href="https://example.org/" ${external}>`)
  for (const address of [
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '/v1/x',
    '#a',
    'blob:x',
  ])
    expect(safeAddress(address)).toBeUndefined()
  expect(markdownHtml('[a](javascript:alert(1))')).toBe('<p>a</p>\n')
  expect(safeAddress('mailto:ada@example.org')).toBe('mailto:ada@example.org')
})

test('an image is a link with its text', () => {
  expect(markdownHtml('![a "cat"](https://example.org/cat.png)')).toBe(
    `<p><a href="https://example.org/cat.png" ${external}>a &quot;cat&quot;</a></p>\n`,
  )
  expect(markdownHtml('![](data:image/png;base64,AA)')).toBe('<p>image</p>\n')
})

test('code has a label and a button; what it contains is text', () => {
  const html = markdownHtml('```html {1}\n<b>"x"</b>\n```')
  expect(html).toContain('<span>html</span><button type="button" class="md-copy">Copy</button>')
  expect(html).toContain('<code>&lt;b&gt;&quot;x&quot;&lt;/b&gt;\n</code>')
  expect(markdownHtml('```"><img>\nx\n```')).not.toContain('<img')
})

test('headings are below those of the page; boxes are characters; tables scroll', () => {
  expect(markdownHtml('# A')).toBe('<h3>A</h3>\n')
  expect(markdownHtml('##### A')).toBe('<h6>A</h6>\n')
  expect(markdownHtml('- [x] done')).not.toContain('<input')
  expect(markdownHtml('| a |\n|--:|\n| 1 |')).toMatch(/^<div class="md-table" tabindex="0"><table>.*<td align="right">1<\/td>/s)
})

test('a block has the definitions of links that it uses', () => {
  const definitions = definitionsIn(
    'See [A  b] and [2].\n\n[a b]: https://example.org "Title"\n[2]: /\n[x] y\n[A B]: https://second.example',
  )
  expect(withDefinitions('See [A  b].', definitions)).toBe('[a b]: https://example.org "Title"\n\nSee [A  b].')
  for (const block of ['See [3].', '[a b]: https://example.org "Title"\n[2]: /']) expect(withDefinitions(block, definitions)).toBe(block)
  // The parser takes these for text.
  expect(definitionsIn('[a]: two words\n[ ]: b\n[c]: d)\n[e]: "f').size).toBe(1)
})

test('a text is cut at lines, characters, and never within a character', () => {
  expect(cutText('a\nb\nc', { lines: 2, characters: 10 })).toBe('a\nb')
  expect(cutText('abcdef', { lines: 2, characters: 3 })).toBe('abc')
  expect(cutText('a😀', { lines: 1, characters: 2 })).toBe('a')
  expect(cutText('abc', { lines: 1, characters: 3 })).toBe('abc')
})

test('a block that would take the parser seconds, or all of its stack or memory, is not parsed', () => {
  const lines = (count: number, line: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => line(index)).join('\n')
  const wide = `|${'a|'.repeat(1_500)}\n|${'-|'.repeat(1_500)}\n${'|x\n'.repeat(1_500)}`
  const texts = ['> '.repeat(5_000), '- '.repeat(5_000), lines(400, (index) => `${'  '.repeat(index)}- x`), wide]
  const began = performance.now()
  for (const text of [...texts, '~a~ ~~b '.repeat(20_000), 'a_'.repeat(50_000), lines(50_000, () => 'a_'), '-\n'.repeat(12_000)])
    expect(markdownHtml(text)).toBeUndefined()
  expect(performance.now() - began).toBeLessThan(2_000)
  for (const text of ['!', ' ', '<?', 'a`', '[a]', '|_x\n'].map((each) => `a${each.repeat(48_000 / each.length)}b`))
    expect(markdownHtml(text)).toBeUndefined()
  const rows = `| a | b |\n|---|---|\n${lines(900, () => '| snake_case_name | *x* |')}`
  expect(markdownHtml(`${rows}\n\n\`\`\`\n${'a_'.repeat(5_000)}\n\`\`\``)).toContain('<em>x</em>')
})

test('a long paragraph of prose is formatted, and so are many definitions', () => {
  const prose = 'Ordinary words, (some) "quoted", of a long paragraph. '.repeat(900)
  const marked = `${'**Bold**, `code`, _more_ and [a link](https://example.org). '.repeat(15)}${prose}`.slice(0, 49_000)
  expect(markdownHtml(marked)?.match(/<(?:strong|code|em|a) ?/g)).toHaveLength(60)
  const definitions = Array.from({ length: 900 }, (_, index) => `[${index}]: https://example.org/${'some_page/'.repeat(8)}${index}`)
  expect(markdownHtml(`${definitions.join('\n')}\n\nSee [7].`)).toContain('">7</a>')
  // Within a paragraph they are text.
  expect(markdownHtml(`a\n${definitions.join('\n')}`)).toBeUndefined()
})
