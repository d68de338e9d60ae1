import { describe, expect, it } from 'vitest'
import type { AgentLimits, ToolContext } from '../../src/contracts/index.ts'
import { FakeClock, ScriptedModel } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { runtimeWith, tool } from './helpers.ts'

/** What a call is told that would take for ever, and gives itself two minutes. */
async function cut(limits: Partial<AgentLimits>) {
  const clock = new FakeClock()
  const seen: ToolContext['toolTimeout'][] = []
  const slow = tool('slow', {
    timeoutMs: 120_000,
    execute: (_, { toolTimeout }) => {
      seen.push(toolTimeout)
      return new Promise<never>(() => {})
    },
  })
  const model = new ScriptedModel([{ calls: [{ tool: 'slow' }] }, { text: 'Done.' }])
  const outcome = await settle(runtimeWith(model, { tools: [slow], limits, clock }).run('Go'), clock)
  const told = JSON.stringify(outcome.snapshot.history)
  return { remedy: /the time limit (?:of this tool )?is \d+ s/.exec(told)?.[0], seen }
}

describe('limits.toolTimeout of a program', () => {
  it.each([
    [{}, 'the time limit of this tool is 120 s', undefined],
    [{ toolTimeout: 60_000 }, 'the time limit is 60 s', 60_000],
    [{ toolTimeout: 59_000 }, 'the time limit is 59 s', 59_000],
    [{ toolTimeout: 300_000 }, 'the time limit of this tool is 120 s', 300_000],
  ])('%o: %s', async (limits, remedy, said) => {
    expect(await cut(limits)).toEqual({ remedy, seen: [said] })
  })
})
