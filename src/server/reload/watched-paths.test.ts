import { expect, test } from 'vitest'
import { isRelevant, isSearched, type WatchedPaths } from './watched-paths.ts'

const paths: WatchedPaths = {
  files: new Set(['/p/.ai-agent.json', '/p/prompts/rules.md', '/p/schema.json']),
  folders: new Set(['/p']),
  agentTrees: new Set(['/p/agents']),
  skillTrees: new Set(['/p/.agents/skills']),
}

test.each([
  ['/p/trip.ai', true],
  ['/p/schema.json', true],
  ['/p/prompts/rules.md', true],
  ['/p/.agents/skills/pdf/scripts/run.py', true],
  ['/p/agents/deep/down/trip.ai', true],
  // What agents write into their workspace is no reason to load everything again.
  ['/p/output.json', false],
  ['/p/prompts/other.md', false],
  ['/p/deep/trip.ai', false],
  ['/p/agents/data.csv', false],
  ['/p/agents/node_modules/x/y.md', false],
  ['/p/.agents/skills/.git/HEAD', false],
])('%s: %s', (path, expected) => {
  expect(isRelevant(path, paths)).toBe(expected)
})

test('only folders of agents and skills are searched', () => {
  const folders = ['/p/src', '/p/agents/deep', '/p/agents/node_modules', '/p/.agents/skills/pdf']
  expect(folders.filter((folder) => isSearched(folder, paths))).toEqual(['/p/agents/deep', '/p/.agents/skills/pdf'])
})
