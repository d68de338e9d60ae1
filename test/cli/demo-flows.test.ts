import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { demoFlows, flowOf, nearestFlows } from '../../src/web/pages/demo-flows.ts'

const team = join(import.meta.dirname, '../../demo/team')

test('each flow has a recorded answer', () => {
  const recorded = JSON.parse(readFileSync(join(team, 'recorded/index.json'), 'utf8')) as readonly object[]
  for (const { agent, message } of demoFlows) expect(recorded).toContainEqual(expect.objectContaining({ agent, message }))
})

test('a flow starts with its own message only', () => {
  expect(flowOf(' Fix the failing checkout test\n')?.id).toBe('fix')
  expect(flowOf('fix the failing checkout test')?.id).toBe('fix')
  expect(flowOf('Fix the checkout test')).toBeUndefined()
})

test.each([
  ['What happens if the server crashes?', 'plug'],
  ['How much does a run cost?', 'budget'],
  ['Repair the discount', 'fix'],
  ['Hello', 'fix'],
])('the flow that is the nearest to "%s" is %s', (message, id) => {
  expect(nearestFlows(message)[0]?.id).toBe(id)
  expect(nearestFlows(message)).toHaveLength(3)
})

test('the hint names the length of the agent file', () => {
  const lines = readFileSync(join(team, 'planner.ai'), 'utf8').trimEnd().split('\n').length
  expect(demoFlows.find(({ id }) => id === 'budget')?.hint).toContain(`${lines}-line file`)
})
