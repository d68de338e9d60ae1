import { expect, it } from 'vitest'
import type { StreamEvent } from '../contracts/index.ts'
import { type AgentNode, speakerAfter, speakerOf } from './index.ts'

const agent = (name: string, calls: readonly object[] = [], status = 'running') =>
  ({ name, turns: [{ status, steps: [{ calls }, { calls: [] }] }] }) as unknown as AgentNode

it('is the innermost agent of an open handoff', () => {
  const inner = agent('inner')
  const outer = agent('outer', [{ speaks: true, child: inner }])
  expect(speakerOf(agent('root', [{ speaks: true, child: outer }]))?.name).toBe('inner')
  expect(speakerOf(agent('root', [{ speaks: false, child: outer }]))).toBeUndefined()
  expect(speakerOf(agent('root', [{ speaks: true, child: outer }], 'completed'))).toBeUndefined()
  expect(speakerOf(undefined)).toBeUndefined()
})

it('changes when a handoff begins or ends, and when the turn of the root ends', () => {
  const host = 'root/host#1'
  const guide = 'root/host#1/guide#1'
  const steps: readonly [type: string, agentPath: string, childPath: string | undefined, speaker: string][] = [
    ['turn.started', 'root', undefined, 'root'],
    ['handoff.started', 'root', host, host],
    ['handoff.started', host, guide, guide],
    ['turn.completed', guide, undefined, guide],
    ['handoff.completed', host, undefined, host],
    ['turn.interrupted', 'root', undefined, 'root'],
  ]
  let speaker = 'root'
  for (const [type, agentPath, childPath, expected] of steps) {
    speaker = speakerAfter({ type: `interaction.${type}`, agentPath, childPath } as unknown as StreamEvent, speaker)
    expect(speaker).toBe(expected)
  }
})
