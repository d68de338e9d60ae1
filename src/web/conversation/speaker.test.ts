import { expect, it } from 'vitest'
import type { AgentNode } from '../../view/index.ts'
import { speakerOf } from './speaker.ts'

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
