import { findProvider } from '@pydantic/genai-prices'
import { expect, test } from 'vitest'
import { builtinToolNames } from '../../policy/builtin-tool-names.ts'
import { foreignToolNames, ownToolsFor } from '../../policy/foreign-tools.ts'
import { dialects } from './foreign-agent.ts'
import { modelAliases } from './foreign-models.ts'
import { dialectTables } from './key-tables.ts'

test('every name of a tool leads to tools of ours, and every built-in tool has a name in each dialect that names tools', () => {
  for (const dialect of dialects) {
    const ours = foreignToolNames(dialect).flatMap((name) => ownToolsFor(dialect, name) ?? [])
    for (const name of ours) expect([...builtinToolNames, 'agent__*']).toContain(name)
    if (['copilot', 'opencode'].includes(dialect)) expect(new Set(ours)).toEqual(new Set([...builtinToolNames, 'agent__*']))
  }
})

test('aliases of models are models that have a price', () => {
  for (const name of Object.values(modelAliases)) expect(findProvider({ modelId: name.split('/')[1] ?? '' })?.id).toBe(name.split('/')[0])
})

test('every dialect says what the agent is for and what it is to do', () => {
  for (const dialect of dialects) {
    const { keys, format } = dialectTables[dialect]
    expect(keys.description).toEqual({ kind: 'text', into: 'description' })
    expect(Object.values(keys).some((rule) => rule.kind === 'text' && rule.into === 'prompt')).toBe(format === 'toml')
  }
})
