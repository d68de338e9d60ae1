import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Problem, TroupeError } from '../../src/contracts/index.ts'
import {
  type AgentOption,
  type AgentOptionKey,
  agentOptionKeys,
  agentOptions,
  parseAgentFile,
  readAgentText,
} from '../../src/project/index.ts'

const problemsOf = (text: string | Uint8Array): readonly Problem[] => {
  try {
    parseAgentFile(text, 'a.ai', { readFile: () => '{ "type": "object" }' })
  } catch (error) {
    if (error instanceof TroupeError && error.code === 'agent_file_invalid') return error.problems
    throw error
  }
  return []
}
const fileOf = (settings: string): string => `---\ndescription: x\n${settings}\n---\nGo.\n`

/** Settings for one key, whatever group it belongs to. */
function setting(key: AgentOptionKey, written: string): string {
  const [group = '', below] = key.split('.')
  return below === undefined ? `${group}: ${written}` : `${group}:\n  ${below}: ${written}`
}

describe('the example of the seed', () => {
  test('loads as it is printed', () => {
    const text = `---
description: ICP Intelligence Researcher
usage: company name or contact email
toolName: research.icp
input:
  format: text
output:
  format: json
  schema:
    type: object
    required: [company, insights]
    properties:
      company: { type: string }
      insights: { type: array, items: { type: string } }
limits:
  maxToolTurns: 6
  llmTimeout: 120000
  toolTimeout: 60000
  maxRetries: 2
  parallelToolCalls: true
---
You research.
`
    expect(parseAgentFile(text, 'icp.ai')).toEqual({
      name: 'icp',
      description: 'ICP Intelligence Researcher',
      usage: 'company name or contact email',
      toolName: 'research.icp',
      models: ['auto'],
      tools: [],
      skills: [],
      parameters: {},
      input: { format: 'text' },
      output: {
        format: 'json',
        schema: {
          type: 'object',
          required: ['company', 'insights'],
          properties: { company: { type: 'string' }, insights: { type: 'array', items: { type: 'string' } } },
        },
      },
      limits: { maxToolTurns: 6, llmTimeout: 120_000, toolTimeout: 60_000, maxRetries: 2, parallelToolCalls: 4 },
      prompt: 'You research.',
    })
  })
})

