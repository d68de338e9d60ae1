import { expect, test } from 'vitest'
import type { CallNode } from '../../view/index.ts'
import { callProblem, callStatus } from './call-status.ts'

const call = (changes: object): CallNode => ({ status: 'completed', sandbox: { kind: 'inside' }, ...changes }) as CallNode

test('a command with an exit code other than 0 has completed with a problem', () => {
  expect([callStatus(call({ exitCode: 0 })), callProblem(call({ exitCode: 0 }))]).toEqual(['completed', undefined])
  expect([callStatus(call({ exitCode: 1 })), callProblem(call({ exitCode: 1 }))]).toEqual(['warning', 'exit 1'])
  expect(callStatus(call({ status: 'failed', exitCode: 1 }))).toBe('failed')
  expect(callProblem(call({ error: { class: 'invalid_input', message: '' } }))).toBe('invalid input')
})

test('a child that talks to the person waits between its turns', () => {
  const handoff = (status: string) => callStatus(call({ status: 'running', speaks: true, child: { turns: [{ status }] } }))
  expect([handoff('running'), handoff('completed')]).toEqual(['running', 'suspended'])
})
