import { expect, test } from 'vitest'
import { modelName } from '../../src/project/dialects/foreign-models.ts'
import { troupe } from './command.ts'
import { agentsOf, folder } from './folder.ts'

const agent = (model: string): string => `---\nname: a\ndescription: A\nmodel: ${model}\n---\nDo.\n`
const file = '.claude/agents/a.md'

test.each([
  ['sonnet', 'sonnet'],
  ['Sonnet', 'sonnet'],
  ['opus', 'anthropic/claude-opus-5-5'],
  ['Grok Code Fast 1 (copilot)', 'Grok-Code-Fast-1'],
  ['claude-sonnet-5', 'claude-sonnet-5'],
])('names of the configuration win over well-known ones: %s', async (written, model) => {
  const names = { sonnet: 'rehearsal', 'Grok-Code-Fast-1': 'rehearsal', 'claude-sonnet-5': 'rehearsal' }
  expect(modelName(written, Object.keys(names))).toEqual({ kind: 'model', name: model })
  const { load } = folder({ [file]: agent(written), '.ai-agent.json': { models: names } })
  const registry = await load(file)
  expect(agentsOf(registry)[0]?.definition.models).toEqual([model])
  expect(registry.diagnostics.filter(({ message }) => message.includes('not known'))).toEqual([])
})

test('a run asks what the configuration says', async () => {
  const { path } = folder({ [file]: agent('opus') })
  const own = folder({ '.ai-agent/.ai-agent.json': { models: { opus: 'rehearsal' } } })
  expect(await troupe(path, ['run', file, 'Hi'], { HOME: own.path })).toMatchObject({ code: 0 })
})

test('an unknown model: the file stays unchanged, and the fix is reported', async () => {
  const { path } = folder({ [file]: agent('grok-code') })
  const { code, stdout, stderr } = await troupe(path, ['validate'])
  expect([code, stdout + stderr]).toEqual([2, expect.stringContaining('"models": { "grok-code": "provider/model" }')])
})
