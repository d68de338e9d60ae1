import { expect, test } from 'vitest'
import type { CallIntent, JsonObject } from '../contracts/index.ts'
import { callSummary } from './call-summary.ts'
import type { RequestNode } from './nodes.ts'

const call = (input: JsonObject, more: Partial<CallIntent> = {}) => ({
  tool: 'odd',
  type: 'tool_call' as const,
  title: 'odd',
  input,
  ...more,
})
const asked = (more: Partial<RequestNode>): RequestNode => ({ itemId: 'i' as never, summary: 'Do it', scope: 'call', at: 0, ...more })

test.each([
  [{ path: 'src/a.ts', offset: 10 }, 'src/a.ts'],
  [{ content: 'all of it', path: 'notes/a.txt' }, 'notes/a.txt'],
  [{ format: 'text', url: 'https://example.org/a' }, 'https://example.org/a'],
  [{ path: 'src', pattern: 'TODO' }, 'TODO · src'],
  [{ name: 'letter', file: 'template.md' }, 'letter · template.md'],
  [{ question: 'Tea or\ncoffee?' }, 'Tea or coffee?'],
  [{ prompt: `Find ${'papers '.repeat(20)}`, path: 'out' }, `out · Find ${'papers '.repeat(20)}`.trim()],
  [{ reason: 'I want to', city: 'Oslo' }, 'Oslo'],
  [{ mode: 'all', ids: ['a#1', 'a#2', 7, 'b#1', 'b#2'] }, 'a#1, a#2, b#1 and 1 more'],
  [{ nights: 2, people: 3 }, 'nights 2 · people 3'],
  [{ unparsed: '{"path":' }, ''],
  [{ plan: [{ step: 'One' }] }, ''],
  [{ path: 7, city: '  ' }, 'path 7'],
  [{ path: 'a\u001b[2Jb\u202e' }, 'a\u001b[2Jb\u202e'],
] as const)('what a call is about: %j is %j', (input, about) => {
  expect(callSummary(call(input as unknown as JsonObject))).toEqual({ about, reason: '' })
})

test('what the tool itself shows to people comes first', () => {
  const details = { command: 'npm test', cwd: '.' }
  expect(callSummary(call({ command: 'x' }, { type: 'command_execution', details })).about).toBe('npm test')
  const changes = ['a', 'b', 'c', 'd', 'e'].map((path) => ({ path }))
  expect(callSummary(call({ patch: '*** Begin' }, { type: 'file_change', details: { changes } })).about).toBe('a, b, c and 2 more')
  expect(callSummary(call({ path: 'a' }, { type: 'file_change', details: { changes: [7, { path: 8 }] } })).about).toBe('a')
})

test('an agent: its task, and who it is where the tool does not say it', () => {
  const details = { agent: 'desk.scout' }
  const type = 'subagent_call'
  expect(callSummary(call({ prompt: 'Find it' }, { tool: 'agent__desk__scout', title: 'agent__desk__scout', type, details })).about).toBe(
    'Find it',
  )
  expect(callSummary(call({ agent: 'desk.scout', prompt: 'Find it' }, { type, details })).about).toBe('desk.scout · Find it')
})

test('the reason of the model is shown beside the summary, never instead of it', () => {
  expect(callSummary(call({ path: 'a.txt' }, { title: 'keep it' }))).toEqual({ about: 'a.txt', reason: 'keep it' })
  expect(callSummary(call({ path: 'a.txt' }, { title: 'a.txt' }))).toEqual({ about: 'a.txt', reason: '' })
  expect(callSummary(call({}, { title: 'keep it' }))).toEqual({ about: '', reason: 'keep it' })
  expect(callSummary(call({ path: 'a.txt' }, { title: 'Do it' }), asked({ reason: 'Do it' }))).toEqual({ about: 'a.txt', reason: 'Do it' })
})

test.each([
  ['Write a.txt', { path: 'a.txt' }, 'a.txt'],
  ['Book 2 nights in Oslo', { city: 'Oslo', nights: 2 }, 'Book 2 nights in Oslo'],
  ['Book a room', { city: 'Oslo' }, 'Oslo'],
  ['Restart', {}, 'Restart'],
])('what a person was asked is no reason: %s', (summary, input, about) => {
  expect(callSummary(call(input, { title: summary }), asked({ summary }))).toEqual({ about, reason: '' })
})

test('a task of a whole book is read at its beginning only', () => {
  expect(callSummary(call({ prompt: 'x'.repeat(1_000_000) })).about.length).toBeLessThan(2_000)
})