describe('every key', () => {
  const keys = agentOptionKeys.filter((key) => key !== 'description')
  /** What no option of a kind takes. Each is wrong by its type, or beyond what it may be. */
  const wrong: { readonly [kind: string]: readonly string[] } = {
    text: ['[a]', '{ a: 1 }', '7', 'true', 'null', '""', '!!binary aGk='],
    identifier: ['[a]', '{ a: 1 }', '7', 'true', 'null', '"a b"', '-a', 'é', `"${'x'.repeat(65)}"`],
    model: ['{ a: 1 }', '7', 'true', 'null', '[]', '[[a]]', '[1]', '"a b"', '[a, a]'],
    host: ['{ a: 1 }', '7', 'true', 'null', '[[a]]', '"a b"', '[a, a]', '"*"', '"http://a"', '"a:1"', '"a/b"', '"*.*.a"', '-a', '"a..b"'],
    folder: ['{ a: 1 }', '7', 'true', 'null', '[[a]]', '[1]', '[""]', '[a, a]', '"a\\nb"'],
    variable: ['{ a: 1 }', '7', 'true', 'null', '[[a]]', '"a b"', '[A, A]', 'A=1', '1A', '"$A"'],
    parameter: ['{ a: 1 }', '7', 'true', 'null', '[[seed]]', '[tempreature]', '[seed, seed]', '[cache]'],
    rules: [
      'x',
      '7',
      'null',
      '{ deny: a }',
      '[a]',
      '[{}]',
      '[{ deny: 7 }]',
      '[{ deny: a, ask: b }]',
      '[{ deny: "a b" }]',
      '[{ forbid: a }]',
    ],
    patterns: ['{ a: 1 }', '7', 'null', '[[a]]', '["a b"]', '["*a"]', '[a/b/c]', '[a, a]'],
    texts: ['{ a: 1 }', '7', 'null', '[]', '[[a]]', '[""]', '[a, b, c, d, e, f, g]'],
    references: ['{ a: 1 }', '7', 'null', '[[a]]', '[""]', '[a, a]'],
    number: ['"1"', '-1', '1e99', '.nan', '.inf', '[1]', 'null', 'true'],
    integer: ['"1"', '1.5', '.inf', '1e99', '[1]', 'null', 'true'],
    duration: ['soon', '-5', '5 weeks', '0', '0.2ms', '[5s]', 'null', 'true', '1e400'],
    size: ['big', '-5', '5TB', '0', '[5KB]', 'null', 'true'],
    choice: ['nonsense', '7', '[a]', 'null', '{}'],
    boolean: ['"true"', 'yes', '1', 'null', '[true]'],
    parallel: ['0', '-1', '1.5', '"2"', 'null', '[1]'],
    schema: ['x', '7', '[]', 'null', '{ type: nonsense }', '{ properties: 7 }'],
    file: ['7', 'null', '""', '[a]', '{ a: b }'],
    servers: ['x', '7', '[]', 'null', '{ a: 7 }', '{ a: {} }', '{ "a b": { command: x } }', '{ a: { command: x, url: y } }'],
    map: ['x', '7', '[]', 'null'],
  }
  test.each(keys)('%s refuses what it cannot be, at its place', (key) => {
    const { type }: AgentOption = agentOptions[key]
    const kind = type.kind === 'names' ? type.of : type.kind
    for (const written of wrong[kind] ?? []) {
      const problems = problemsOf(fileOf(setting(key, written)))
      expect([written, problems.length]).toEqual([written, expect.toSatisfy((count: number) => count > 0)])
      for (const { place, remedy, line } of problems) {
        expect(place).toMatch(/^a\.ai:[34]:\d+$/)
        expect(remedy, `${key}: ${written}`).toBeTruthy()
        expect(line).toBeTruthy()
      }
    }
    expect(wrong[kind]?.length).toBeGreaterThan(3)
  })

  test.each(keys)('%s misspelt is reported with the nearest key', (key) => {
    const [group = '', below] = key.split('.')
    const last = below ?? group
    const misspelt = `${last.slice(0, -1)}${last.at(-1) === 'x' ? 'y' : 'x'}x`
    const text = fileOf(below === undefined ? `${misspelt}: 1` : `${group}:\n  ${misspelt}: 1`)
    const [problem] = problemsOf(text)
    expect(problem?.message).toBe(`unknown key \`${below === undefined ? '' : `${group}.`}${misspelt}\``)
    expect(problem?.remedy).toContain(`\`${last}\``)
  })

  test.each(keys)('%s said twice is refused', (key) => {
    const written = agentOptions[key].example
    const [group = '', below] = key.split('.')
    const twice =
      below === undefined ? `${group}: ${written}\n${group}: ${written}` : `${group}:\n  ${below}: ${written}\n  ${below}: ${written}`
    expect(problemsOf(fileOf(twice)).some(({ message }) => message.includes('unique'))).toBe(true)
  })
})

