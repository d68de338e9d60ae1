import { describe, expect, it } from 'vitest'
import { limitBounds, type NumberBounds, parameterBounds } from '../../src/contracts/index.ts'
import { agentOptions } from '../../src/project/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'

const make = (more: object) => () =>
  createAgentRuntime({
    config: { agents: [{ name: 'boss', description: 'd', prompt: 'p', model: 'm', ...more }] },
    adapter: new ScriptedModel([]),
  })

const cases = [
  ...Object.entries(limitBounds).map(([key, bounds]) => ({ group: 'limits', key, bounds: bounds as NumberBounds })),
  ...Object.entries(parameterBounds).map(([key, bounds]) => ({ group: 'parameters', key, bounds: bounds as NumberBounds })),
]

describe.each(cases)('$group.$key of a program', ({ group, key, bounds: { kind, least, most } }) => {
  const given = (value: unknown) => make({ [group]: { [key]: value } })

  it('may be anything within its bounds', () => {
    for (const value of [least ?? -7, most ?? 10_000_000]) expect(given(value)).not.toThrow()
  })

  it('and nothing beyond', () => {
    const number = kind === 'whole' ? 'an integer' : 'a number'
    const wrong = [
      ...(least === undefined ? [] : [least - 1]),
      ...(most === undefined ? [] : [most + 1]),
      ...(kind === 'whole' ? [2_000.5] : []),
      Number.NaN,
      '9',
    ]
    for (const value of wrong) expect(given(value)).toThrow(`config.agents[0].${group}.${key}: expected ${number}`)
  })
})

describe('what a number may be', () => {
  it('is the same in a file', () => {
    const found: string[] = []
    for (const { group, key, bounds } of cases) {
      const option = Object.entries(agentOptions).find(([name]) => name === `${group}.${key}`)
      const type = option?.[1].type as { readonly kind: string; readonly min?: number; readonly max?: number } | undefined
      if (!type || !('min' in type)) continue
      found.push(key)
      expect({ key, least: type.min, most: type.max }).toEqual({ key, least: bounds.least, most: bounds.most })
    }
    expect(found.length).toBeGreaterThan(8)
  })
})
