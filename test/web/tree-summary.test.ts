import { expect, it } from 'vitest'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { type AgentSummary, applyEvent, emptyTree, runSummary, runTree, treeSummary } from '../../src/view/index.ts'
import { Story } from '../fixtures/run-story.ts'

/** An outcome has calls in the order in which they ended. */
const sorted = (summary: AgentSummary): AgentSummary => ({
  ...summary,
  tools: summary.tools.toSorted((a, b) => (a.tool < b.tool ? -1 : 1)),
})

const agent = { description: 'Helps.', prompt: 'Help.', model: 'test/model' }

it('of a run that has ended equals the summary of its outcome', async () => {
  const usage = { input: 100, output: 20, cacheRead: 5, cacheWrite: 0, reasoning: 3 }
  const tools = ['works', 'fails'].map((name) => ({
    name,
    description: name,
    inputSchema: { type: 'object' },
    effect: 'read' as const,
    execute: () => (name === 'works' ? 'fine' : { ok: false as const, error: { class: 'network' as const, message: 'No.' } }),
  }))
  const runtime = createAgentRuntime({
    config: {
      agents: [
        { ...agent, name: 'lead', agents: ['helper'], tools: ['*'] },
        { ...agent, name: 'helper', tools: ['works'] },
      ],
      tools,
    },
    adapter: new ScriptedModel([
      { calls: [{ tool: 'works' }, { tool: 'fails' }, { tool: 'missing' }], usage, costUsd: 0.01 },
      { calls: [{ tool: 'agent__helper', input: { prompt: 'Help.' } }], usage, costUsd: 0.01 },
      { calls: [{ tool: 'works' }], usage, costUsd: 0.02 },
      { text: 'Helped.', usage, costUsd: 0.02 },
      { text: 'Done.', usage, costUsd: 0.01 },
    ]),
  })
  const tree = emptyTree()
  const run = runtime.stream('Go.', { agent: 'lead' })
  for await (const event of run) applyEvent(tree, event)
  const outcome = await run.outcome
  expect(outcome.status).toBe('completed')
  expect(sorted(treeSummary(tree.roots[0]!, 0))).toEqual(sorted(runSummary(outcome)!))
  await runtime.close()
})

it('has what is known of a run that goes on', () => {
  const run = new Story().begins().asks(1, 1).answers(500, 1).calls(500, 1, { id: '1' }).ends(600, 1, { id: '1' }).asks(600, 2)
  const [root] = runTree(run.events as never).roots
  expect(treeSummary(root!, 1_000)).toMatchObject({
    agent: 'root',
    latencyMs: 1_000,
    usage: { input: 100, output: 20 },
    models: [{ model: 'fast', calls: 1 }],
    tools: [{ tool: 'look_up', calls: 1, failed: 0, bytesIn: 1, bytesOut: 2 }],
  })
})
