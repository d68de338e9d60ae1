import { expect, test } from 'vitest'
import type { ApprovalRule } from '../../contracts/index.ts'
import { overriddenRules } from './ineffective-rules.ts'

const told = (...rules: readonly ApprovalRule[]) => overriddenRules(rules).map(({ index, message }) => `${index} ${message}`)

test('a rule that a later, milder rule overrides is reported', () => {
  expect(told({ deny: 'shell(rm *)' }, { allow: 'shell' })).toEqual(['0 `deny: shell(rm *)` is taken back by `allow: shell` behind it'])
  expect(told({ ask: ['shell(git push*)', 'web_fetch'] }, { allow: 'shell(git *)' })).toEqual([
    '0 `ask: shell(git push*)` is taken back by `allow: shell(git *)` behind it',
  ])
  expect(told({ deny: 'shell' }, { ask: '*' }, { allow: 'sh*' })).toHaveLength(1)
})

test('exceptions, and what only makes it stricter, are as they are meant', () => {
  expect(told({ deny: 'shell' }, { allow: 'shell(git *)' })).toEqual([])
  expect(told({ allow: 'shell' }, { deny: 'shell(rm *)' }, { deny: 'shell' })).toEqual([])
  expect(told({ deny: 'shell(rm *)' }, { allow: 'write_file' }, { allow: 'shell(rm -i *)' })).toEqual([])
})

test('a list that is too long to compare is accepted', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => `shell(${index})`)
  expect(told({ deny: many }, { allow: 'shell' })).toEqual([])
})
