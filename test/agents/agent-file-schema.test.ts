import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { agentFileSchema, agentOptionKeys, agentOptions, configSchema, parseAgentFile } from '../../src/project/index.ts'
import { printJson } from '../cli/print-json.ts'

const folder = join(import.meta.dirname, '..', '..', 'schemas')
const published = { 'agent-file.schema.json': printJson(agentFileSchema()), 'ai-agent.schema.json': printJson(configSchema()) }
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

// To write them anew: TROUPE_WRITE=1 npx vitest run test/agents/agent-file-schema.test.ts
test.each(Object.entries(published))('the published %s is what the options say', (file, written) => {
  const path = join(folder, file)
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
    'required',
    'off',
    'example.com',
    '"*.example.com"',
    '"https://example.com"',
    '"::1"',
    'LANG',
    'A=1',
    'pdf',
    'a--b',
    '"git-*"',
    '512MB',
    '[{ deny: shell }]',
    '[{ deny: [shell, "web_*"], reason: x }]',
    '[{ deny: shell, ask: a }]',
    '[{}]',
    '[{ deny: "a b" }]',
    '[{ deny: "shell(a\\nb)" }]',
    '[{ deny: [] }]',
    '[{ allow: x, why: y }]',
    '[{ allow: x, reason: "" }]',
  ]
  /** What only reading can tell: sizes in words that are too small, and what a schema must say itself. */
  const beyondSchemas = (key: string, value: string): boolean =>
    (['limits.maxOutputBytes', 'sandbox.memory'].includes(key) && /^\d+K?B$/i.test(value) && !isRead(setting(key, value))) ||
    (key === 'input.schema' && value === '{}')

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
    ['description: x\nskills: [pdf]\nsandbox: { mode: required, hosts: [] }', true],
    ['description: x\nsandbox: { modes: off }', false],
    ['description: x\nmcpServers: {}', true],
    ['description: x\nmcpServers: { a__b: { command: x } }', false],
    ['description: x\noutput: { format: text, schema: { type: object } }', false],
    ['description: x\noutput: { schema: { type: object }, schemaRef: a }', false],
    ['description: x\ninput: { format: json, schema: { type: object } }\noutput: { schema: { type: array } }', true],
    ['description: x\nparameters: { timeout: 5s }\nlimits: { llmTimeout: 5s }', false],
  ])('on %j', (settings, expected) => {
    expect([fits(parse(settings) ?? {}), isRead(settings)]).toEqual([expected, expected])
  })
})
