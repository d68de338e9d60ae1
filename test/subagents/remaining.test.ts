import { describe, expect, it } from 'vitest'
import type { RemainingBudget, Tool } from '../../src/contracts/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { ask, team } from './team.ts'

const price = ({ input, output }: { input: number; output: number }) => (input + output) * 1e-5

/** What a tool of a child is told, below a parent with these limits. */
async function told(limits: object, own: object = {}): Promise<RemainingBudget> {
  let found: RemainingBudget | undefined
  const look: Tool = {
    name: 'look',
    description: 'Looks.',
    inputSchema: { type: 'object' },
    execute(_, { remaining }) {
      found = remaining
      return 'seen'
    },
  }
  await team(
    {
      boss: { agents: ['scout'], limits, price, script: (_, step) => (step === 1 ? { calls: [ask('scout', 'Look')] } : { text: 'Done.' }) },
      scout: { tools: ['look'], limits: own, price, script: (_, step) => (step === 1 ? { calls: [{ tool: 'look' }] } : { text: 'ok' }) },
    },
    { tools: [look], clock: new FakeClock() },
  ).run()
  if (!found) throw new Error('The tool was not called.')
  return found
}

describe('the remaining budget that a tool of a child gets', () => {
  it('is bounded by everybody above: tokens, money and time', async () => {
    const { tokens = 0, costUsd = 0, timeMs = 0 } = await told({ maxTokens: 20_000, maxCostUsd: 0.15, timeBudget: 60_000 })
    expect(tokens).toBeGreaterThan(10_000)
    expect(tokens).toBeLessThan(20_000)
    expect(costUsd).toBeGreaterThan(0.1)
    expect(costUsd).toBeLessThan(0.15)
    expect(timeMs).toBeGreaterThan(30_000)
    expect(timeMs).toBeLessThan(60_000)
  })

  it('is its own where that is less, and nothing is said of money that nobody counts', async () => {
    const { tokens = 0, costUsd } = await told({ maxTokens: 20_000 }, { maxTokens: 5_000 })
    expect(tokens).toBeGreaterThan(4_000)
    expect(tokens).toBeLessThanOrEqual(5_000)
    expect(costUsd).toBe(undefined)
  })

  it.each([3_000, 20_000, 30_000])(
    'leaves a child time to work within %i ms of its parent, whatever its own limit is',
    async (timeBudget) => {
      const { timeMs = 0 } = await told({ timeBudget })
      expect(timeMs).toBe(timeBudget - timeBudget / 5)
    },
  )
})
