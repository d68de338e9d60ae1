import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { htmlToText } from '../../../src/tools/builtin/web-fetch/html/html-to-text.ts'

const read = (html: string, format: 'markdown' | 'text' = 'markdown', mostCharacters = 1_000_000) =>
  htmlToText(html, { base: new URL('https://example.org/a/b'), format, mostCharacters })
const text = async (html: string, format?: 'text'): Promise<string> => (await read(html, format)).text

describe('a page', () => {
  it.each([
    ['paragraphs and breaks', '<p>One\n two<br>three<p>four', 'One two\nthree\n\nfour'],
    ['headings', '<h1>A</h1>text<h3>B <i>c</i></h3>', '# A\n\ntext\n\n### B c'],
    ['lists', '<ul><li>a<li>b<ol start=3><li>c<li>d</ol></ul>after', '- a\n- b\n  3. c\n  4. d\n\nafter'],
    ['paragraphs in lists', '<ul><li><p>a</p><p>b</p></li></ul>', '- a\n\n  b'],
    ['links', '<a href="c?x=1&amp;y">C</a> <a href=//o.org>O</a>', '[C](https://example.org/a/c?x=1&y) [O](https://o.org/)'],
    ['links around blocks', '<a href=/x><h2>Title</h2><p>more</a>', '[Title more](https://example.org/x)'],
    ['links of a base', '<base href="/z/"><a href=y>Y</a>', '[Y](https://example.org/z/y)'],
    ['links of a base that is too long', `<base href="/${'z/'.repeat(2_000)}"><a href=y>Y</a>`, '[Y](https://example.org/a/y)'],
    [
      'links of a base that grows too long',
      `${`<base href="${'z/'.repeat(900)}">`.repeat(3)}<a href="/y">Y</a>`,
      '[Y](https://example.org/y)',
    ],
    ['links that are too long', `<a href="/${'y'.repeat(3_000)}">Y</a>`, 'Y'],
    ['links to nowhere', '<a href="javascript:x()">a</a> <a href="#b">b</a> <a>c</a> <a href="http://[">d</a>', 'a b c d'],
    ['links without text', '<a href=x><img src=y></a><a href=x><img alt="see" src=y></a>', '[see](https://example.org/a/x)'],
    ['links with brackets', '<a href="(x)">a]b</a>', '[a\\]b](https://example.org/a/%28x%29)'],
    ['code', 'run <code>a  b</code> or <code>`c`</code>', 'run `a b` or `` `c` ``'],
    ['blocks of code', '<pre><code class="language-js">a &lt; b\n  c</code></pre>', '```js\na < b\n  c\n```'],
    ['code with fences', '<pre>```\nx\n```</pre>', '````\n```\nx\n```\n````'],
    ['quotes', '<blockquote>a<p>b</blockquote>c', '> a\n\n> b\n\nc'],
    ['tables', '<table><tr><th>A<th>B<tr><td>1<td>x|y</table>', '| A | B |\n| --- | --- |\n| 1 | x\\|y |'],
    ['tables for layout', '<table><tr><td><p>a<p>b<ul><li>c</ul></td></tr></table>', 'a\n\nb\n\n- c'],
    [
      'tables in tables',
      '<table><tr><td>a<td><table><tr><td>1<td>2</table></table>',
      '| a | \\| 1 \\| 2 \\| \\| --- \\| --- \\| |\n| --- | --- |',
    ],
    ['definitions', '<dl><dt>a<dd>b</dl>', 'a\nb'],
    ['rules', 'a<hr>b', 'a\n\n---\n\nb'],
    [
      'entities',
      '&lt;b&gt; &amp;amp; caf&eacute; &#8364;&#x20AC;&#128; &unknown; &copy &#0;&#xD800;&#x110000;',
      '<b> &amp; café €€€ &unknown; © ���',
    ],
    ['spaces', 'a&nbsp;b <b>c</b>d <i> e </i> f', 'a b cd e f'],
    ['pictures', '<img alt="A cat" src=x> and <img src=y>', 'A cat and'],
  ])('has %s', async (_what, html, expected) => expect(await text(html)).toBe(expected))

  it('can be shown as plain text', async () => {
    const html = '<h1>A</h1><a href=x>b</a> <code>c</code><pre>\nd\n e\n</pre><table><tr><td>1<td>2</table><ul><li>f</ul>'
    expect(await text(html, 'text')).toBe('A\n\nb c\n\nd\n e\n\n1 | 2\n\n- f')
  })

  it('has a title', async () => {
    expect(await read('<head><title> A &amp;\n<b>B</b> </title></head>x<svg><title>no</title></svg>')).toEqual({
      title: 'A & <b>B</b>',
      text: 'x',
      isCut: false,
    })
  })

  it.each([
    ['scripts', 'a<script>document.write("<p>no</p>")</script><style>p{}</style>b', 'ab'],
    ['scripts in capitals', 'a<SCRIPT>no</sCrIpT >b', 'ab'],
    ['scripts without an end', 'a<script>no<p>no', 'a'],
    ['comments', 'a<!-- no <p> -->b<!--> c <!-- no', 'ab c'],
    ['declarations', '<!doctype html><?xml x?>a<![CDATA[no]]>b', 'ab'],
    ['hidden elements', 'a<div hidden>no<p>no</div>b<p style="color:red;DISPLAY : none">no<p>c<i aria-hidden=true>no</i>', 'ab\n\nc'],
    ['templates', 'a<template><p>no</template><select><option>no</select><svg><text>no</text></svg>b', 'ab'],
    ['frames and fields', 'a<iframe>no</iframe><textarea>no</textarea>b', 'ab'],
    ['letters that nobody sees', 'a\u200bb\u{e0041}\u202ec\u0007d', 'abcd'],
  ])('does not show %s', async (_what, html, expected) => expect(await text(html)).toBe(expected))

  it('shows a body that is hidden until a script has run', async () => {
    expect(await text('<body style="display:none"><noscript>plain</noscript>')).toBe('plain')
  })

  it.each([
    ['</p></div>a', 'a'],
    ['<b>a</i>b', 'ab'],
    ['<a href=x>a<a href=y>b', '[a](https://example.org/a/x)[b](https://example.org/a/y)'],
    ['<ul><li>a</ul></ul></li>b', '- a\n\nb'],
    ['a < b > c <3 </ >', 'a < b > c <3'],
    ['<p title="a>b">c', 'c'],
    ["<p title=it's>c", 'c'],
    ['<p title="never closed>c', ''],
    ['<td>a<td>b', 'ab'],
    ['<h1>a<h2>b', '# a\n\n## b'],
    ['<table><tr><td>a</table><td>b', 'a\n\nb'],
    ['</br>a<', 'a<'],
  ])('that is broken is read all the same: %s', async (html, expected) => expect(await text(html)).toBe(expected))

  it('is cut where it is too long', async () => {
    expect(await read('<p>12345<p>67890', 'markdown', 8)).toEqual({ text: '12345\n\n6', isCut: true })
    expect((await read('😀😀😀', 'markdown', 3)).text).toBe('😀\uFFFD')
  })
})

