import { describe, expect, it } from 'vitest'
import { settingProblem, settingsFor, turnSettings } from './turn-settings.ts'

describe('turnSettings', () => {
  it('are what the server takes: numbers, milliseconds, a list of models', () => {
    const typed = { model: 'a/b', maxTokens: '5,000', maxCostUsd: '0.5', timeBudget: '1.5', temperature: '0', seed: '', reasoning: 'low' }
    expect(turnSettings(typed)).toEqual({
      models: ['a/b'],
      limits: { maxTokens: 5_000, maxCostUsd: 0.5, timeBudget: 1_500 },
      parameters: { temperature: 0, reasoning: 'low' },
    })
  })
  it('are absent if nothing is typed, and never contain wrong values', () => {
    expect(turnSettings({ maxTokens: ' ' })).toBeUndefined()
    expect(turnSettings({ maxTokens: '1.5', maxCostUsd: '-1', timeBudget: 'soon', temperature: '3', reasoning: 'much' })).toBeUndefined()
  })
  it('name what is expected', () => {
    expect(settingProblem('temperature', '3')).toBe('Expected a number from 0 to 2.')
    expect(settingProblem('temperature', '')).toBeUndefined()
  })
  it('are offered as far as the agent allows them', () => {
    expect(settingsFor({ overrides: [] })).toEqual(['maxTokens', 'maxCostUsd', 'timeBudget'])
    expect(settingsFor({ overrides: ['seed', 'cache'] })).toEqual(['maxTokens', 'maxCostUsd', 'timeBudget', 'seed'])
  })
})
