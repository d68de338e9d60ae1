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

test('a model that may have no price under a limit of costs, once that is trusted', async () => {
  const { path, write } = project({}, '{ maxRetries: 1, maxCostUsd: 1 }')
  write({ '.home/.ai-agent/.ai-agent.json': { providers: { lab: { baseURL: `${server.url}/v1` } } }, '.ai-agent.json': {} })
  const run = (...more: readonly string[]) => troupe(path, ['run', 'a.ai', 'Hi', '--json', ...more])
  const refused = await run()
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/lab\/large has no price[\s\S]*`unpriced`/)])
  write({ '.ai-agent.json': { unpriced: ['lab/large'] } })
  const waiting = await run()
  expect([waiting.code, waiting.stderr]).toEqual([2, expect.stringContaining('are ignored until you trust the file: unpriced')])
  answers('{}')
  const { stdout, code } = await run('--trust')
  expect([code, JSON.parse(stdout).cost]).toEqual([0, 'unknown'])
  server.assertDone()
})

test('a directory in place of a tool for each agent', async () => {
  const { path, write } = project({})
  write({
    'b.ai': '---\ndescription: B\nusage: x\nmodels: lab/large\noutput: { format: text }\n---\nB.',
    'a.ai': '---\ndescription: A\nmodels: lab/large\nagents: [./b.ai]\n---\nYou answer.',
  })
  const offered = async (settings: object) => {
    write({ '.ai-agent.json': { providers: { lab: { baseURL: `${server.url}/v1` } }, ...settings } })
    answers('Done.')
    await troupe(path, ['run', 'a.ai', 'Hi', '--trust'])
    const { tools = [] } = (server.requests.at(-1)?.body ?? {}) as {
      readonly tools?: readonly { readonly function: { readonly name: string } }[]
    }
    return tools.map((tool) => tool.function.name)
  }
  expect(await offered({})).toEqual(['agent__b'])
  expect(await offered({ childrenOffered: 'directory' })).toEqual(['delegate_task', 'find_agents'])
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

test('a queue whose name matches nothing is reported by every reader', async () => {
  const { path } = folder({
    'a.ai': '---\ndescription: A\nmodels: rehearsal\n---\nYou answer.',
    '.ai-agent.json': { queues: { opnai: { perMinute: 1 }, openai: { perMinute: 1 } } },
  })
  for (const command of [['validate'], ['doctor'], ['run', 'a.ai', 'Hi']]) {
    const { stdout, stderr } = await troupe(path, command)
    expect(`${stdout}${stderr}`).toMatch(/[Tt]he queue `opnai` has no effect[\s\S]*Did you mean `openai`/)
    expect(`${stdout}${stderr}`).not.toContain('the queue `openai`')
  }
})
