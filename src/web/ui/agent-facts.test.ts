import { expect, test } from 'vitest'
import { defaultLimits } from '../../contracts/index.ts'
import { chooseAgent, limitFacts, rootsFirst, toolGroups } from './agent-facts.ts'

const agents = [
  { name: 'trains', agents: [] },
  { name: 'trip', agents: ['trains', 'weather'] },
  { name: 'weather', agents: ['weather'] },
]

test('an agent that calls only itself, or is called by nobody, is a root', () => {
  expect(rootsFirst(agents)).toEqual({ roots: [agents[1]], others: [agents[0], agents[2]] })
  expect(rootsFirst([{ name: 'echo', agents: ['echo'] }]).roots).toHaveLength(1)
})

test('a new session has the wanted agent, the last one, or the first root', () => {
  expect(chooseAgent(agents, 'weather', 'trains')?.name).toBe('weather')
  expect(chooseAgent(agents, 'deleted', 'trains')?.name).toBe('trains')
  expect(chooseAgent(agents, undefined, 'deleted')?.name).toBe('trip')
  expect(chooseAgent([], 'trip', '')).toBeUndefined()
})

test('limits that are set, in units of people', () => {
  expect(limitFacts(defaultLimits)).toEqual([])
  const limits = {
    ...defaultLimits,
    maxTokens: 50_000,
    maxCostUsd: 0.5,
    timeBudget: 120_000,
    toolTimeout: 90_000,
    idleTimeout: 1_500,
    maxOutputBytes: 65_536,
  }
  expect(limitFacts(limits).map(([name, value]) => `${name}: ${value}`)).toEqual([
    'Tokens in a turn: 50,000',
    'Cost of a turn: $0.50',
    'Working time of a turn: 2 min',
    'Pause in the output of a model: 1.50 s',
    'Time of a call: 90 s',
    'Output of a call: 64.0 KB',
  ])
  expect(limitFacts({ ...defaultLimits, maxCostUsd: 0, maxRetries: 0 }).map(([, value]) => value)).toEqual(['$0', '0'])
})

test('tools by their source', () => {
  expect(toolGroups(['write_file', 'mcp__docs__search', 'notes__add', 'read_file', 'mcp__docs__open'])).toEqual([
    { source: '', tools: ['read_file', 'write_file'] },
    { source: 'mcp__docs', tools: ['open', 'search'] },
    { source: 'notes', tools: ['add'] },
  ])
})
