import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { configSchema } from '../../src/project/index.ts'
import { configOf } from '../fixtures/memory-files.ts'

const fits = new Ajv2020({ strict: false }).compile(configSchema())
const isRead = (config: object): Promise<boolean> =>
  configOf({ '/home/.ai-agent/.ai-agent.json': config }).then(
    () => true,
    () => false,
  )
const hook = { name: 'a', on: ['before_call'], command: ['./a'], onFailure: 'closed' }

test.each<[object, boolean]>([
  [{}, true],
  [{ $schema: './ai-agent.schema.json', agents: ['./a'], models: { fast: 'a/b' }, features: { x: true } }, true],
  [{ agent: [] }, false],
  [{ agents: [1] }, false],
  [{ models: { 'a b': 'x/y' } }, false],
  [{ providers: { lab: { kind: 'openai', headers: { A: 'b' } } } }, true],
  [{ providers: { lab: { kind: 'other' } } }, false],
  [{ pricing: { 'a/b': { input: 1 } } }, false],
  [{ queues: { a: { concurrent: 0 } } }, false],
  [{ unpriced: ['a/b', 'fast'], childrenOffered: 'each' }, true],
  [{ unpriced: 'a/b' }, false],
  [{ childrenOffered: 'all' }, false],
  [{ defaults: { limits: { timeBudget: '10m' } } }, true],
  [{ defaults: { limits: { timeBudget: 'long' } } }, false],
  [{ approvals: { rules: [{ allow: 'shell(git *)' }], onUnavailable: 'deny' } }, true],
  [{ approvals: { rules: [{ allow: 'a b' }] } }, false],
  [{ approvals: { rules: [{ alow: 'a' }] } }, false],
  [{ approvals: { onUnavailable: 'wait' } }, false],
  [{ sandbox: { mode: 'off', hosts: ['*.a.b'], writable: ['./x'], environment: ['A'], memory: '1GB', processes: 5 } }, true],
  [{ sandbox: { hosts: ['http://a'] } }, false],
  [{ sandbox: { memory: 'much' } }, false],
  [{ hooks: [hook, { ...hook, name: 'b', tools: ['shell'], timeout: '5s' }] }, true],
  [{ hooks: [{ ...hook, on: [] }] }, false],
  [{ hooks: [{ ...hook, on: ['before'] }] }, false],
  [{ hooks: [{ name: 'a', on: ['at_stop'], command: ['./a'] }] }, false],
  [{ skills: { directories: ['./s'], disabled: ['pdf'] } }, true],
  [{ skills: { disable: ['pdf'] } }, false],
  [{ mcpServers: { a: { url: 'https://a.example/mcp', auth: { clientId: 'team', scopes: ['read'] } } } }, true],
  [{ mcpServers: { a: { url: 'https://a.example/mcp', auth: { type: 'basic' } } } }, false],
  [{ context: { agentsMd: false } }, true],
  [{ context: { agentsMd: 'no' } }, false],
])('editors and the reader agree on %j', async (config, expected) => {
  expect([fits(config), await isRead(config)]).toEqual([expected, expected])
})
