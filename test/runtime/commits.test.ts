import { beforeAll, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ask, type Script, team } from '../subagents/team.ts'
import { groupedCommits } from './grouped-commits.ts'

// How often a durable session waits for its disk. The counts are exact where times are not: one more is a regression.

const act = { name: 'act', description: 'Acts.', inputSchema: { type: 'object' }, execute: () => 'acted' }

/** Makes these calls, one in each step, and then answers. */
const making =
  (count: number, call: (step: number) => { readonly tool: string; readonly input?: object }): Script =>
  (_, step) =>
    step <= count ? { calls: [call(step)] } : { text: 'Done.' }

async function commitsOf(boss: Script): Promise<number> {
  const { store, commits } = groupedCommits(memoryStore())
  const kid = making(2, (step) => ({ tool: 'act', input: { step } }))
  const limits = { maxToolTurns: 20 }
  const { outcome } = await team(
    { boss: { script: boss, agents: ['kid'], tools: ['act'], limits }, kid: { script: kid, tools: ['act'] } },
    { tools: [act], store },
  ).run()
  expect(outcome.status).toBe('completed')
  return commits()
}

// The first turn of a process loads code before its first request: a commit of its own.
beforeAll(() => commitsOf(making(1, () => ({ tool: 'act', input: {} }))))

it('a turn has one commit for its end, and one for each step with a call', async () => {
  const counts = [0, 1, 2, 8].map((calls) => commitsOf(making(calls, (step) => ({ tool: 'act', input: { step } }))))
  expect(await Promise.all(counts)).toEqual([1, 2, 3, 9])
})

it('a call of an agent has no commit besides those for the steps of its child with a call', async () => {
  const counts = [0, 1, 2, 8].map((calls) => commitsOf(making(calls, (step) => ask('kid', `Go ${step}`))))
  expect(await Promise.all(counts)).toEqual([1, 3, 5, 17])
})
