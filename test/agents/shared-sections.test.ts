import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GatedServer, gatedServer } from '../../src/testing/index.ts'
import { troupe } from './command.ts'
import { folder } from './folder.ts'

// What `.ai-agent.json` says for all agents takes effect in a run.

let server: GatedServer
beforeAll(async () => {
  server = await gatedServer()
})
afterAll(() => server.close())

const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`
const usage = `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } })}\n\n`
const answers = (text: string) =>
  server.reply({
    headers: { 'content-type': 'text/event-stream' },
    chunks: [chunk({ role: 'assistant', content: text }), chunk({}, { finish_reason: 'stop' }), usage, 'data: [DONE]\n\n'],
  })
const project = (settings: object, limits = '{ maxRetries: 1 }') =>
  folder({
    'a.ai': `---\ndescription: Answers\nmodels: lab/large\noutput: { format: json }\nlimits: ${limits}\n---\nYou answer.`,
    '.ai-agent.json': { providers: { lab: { baseURL: `${server.url}/v1` } }, ...settings },
  })

test('a price, so that a run has a cost', async () => {
  answers('{}')
  const { path } = project({ pricing: { 'lab/large': { input: 2, output: 10 } } })
  const { stdout, code } = await troupe(path, ['run', 'a.ai', 'Hi', '--json', '--trust'])
  expect([code, JSON.parse(stdout).cost]).toEqual([0, expect.closeTo(0.003, 9)])
})

test('a queue, so that a second request waits', async () => {
  answers('not JSON')
  const { path } = project({ queues: { lab: { perMinute: 1 } } }, '{ maxRetries: 1, timeBudget: 1s }')
  const { stdout, code } = await troupe(path, ['run', 'a.ai', 'Hi', '--json', '--trust'])
  const outcome = JSON.parse(stdout)
  expect(outcome.diagnostics.map((diagnostic: { code: string }) => diagnostic.code)).toContain('queue_late')
  expect(code).not.toBe(0)
  server.assertDone()
})

test('a wrong one is refused with its place, and nothing is asked', async () => {
  const { path } = project({ queues: { lab: { concurent: 1 } }, features: { x: 'yes' } })
  const { stderr, code } = await troupe(path, ['run', 'a.ai', 'Hi', '--trust'])
  expect(code).toBe(2)
  expect(stderr).toMatch(/\.ai-agent\.json:\d+:\d+[\s\S]*concurent[\s\S]*concurrent/)
})
