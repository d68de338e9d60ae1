import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TroupeError } from '../../contracts/index.ts'
import { detectDialect } from './detect-dialect.ts'
import { type Dialect, dialects } from './foreign-agent.ts'
import { dialectTables } from './key-tables.ts'
import { parseForeignAgent } from './parse-foreign-agent.ts'

const fixtures: { readonly [D in Dialect]: string } = {
  claude: 'claude-release-notes.md',
  copilot: 'copilot-api-reviewer.agent.md',
  opencode: 'opencode-auditor.md',
  gemini: 'gemini-security-auditor.md',
  codex: 'codex-explorer.toml',
}
const texts = new Map(
  dialects.map((dialect) => [dialect, readFileSync(new URL(`./fixtures/${fixtures[dialect]}`, import.meta.url), 'utf8')]),
)
const textOf = (dialect: Dialect): string => texts.get(dialect) ?? ''

/** Pieces that mean something to one of the parsers. */
const pieces = fc.oneof(
  fc.constantFrom(
    '---\n',
    ': ',
    '\n',
    '\t',
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    '- ',
    '*',
    '&a ',
    '*a',
    '<<: *a',
    '!!js/x ',
    '|',
    '>',
    '#',
    '\0',
    '\uFEFF',
    '\r',
  ),
  fc.constantFrom(
    '"""',
    "'''",
    '[[',
    ']]',
    ' = ',
    '= 1e999',
    '= nan',
    '1979-05-27',
    '\\u',
    '__proto__',
    'constructor',
    '(',
    ')',
    ',',
    '.inf',
    '~',
    'null',
  ),
  fc.constantFrom('[', '{a: ', '- ', '(', '"""', '!', '*/', 'a*').map((piece) => piece.repeat(40)),
  fc.string({ maxLength: 12 }),
)
const keysOf = (dialect: Dialect): readonly string[] => [...Object.keys(dialectTables[dialect].keys), 'unknown', '__proto__']

type Change = { readonly at: number; readonly cut: number; readonly put: string }
const change: fc.Arbitrary<Change> = fc.record({ at: fc.nat({ max: 1_000_000 }), cut: fc.nat({ max: 20 }), put: pieces })
const mutation = fc.constantFrom(...dialects).chain((dialect) =>
  fc.record({
    dialect: fc.constant(dialect),
    changes: fc.array(change, { minLength: 1, maxLength: 4 }),
    extra: fc.option(fc.tuple(fc.constantFrom(...keysOf(dialect)), fc.oneof(pieces, fc.json({ maxDepth: 3 })))),
  }),
)

function mutate({
  dialect,
  changes,
  extra,
}: {
  dialect: Dialect
  changes: readonly Change[]
  extra: readonly [string, string] | null
}): string {
  const added = extra ? `${extra[0]}${dialect === 'codex' ? ' = ' : ': '}${extra[1]}\n` : ''
  const text = dialect === 'codex' ? added + textOf(dialect) : textOf(dialect).replace('---\n', () => `---\n${added}`)
  return changes.reduce((mutated, { at, cut, put }) => {
    const start = at % (mutated.length + 1)
    return mutated.slice(0, start) + put + mutated.slice(start + cut)
  }, text)
}

const runs = process.env.TROUPE_FULL ? 10_000 : 500

test('a mutated file is read, or refused with problems that have a place', { timeout: 120_000 }, () => {
  let refused = 0
  fc.assert(
    fc.property(mutation, (given) => {
      const text = mutate(given)
      const start = performance.now()
      try {
        const agent = parseForeignAgent(text, 'it.md', given.dialect)
        expect(agent.prompt.length * agent.description.length * agent.name.length).toBeGreaterThan(0)
        expect(agent.name).toMatch(/^[\w-]+$/)
        JSON.stringify(agent)
        for (const { place } of agent.warnings) expect(place).toMatch(/^it\.md(?::\d+:\d+)?$/)
      } catch (error) {
        if (!(error instanceof TroupeError) || error.code !== 'agent_file_invalid') throw error
        refused++
        expect(error.problems.length).toBeGreaterThan(0)
        for (const { place, message } of error.problems) expect(`${place} ${message}`).toMatch(/^it\.md:\d+:\d+ \S/)
      }
      detectDialect('it.md', text)
      expect(performance.now() - start).toBeLessThan(20_000)
    }),
    { numRuns: runs },
  )
  // Neither is everything refused nor nothing.
  expect(refused).toBeGreaterThan(runs / 20)
  expect(refused).toBeLessThan(runs)
})

test.each<[dialect: Dialect, text: string]>([
  ['claude', `---\ndescription: ${'a: '.repeat(10_000)}\n---\nx`],
  ['claude', `---\n${Array.from({ length: 4_000 }, (_, index) => `k${index}: a: b`).join('\n')}\n---\nx`],
  ['claude', `---\ntools: ${'('.repeat(30_000)}\n---\nx`],
  ['claude', `---\ntools: [${'mcp__a__b, '.repeat(2_500)}]\n---\nx`],
  ['opencode', `---\npermission: {${Array.from({ length: 3_000 }, (_, index) => `"*${index}": deny`).join(', ')}}\n---\nx`],
  [
    'opencode',
    `---\ndescription: x\npermission: {${Array.from({ length: 200 }, (_, index) => `"${'a*'.repeat(60)}${index}": deny`).join(', ')}}\n---\nx`,
  ],
  ['codex', `a = ${'{ b = '.repeat(50_000)}`],
  ['codex', `${'[a]\n'.repeat(2)}${'[x.'.repeat(30_000)}`],
  ['codex', `${Array.from({ length: 20_000 }, (_, index) => `k${index} = 1`).join('\n')}`],
])('a hostile file of %s costs little: %#', (dialect, text) => {
  const start = performance.now()
  expect(() => {
    parseForeignAgent(text, 'it.md', dialect)
    throw new TroupeError('agent_file_invalid', 'taken as right')
  }).toThrow(TroupeError)
  expect(performance.now() - start).toBeLessThan(20_000)
})
