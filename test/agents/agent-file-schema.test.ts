import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { agentFileSchema, agentOptionKeys, agentOptions, parseAgentFile } from '../../src/agents/index.ts'
import { printJson } from '../cli/print-json.ts'

const path = join(import.meta.dirname, '..', '..', 'schemas', 'agent-file.schema.json')
const written = printJson(agentFileSchema())
const fits = new Ajv2020({ strict: false }).compile(agentFileSchema())

const isRead = (settings: string): boolean => {
  try {
    parseAgentFile(`---\n${settings}\n---\nGo.`, 'a.ai', { readFile: () => '{ "type": "object" }' })
    return true
  } catch {
    return false
  }
}
function setting(key: string, value: string): string {
  const [group = '', below] = key.split('.')
  const described = group === 'description' ? '' : 'description: x\n'
  return below === undefined ? `${described}${group}: ${value}` : `${described}${group}: { ${below}: ${value} }`
}

// To write it anew: TROUPE_WRITE=1 npx vitest run test/agents/agent-file-schema.test.ts
test('the published schema is what the options say', () => {
  if (process.env.TROUPE_WRITE) writeFileSync(path, written)
  expect(existsSync(path) && readFileSync(path, 'utf8')).toBe(written)
})

describe('editors and the parser agree', () => {
  const values = [
    'x',
    'a/b',
    '"a b"',
    '[a, b]',
    '[a, a]',
    '[]',
    '[1]',
    '7',
    '0',
    '-1',
    '1.5',
    '1e99',
    'true',
    'false',
    'null',
    '""',
    '" "',
    '10m',
    '500ms',
    '2 h',
    '5 weeks',
    '64KB',
    '64kb',
    '5TB',
    'json',
    'text',
    'low',
    '{ type: object }',
    '{}',
    './a.json',
    '"server/*"',
    '["*"]',
    'a//b',
    'ext.tool',
    '"-x"',
  ]
  /** What only reading can tell: sizes in words that are too small, and what a schema must say itself. */
  const beyondSchemas = (key: string, value: string): boolean =>
    (key === 'limits.maxOutputBytes' && /^\d+B$/.test(value)) || (key === 'input.schema' && value === '{}')

  test.each(agentOptionKeys)('on %s', (key) => {
    for (const value of [...values, agentOptions[key].example]) {
      const settings = setting(key, value)
      if (beyondSchemas(key, value)) continue
      expect([settings, fits(parse(settings))]).toEqual([settings, isRead(settings)])
    }
  })

  test.each([
    ['', false],
    ['description: x\nunknown: 1', false],
    ['description: x\nlimits: { unknown: 1 }', false],
    ['description: x\nlimits: 5', false],
    ['description: x\nskills: [pdf]', false],
    ['description: x\noutput: { format: text, schema: { type: object } }', false],
    ['description: x\noutput: { schema: { type: object }, schemaRef: a }', false],
    ['description: x\ninput: { format: json, schema: { type: object } }\noutput: { schema: { type: array } }', true],
    ['description: x\nparameters: { timeout: 5s }\nlimits: { llmTimeout: 5s }', false],
  ])('on %j', (settings, expected) => {
    expect([fits(parse(settings) ?? {}), isRead(settings)]).toEqual([expected, expected])
  })
})