describe('hostile pages', () => {
  const size = 300_000
  const full = (piece: string, tail = ''): string => piece.repeat(Math.ceil(size / piece.length)) + tail
  it.each([
    ['<'],
    ['</'],
    ['<!--'],
    ['<div>'],
    ['<ul><li>x'],
    ['<table><tr><td>x'],
    ['<a href=x>y'],
    ['<a href="'],
    ['<b>'],
    ['<a><b></a></b>'],
    ['<blockquote>x'],
    ['<script>'],
    ['<script></script '],
    ['<h1><a href=x><code>y'],
    ['&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'],
    ['<p style="display'],
    ['<pre>`` '],
    ['<p><span>'],
  ])('take no longer than they are: %s without end', async (piece) => {
    const before = process.cpuUsage()
    const { text: shown } = await read(full(piece, '</p></x>z'))
    const { user, system } = process.cpuUsage(before)
    expect(shown.length).toBeLessThanOrEqual(1_000_000)
    // What is not linear takes minutes here.
    expect((user + system) / 1_000).toBeLessThan(20_000)
  })

  it.each([
    ['spaces', `<pre>${' '.repeat(size)}x`],
    ['attributes', `<p ${'a=b '.repeat(size / 4)}>x`],
    ['signs', `<p ${'='.repeat(size)}>x`],
    ['a name', `<${'a'.repeat(size)}>x`],
    ['lines', `<pre>${'\n'.repeat(size)}x`],
    ['end tags', `${'<div>'.repeat(400)}${'</p>'.repeat(size / 4)}x`],
  ])('with nothing but %s, too', async (_what, html) => {
    expect(await text(html)).toContain('x')
  })

  it('that nest too deeply are cut', async () => {
    expect(await read(`a${'<div>'.repeat(600)}b`)).toEqual({ text: 'a', isCut: true })
  })

  it('are always read, and never grow beyond their bound', async () => {
    const piece = fc.constantFrom(
      ...[
        '<p>',
        '</p>',
        '<ul>',
        '<li>',
        '</ul>',
        '<table>',
        '<tr>',
        '<td>',
        '</td>',
        '</table>',
        '<a href=x>',
        '</a>',
        '<h2>',
        '</h2>',
        '<pre>',
        '</pre>',
      ],
      ...[
        '<code>',
        '</code>',
        '<blockquote>',
        '</blockquote>',
        '<div hidden>',
        '</div>',
        '<br>',
        '<!--',
        '-->',
        '<script>',
        '</script>',
        '&amp;',
        ' ',
        'x',
        '\n',
        '<',
        '"',
      ],
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        const { text: shown } = await read(pieces.join(''), 'markdown', 200)
        return shown.length <= 200 && shown === shown.trim()
      }),
      { numRuns: 500 },
    )
  })
})
