import { expect, onTestFinished, test } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { scriptModel } from '../../src/models/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { FakeClock } from '../../src/testing/index.ts'

const look: Tool = { name: 'look', description: 'Looks', inputSchema: { type: 'object' }, execute: () => 'seen' }

async function outcomeOf(steps: string, limits: { readonly maxCostUsd?: number } = {}) {
  const clock = new FakeClock()
  const adapter = await scriptModel(`price: { input: 3, output: 15 }\nsteps:\n${steps}`, 'a.yaml', { id: 'script/a.yaml', clock })
  const agents = [{ name: 'clerk', description: 'Helps', prompt: 'Help.', model: 'script/a.yaml', tools: ['look'] }]
  const runtime = createAgentRuntime({ config: { agents, tools: [look], limits }, adapter })
  onTestFinished(() => runtime.close())
  return runtime.run('Go')
}

const used = 'usage: { input: 10000, output: 1000 }'

test('a price makes a cost limit take effect', async () => {
  const steps = `  - { text: one, calls: [{ tool: look }], ${used} }
  - { text: two, calls: [{ tool: look, input: { at: 2 } }], ${used} }
  - { text: three }`
  expect(await outcomeOf(steps, { maxCostUsd: 0.05 })).toMatchObject({ status: 'partial', reason: 'cost', cost: 0.09 })
})

test('without usage the cost is that of the estimated tokens', async () => {
  const { usage, cost, status } = await outcomeOf('  - { text: A reply of a few words. }')
  expect([status, usage.estimated]).toEqual(['completed', true])
  expect(cost).toBeCloseTo((usage.input * 3 + usage.output * 15) / 1_000_000, 8)
})
