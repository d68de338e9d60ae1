import { afterEach, expect, it } from 'vitest'
import type { AgentResult, ExtensionContext } from '../../src/contracts/index.ts'
import { gate } from '../../src/testing/index.ts'
import { kernelScene, requestText, type Scene, type SceneOptions } from './kernel-scene.ts'

const scenes: Scene[] = []
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.close()
})
async function scene(options: SceneOptions): Promise<Scene> {
  const created = await kernelScene(options)
  scenes.push(created)
  return created
}

const ask = { calls: [{ tool: 'agent__worker', input: { task: 'Do it', reason: 'r' } }] }
const look = { calls: [{ tool: 'worker__look', input: { reason: 'r' } }] }
const withLook = {
  getTools: () => [
    { name: 'look', description: 'looks', inputSchema: { type: 'object', properties: {} }, repeatable: true, execute: () => 'seen' },
  ],
}

it('max_turns ends an agent with a last answer', async () => {
  const { ask: run, models } = await scene({
    extensions: [{ id: 'worker', agent: { limits: { maxTurns: 2 } }, instance: withLook }],
    models: { main: [ask, { text: 'Done.' }], small: [look, look, { text: 'As far as I came.' }] },
  })
  await run('Go')
  expect(models.small?.requests).toHaveLength(3)
  expect(models.small?.requests[2]?.toolChoice).toBe('none')
  expect(requestText(models.main, 1)).toMatch(/As far as I came\..*\(Partial: /)
})

it('max_tokens_per_invocation ends an agent', async () => {
  const { ask: run, models } = await scene({
    extensions: [{ id: 'worker', agent: { limits: { maxTokensPerInvocation: 9_000 } }, instance: withLook }],
    models: {
      main: [ask, { text: 'Done.' }],
      small: [
        { ...look, usage: { input: 8_000, output: 500 } },
        { text: 'No tokens left.', usage: { input: 100 } },
      ],
    },
  })
  await run('Go')
  expect(requestText(models.main, 1)).toMatch(/token/)
  expect(models.small?.requests.length).toBeLessThanOrEqual(2)
})

it('time_budget_ms ends an agent that is slow', async () => {
  const never = gate()
  const {
    ask: run,
    models,
    clock,
  } = await scene({
    extensions: [{ id: 'worker', agent: { limits: { timeBudgetMs: 5_000 } } }],
    models: { main: [ask, { text: 'Done.' }], small: [{ text: 'Late.', wait: never.promise }] },
  })
  const outcome = run('Go')
  await expect.poll(() => models.small?.requests.length).toBe(1)
  await clock.elapse(20_000)
  expect(await outcome).toMatchObject({ status: 'completed' })
  expect(requestText(models.main, 1)).toMatch(/it ran out of time \(`agent.limits.time_budget_ms` in the manifest of worker is 5s\)/)
  never.open()
})

it('parameters and timeout_ms apply to the requests of the agent', async () => {
  const never = gate()
  const {
    ask: run,
    models,
    clock,
  } = await scene({
    extensions: [{ id: 'worker', agent: { parameters: { temperature: 0.5, seed: 7, timeoutMs: 5_000 } } }],
    models: {
      main: [ask, { text: 'Done.' }],
      small: [never, never, never, never].map(({ promise }) => ({ text: 'Late.', wait: promise })),
    },
  })
  const running = run('Go')
  await expect.poll(() => models.small?.requests.length).toBe(1)
  expect(models.small?.requests[0]).toMatchObject({ parameters: { temperature: 0.5, seed: 7 } })
  await clock.elapse(60_000)
  await running
  expect(requestText(models.main, 1)).toContain('within 5000 ms')
  never.open()
})

it('time_budget_ms ends invoke: its signal first, then the call', async () => {
  const reasons: unknown[] = []
  const {
    ask: run,
    models,
    clock,
  } = await scene({
    extensions: [
      {
        id: 'worker',
        agent: { limits: { timeBudgetMs: 5_000 } },
        instance: {
          invoke: (_task, _context, { signal }) =>
            new Promise(() => signal.addEventListener('abort', () => reasons.push((signal.reason as Error).message))),
        },
      },
    ],
    models: { main: [ask, { text: 'Done.' }], small: [] },
  })
  const outcome = run('Go')
  await expect.poll(() => models.main?.requests.length).toBe(1)
  await clock.elapse(4_999)
  expect(reasons).toEqual([])
  await clock.elapse(2_000)
  await outcome
  expect(reasons).toEqual(['The agent has used its time budget of 5s.'])
  expect(requestText(models.main, 1)).toContain('The agent has used its time budget of 5s.')
})

it('max_turns and max_tokens_per_invocation apply to all agents that one invoke starts', async () => {
  let context: ExtensionContext | undefined
  const results: (AgentResult | undefined)[] = []
  const { ask: run } = await scene({
    extensions: [
      {
        id: 'worker',
        agent: { limits: { maxTokensPerInvocation: 1_000_000, maxTurns: 2 } },
        instance: {
          initialize(given) {
            context = given
          },
          async invoke() {
            for (const task of ['one', 'two', 'three']) results.push(await context?.startAgent(task))
            return { status: 'partial', content: 'Two of three.' }
          },
        },
      },
    ],
    models: { main: [ask, { text: 'Done.' }], small: [{ text: 'One.' }, { text: 'Two.' }] },
  })
  await run('Go')
  expect(results).toMatchObject([
    { status: 'completed' },
    { status: 'completed' },
    { status: 'failed', error: { class: 'budget', message: 'All 2 steps of this invocation are used.' } },
  ])
})
