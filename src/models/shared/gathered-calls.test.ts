import { expect, it } from 'vitest'
import { argumentsOf, withIds } from './gathered-calls.ts'

it('gives calls without a name the next free number, the same every time', () => {
  const earlier = { role: 'assistant', parts: [{ type: 'call', id: 'call_1', name: 'look', input: '{}' }] } as const
  const calls = [
    { id: undefined, name: 'a', input: '{}' },
    { id: 'call_2', name: 'b', input: '{}' },
    { id: undefined, name: 'c', input: '{}' },
  ]
  expect(withIds(calls, [earlier]).map(({ id }) => id)).toEqual(['call_3', 'call_2', 'call_4'])
  expect(withIds(calls, [earlier])).toEqual(withIds(calls, [earlier]))
})

it('shows arguments that cannot be read as they were written', () => {
  expect(['{"a":1}', '', ' ', '{"a":', '[1]'].map(argumentsOf)).toEqual([
    { a: 1 },
    {},
    {},
    { unreadable_arguments: '{"a":' },
    { unreadable_arguments: '[1]' },
  ])
})
