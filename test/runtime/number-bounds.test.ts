import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  boundsOfLimit,
  limitNames,
  type NumberBounds,
  overridableParameters,
  parameterBounds,
  requestLimits,
  TroupeError,
} from '../../src/contracts/index.ts'
import { parseOverrides } from '../../src/project/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { settingsFields } from '../../src/server/rest/wire.ts'
import { ScriptedModel } from '../../src/testing/index.ts'

const make = (more: object) => () =>
  createAgentRuntime({
    config: { agents: [{ name: 'boss', description: 'd', prompt: 'p', model: 'm', ...more }] },
    adapter: new ScriptedModel([]),
  })

const cases = [
  ...limitNames.map((key) => ({ group: 'limits', key, bounds: boundsOfLimit(key) })),
  ...Object.entries(parameterBounds).map(([key, bounds]) => ({ group: 'parameters', key, bounds: bounds as NumberBounds })),
]

describe.each(cases)('$group.$key of a program', ({ group, key, bounds: { kind, min, max } }) => {
  const given = (value: unknown) => make({ [group]: { [key]: value } })

  it('may be anything within its bounds', () => {
    for (const value of [min ?? -7, max ?? 10_000_000]) expect(given(value)).not.toThrow()
  })

  it('and nothing beyond', () => {
    const number = kind === 'integer' ? 'an integer' : 'a number'
    const wrong = [
      ...(min === undefined ? [] : [min - 1]),
      ...(max === undefined ? [] : [max + 1]),
      ...(kind === 'integer' ? [2_000.5] : []),
      Number.NaN,
      '9',
    ]
    for (const value of wrong) expect(given(value)).toThrow(`config.agents[0].${group}.${key}: expected ${number}`)
  })
})

describe.each(cases)('$group.$key', ({ group, key, bounds: { min = -7, max = 10_000_000 } }) => {
  const numbers = [min - 1, min, min + 0.5, min + 1, max, max + 1, 0, 0.5, -1, 2.5, 1e16, Number.MAX_VALUE]
  const accepted = (accepts: (value: number) => boolean): readonly number[] => numbers.filter(accepts)
  const isFine = (work: () => unknown): boolean => {
    try {
      work()
      return true
    } catch (error) {
      expect(error).toBeInstanceOf(TroupeError)
      return false
    }
  }
  const byProgram = accepted((value) => isFine(make({ [group]: { [key]: value } })))

  it('may be the same numbers in an agent file', () => {
    expect(accepted((value) => isFine(() => parseOverrides({ settings: [`${group}.${key}=${value}`] })))).toEqual(byProgram)
  })

  it('may be the same numbers in a request, if requests can set it', () => {
    const settable: readonly string[] = [...requestLimits, ...overridableParameters]
    const body = z.strictObject(settingsFields)
    const byRequest = accepted((value) => body.safeParse({ [group]: { [key]: value } }).success)
    expect(byRequest).toEqual(settable.includes(key) ? byProgram : [])
  })
})
