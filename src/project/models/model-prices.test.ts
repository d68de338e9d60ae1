import { expect, test } from 'vitest'
import { ScriptedModel } from '../../testing/index.ts'
import { pricedAdapter } from './model-prices.ts'

const model = new ScriptedModel([], { id: 'lab/large' })
const usage = { input: 1_000_000, output: 100_000, cacheRead: 400_000, cacheWrite: 100_000, reasoning: 0 }
const cost = async (prices: Parameters<typeof pricedAdapter>[1]) => {
  const adapter = pricedAdapter({ secrets: { LAB_API_KEY: 'x' }, resolve: () => model }, prices)
  expect(adapter.secrets).toEqual({ LAB_API_KEY: 'x' })
  return (await adapter.resolve('anything')).costOf?.(usage)
}

test('a configured price applies to the model of that id, with its cache', async () => {
  expect(await cost({ 'lab/large': { input: 1, output: 4 } })).toBeCloseTo(1.4)
  expect(await cost({ 'lab/large': { input: 1, output: 4, cacheRead: 0.1, cacheWrite: 2 } })).toBeCloseTo(0.5 + 0.04 + 0.2 + 0.4)
})

test('no other model is touched', async () => {
  expect(await cost({ 'lab/small': { input: 1, output: 4 } })).toBeUndefined()
  expect(await cost({})).toBeUndefined()
})

test('a script costs nothing', async () => {
  const script = new ScriptedModel([], { id: 'script/a.yaml' })
  expect((await pricedAdapter({ resolve: () => script }, {}).resolve('script/a.yaml')).costOf?.(usage)).toBe(0)
})
