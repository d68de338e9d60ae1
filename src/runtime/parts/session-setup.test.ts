import { expect, test } from 'vitest'
import type { AgentSpec } from '../../contracts/index.ts'
import { applyInheritedRules } from './session-setup.ts'

const spec = (name: string, more: Partial<AgentSpec> = {}): AgentSpec => ({ name, ...more }) as AgentSpec

test('a child is bound by the rules of all who called it, each on its own, besides its own', () => {
  const root = spec('root', { approvals: [{ deny: 'shell' }, { allow: 'shell(git *)' }] })
  const middle = applyInheritedRules(root, spec('middle', { approvals: [{ ask: 'write_file' }] }))
  expect(applyInheritedRules(middle, spec('leaf', { approvals: [{ allow: '*' }] }))).toEqual({
    name: 'leaf',
    approvals: [{ allow: '*' }],
    bounds: [
      { name: 'agent root', rules: [{ deny: 'shell' }, { allow: 'shell(git *)' }] },
      { name: 'agent middle', rules: [{ ask: 'write_file' }] },
    ],
  })
})

test('sandbox policies only get stricter for children', () => {
  const root = spec('root', { sandbox: { mode: 'required', hosts: ['a.example', 'b.example'], memory: 100 } })
  const middle = applyInheritedRules(root, spec('middle', { sandbox: { mode: 'off', hosts: ['b.example', 'c.example'], memory: 200 } }))
  expect(middle.sandbox).toEqual({ mode: 'required', hosts: ['b.example'], memory: 100 })
  expect(applyInheritedRules(middle, spec('leaf')).sandbox).toEqual(middle.sandbox)
  expect(applyInheritedRules(spec('free'), spec('leaf', { sandbox: { hosts: [] } })).sandbox).toEqual({ hosts: [] })
})

test('an agent with neither passes nothing on', () => {
  const child = spec('child')
  expect(applyInheritedRules(spec('root'), child)).toEqual(child)
})
