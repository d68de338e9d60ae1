import { expect, it } from 'vitest'
import { bounded, collect, settle, tool, world } from '../acceptance/support.ts'

const aborted = { signal: AbortSignal.abort() }

/** A runtime whose models and tools are at hand: from its second run on, it starts without waiting for anything. */
async function warm() {
  const paid: number[] = []
  const made = world({
    tools: [tool('pay', { execute: () => `paid ${paid.push(1)}` })],
    steps: [{ text: 'Hello.' }, { calls: [{ tool: 'pay' }] }, { text: 'Paid.' }],
  })
  await made.runtime.run('hello')
  return { ...made, paid }
}

it('a signal that is aborted already stops a run before anything is asked or stored, however often something ran before', async () => {
  const { runtime, model, store, paid } = await warm()
  for (let round = 0; round < 2; round++) expect(await bounded(runtime.run('pay', aborted))).toMatchObject({ status: 'interrupted' })
  expect([model.requests.length, paid, (await store.trees.list()).length]).toEqual([1, [], 1])
})

it('a signal that is aborted already stops a stream in the same way, and its events end', async () => {
  const { runtime, model, paid } = await warm()
  const handle = runtime.stream('pay', aborted)
  expect(await bounded(collect(handle))).toEqual([])
  expect(await bounded(handle.outcome)).toMatchObject({ status: 'interrupted' })
  expect([model.requests.length, paid]).toEqual([1, []])
})

it('a signal that is already aborted is respected before a model selects the agent', async () => {
  // It is loaded at the first question: whoever looks before that sees nothing.
  await import('../../src/runtime/selection/ask-model-for-agent.ts')
  const { runtime, model } = world({
    config: {
      agents: [
        { name: 'one', description: 'Does one', prompt: 'You are one.', model: 'scripted/model' },
        { name: 'two', description: 'Does two', prompt: 'You are two.', model: 'scripted/model' },
      ],
      agentSelection: { infer: 'model' },
    },
    steps: [{ text: '{"agent":"one"}' }],
  })
  expect(await bounded(runtime.run('go', aborted))).toMatchObject({ status: 'interrupted' })
  await settle()
  expect(model.requests).toEqual([])
})