describe('YAML that means mischief', () => {
  test('an alias bomb is refused immediately, however it is nested', () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x]',
      ...'bcdefghi'.split('').map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[i]}`).join(', ')}]`),
    ].join('\n')
    const begin = process.cpuUsage()
    const nested = `metadata:\n${bomb.replaceAll(/^/gm, '  ')}`
    const messages = problemsOf(fileOf(nested)).map(({ message }) => message)
    expect(messages).toContain('aliases are not allowed')
    expect(messages).toContain('the anchor `&a` is not allowed')
    expect(process.cpuUsage(begin).user / 1000).toBeLessThan(20_000)
  })
  test.each([
    ['a merge key', '<<: { usage: y }', 'unknown key `<<`'],
    ['a tab for indentation', 'limits:\n\tmaxRetries: 1', 'not valid YAML'],
    ['a tag', 'usage: !!js/function "x"', 'not valid YAML'],
    ['two documents', 'usage: y\n...\nusage: z', 'text follows the end of the frontmatter'],
    ['a directive', '%YAML 1.2', 'not valid YAML'],
    ['thousands of brackets', `metadata: ${'['.repeat(8000)}`, 'YAML'],
    ['a key without an end', 'usage: "y', 'not valid YAML'],
    ['a key that is a list', '? [a, b]\n: c', 'unknown key'],
    ['the name of the prototype', '__proto__: { usage: y }', 'unknown key `__proto__`'],
    ['settings longer than a page', `usage: ${'y'.repeat(40_000)}`, 'longer than'],
  ])('%s', (_name, settings, message) => {
    expect(problemsOf(fileOf(settings)).map((problem) => problem.message)).toEqual(
      expect.arrayContaining([expect.stringContaining(message)]),
    )
  })
  test('a prototype in metadata is a key like any other', () => {
    const { metadata } = readAgentText(fileOf('metadata: { __proto__: { polluted: 1 } }'), 'a.ai')
    expect(Object.hasOwn(metadata, '__proto__')).toBe(true)
    expect((metadata as { polluted?: unknown }).polluted).toBeUndefined()
  })
  test('a byte order mark, CRLF and a shebang change nothing', () => {
    const plain = fileOf('usage: y\nlimits: { maxRetries: 1 }')
    const expected = parseAgentFile(plain, 'a.ai')
    expect(parseAgentFile(`\uFEFF#!/usr/bin/env troupe\n${plain}`.replaceAll('\n', '\r\n'), 'a.ai')).toEqual(expected)
    expect(problemsOf(`\uFEFF#!/usr/bin/env troupe\n${fileOf('usag: y')}`.replaceAll('\n', '\r\n'))).toMatchObject([
      { place: 'a.ai:4:1', line: 'usag: y' },
    ])
  })
})

describe('mutated files', () => {
  const whole = `---\n${agentOptionKeys
    .filter((key) => !key.includes('.'))
    .map((key) => `${key}: ${agentOptions[key].example}`)
    .join(
      '\n',
    )}\nlimits:\n  maxToolTurns: 6\n  timeBudget: 10m\n  maxOutputBytes: 64KB\nparameters: { temperature: 0.2, cache: false }\noutput:\n  format: json\n  schema: { type: object, properties: { city: { type: string } }, required: [city] }\n---\nYou plan.\n`
  const snippets = [
    '\t',
    '&a ',
    '*a',
    '<<: ',
    '!!',
    '{',
    ']',
    '"',
    "'",
    '---\n',
    '\n',
    ': ',
    '- ',
    '#',
    '|',
    '>',
    '\0',
    '\uFEFF',
    '%',
    '..',
    '1e999',
    '__proto__: x\n',
    '\u2028',
    '{{ x }}',
  ]
  const edit = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(12),
    put: fc.oneof(fc.constantFrom(...snippets), fc.string({ maxLength: 6 })),
  })
  const numRuns = process.env.TROUPE_FULL ? 10_000 : 400

  test(`${numRuns} of them are read, or refused with places that are there`, () => {
    expect(problemsOf(whole)).toEqual([])
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        const text = edits.reduce((now, { at, cut, put }) => {
          const index = Math.floor(at * now.length)
          return now.slice(0, index) + put + now.slice(index + cut)
        }, whole)
        const lines = text.replace(/^\uFEFF/, '').split(/\r\n?|\n/)
        for (const { place, message } of problemsOf(text)) {
          const [, row = '0', column = '0'] = /^a\.ai:(\d+):(\d+)$/.exec(place) ?? []
          expect(message).not.toBe('')
          expect(Number(row)).toBeGreaterThan(0)
          expect(Number(row)).toBeLessThanOrEqual(lines.length)
          expect(Number(column)).toBeLessThanOrEqual((lines[Number(row) - 1] ?? '').length + 1)
        }
      }),
      { numRuns },
    )
  })
})
