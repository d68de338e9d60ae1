// biome-ignore-all lint/suspicious/noTemplateCurlyInString: code is written like that
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { tokensOf } from './tokens.ts'

const names = 'js json py bash yaml toml html css sql go rust java c ruby php lua dockerfile diff'.split(' ')

/** `kind:text` of the tokens that have a colour. */
const coloured = (code: string, language: string): readonly string[] =>
  (tokensOf(code, language) ?? []).flatMap(({ kind, text }) => (kind === undefined ? [] : [`${kind}:${text}`]))

const joined = (code: string, language: string): string => (tokensOf(code, language) ?? []).map(({ text }) => text).join('')

describe('the tokens of', () => {
  test.each([
    [
      'ts',
      'const total: Price = add(1.5, "a\\"b") // sum',
      ['keyword:const', 'name:Price', 'name:add', 'number:1.5', 'string:"a\\"b"', 'comment:// sum'],
    ],
    ['js', 'x = `a ${b}\nc` / 2; y = /[/"]+/g', ['string:`a ${b}\nc`', 'number:2', 'string:/[/"]+/g']],
    [
      'json',
      '{ "a": "b", "n": -1.5e3, "t": true }',
      ['property:"a"', 'string:"b"', 'property:"n"', 'number:-1.5e3', 'property:"t"', 'keyword:true'],
    ],
    [
      'python',
      '@app.get\ndef run(x):\n    """Two\n    lines"""\n    return f"{x}"  # done',
      ['meta:@app.get', 'keyword:def', 'name:run', 'string:"""Two\n    lines"""', 'keyword:return', 'string:"{x}"', 'comment:# done'],
    ],
    [
      'bash',
      'export A=1 && cd /usr/local/bin --quiet "$HOME" # go',
      ['keyword:export', 'property:A', 'number:1', 'keyword:cd', 'property:--quiet', 'string:"$HOME"', 'comment:# go'],
    ],
    [
      'yaml',
      '# note\nname: "x"\nport: 80\non: true',
      ['comment:# note', 'property:name', 'string:"x"', 'property:port', 'number:80', 'keyword:on', 'keyword:true'],
    ],
    ['toml', '[server]\nport = 80 # x', ['name:[server]', 'property:port', 'number:80', 'comment:# x']],
    [
      'html',
      '<!-- a --><a href="x">it\'s</a>',
      ['comment:<!-- a -->', 'keyword:<a', 'property:href', 'string:"x"', 'keyword:>', 'keyword:</a', 'keyword:>'],
    ],
    ['css', '.a { color: #fff; margin: -1.5rem }', ['name:.a', 'property:color', 'number:#fff', 'property:margin', 'number:-1.5rem']],
    [
      'sql',
      "SELECT count(*) FROM a WHERE b = 'it''s' -- x",
      ['keyword:SELECT', 'name:count', 'keyword:FROM', 'keyword:WHERE', "string:'it''s'", 'comment:-- x'],
    ],
    ['rust', "fn f<'a>(c: char) { println!('x'); }", ['keyword:fn', "meta:'a", 'keyword:char', 'name:println', "string:'x'"]],
    ['diff', '@@ -1 +1 @@\n-a\n+b\n c', ['meta:@@ -1 +1 @@', 'removed:-a', 'added:+b']],
    ['c', '#include <stdio.h>\nint main(void) {}', ['meta:#include <stdio.h>', 'keyword:int', 'name:main', 'keyword:void']],
  ])('%s', (language, code, expected) => {
    expect(coloured(code, language)).toEqual(expected)
    expect(joined(code, language)).toBe(code)
  })

  it('an unknown language are not known', () => {
    expect(tokensOf('x', 'klingon')).toBeUndefined()
    expect(tokensOf('x', '__proto__')).toBeUndefined()
  })
})

test('nothing of the code is lost, whatever it is', () => {
  const marks = fc.constantFrom(
    '"',
    "'",
    '`',
    '/',
    '*',
    '\\',
    '#',
    '<',
    '>',
    '{',
    '[',
    '-',
    '\n',
    ' ',
    'a',
    '1',
    ':',
    '=',
    '$',
    '@',
    'é',
    '😀',
    '\ud800',
  )
  const code = fc.array(marks, { maxLength: 60 }).map((all) => all.join(''))
  fc.assert(
    fc.property(code, fc.constantFrom(...names), (text, name) => joined(text, name) === text),
    { numRuns: 2_000 },
  )
})

test('the time is proportional to the length: 40 KB of any marks take less than 150 ms', () => {
  const marks = [
    '"',
    "'",
    '`',
    '/',
    '//',
    '/*',
    '*/',
    '#',
    '<',
    '</',
    '<!--',
    '{',
    '${',
    '(',
    '[',
    '\\',
    ' ',
    '\n',
    'a',
    '_',
    '1',
    '-',
    '--',
    '=',
    '=/[',
    '$',
    '@',
    '"""',
    "'''",
    '1a',
    '\t',
    '::',
    'é',
    "a='",
    '--[[',
    ':a',
    '^',
  ]
  const slow: string[] = []
  for (const name of names)
    for (const one of marks)
      for (const other of ['', 'a', '"']) {
        const code = `${one}${other}`.repeat(40_000 / (one.length + other.length))
        const times = [0, 1, 2].map(() => {
          const began = performance.now()
          tokensOf(code, name)
          return performance.now() - began
        })
        // The machine may do something else.
        if (Math.min(...times) > 150) slow.push(`${name} ${JSON.stringify(one + other)} ${Math.min(...times)}`)
      }
  expect(slow).toEqual([])
}, 300_000)
