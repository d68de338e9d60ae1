import { expect, it } from 'vitest'
import type { Problem } from '../contracts/index.ts'
import { CallPairs } from './call-pairs.ts'

const problemsOf = (read: (pairs: CallPairs) => void): readonly Problem[] => {
  const problems: Problem[] = []
  const pairs = new CallPairs((problem) => problems.push(problem), ['tool_use block', 'tool_result block'])
  read(pairs)
  pairs.close()
  return problems
}

it('gives every result the name of its call', () => {
  const read = (pairs: CallPairs): void => {
    pairs.call({ id: 'a', name: 'look' }, 'm.0')
    pairs.call({ id: 'b', name: 'find' }, 'm.0')
    expect([pairs.result('b', 'm.1'), pairs.result('a', 'm.2')]).toEqual(['find', 'look'])
    // After its result, the id is free.
    pairs.close()
    pairs.call({ id: 'a', name: 'read' }, 'm.3')
    expect(pairs.result('a', 'm.4')).toBe('read')
  }
  expect(problemsOf(read)).toEqual([])
})

it.each<[string, (pairs: CallPairs) => void, Problem]>([
  [
    'a call without a result',
    (pairs) => pairs.call({ id: 'a', name: 'look' }, 'm.0'),
    {
      place: 'm.0',
      message: 'the tool_use block "a" has no tool_result block',
      remedy: 'Add its tool_result block directly after it, or leave the tool_use block out.',
    },
  ],
  [
    'a result without a call',
    (pairs) => pairs.result('a', 'm.1'),
    {
      place: 'm.1',
      message: 'the tool_result block "a" belongs to no tool_use block before it',
      remedy: 'Add the tool_use block, or leave the tool_result block out.',
    },
  ],
  [
    'a second call with the same id',
    (pairs) => {
      for (const place of ['m.0', 'm.1']) pairs.call({ id: 'a', name: 'look' }, place)
      pairs.result('a', 'm.2')
    },
    { place: 'm.1', message: 'there are two tool_use blocks with the id "a"', remedy: 'Give each tool_use block an id of its own.' },
  ],
])('reports %s', (_, read, problem) => {
  expect(problemsOf(read)).toEqual([problem])
})
