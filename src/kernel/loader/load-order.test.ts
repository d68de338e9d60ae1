import { expect, test } from 'vitest'
import { orderExtensions } from './load-order.ts'

const order = (graph: { readonly [id: string]: readonly string[] }, broken: readonly string[] = []) => {
  const extensions = Object.entries(graph).map(([id, ids]) => ({
    id,
    dependsOn: ids.filter((each) => !each.startsWith('t:')),
    usesTools: ids.flatMap((each) => (each.startsWith('t:') ? [each.slice(2)] : [])),
  }))
  const found = orderExtensions(extensions, [...Object.keys(graph), ...broken])
  return { ...found, problems: Object.fromEntries([...found.problems].map(([id, list]) => [id, list.map(({ message }) => message)])) }
}

test('dependencies and used tools come first', () => {
  expect(order({ a: ['b', 't:c'], b: ['c'], c: [], d: [] })).toEqual({ order: ['c', 'd', 'b', 'a'], problems: {} })
})

test('an extension that is broken is not missing', () => {
  expect(order({ a: ['b'] }, ['b'])).toEqual({ order: ['a'], problems: {} })
})

test('cycles are named with their path, for each that is in one', () => {
  expect(order({ a: ['b'], b: ['t:c'], c: ['a'], d: ['a'], e: [] })).toEqual({
    order: ['d', 'e'].toSorted(),
    problems: {
      a: ['the dependencies form a cycle: a → b → c → a'],
      b: ['the dependencies form a cycle: b → c → a → b'],
      c: ['the dependencies form a cycle: c → a → b → c'],
    },
  })
})

test('two cycles that share an extension', () => {
  const { order: sorted, problems } = order({ a: ['b', 'c'], b: ['a'], c: ['a'] })
  expect([sorted, Object.keys(problems).toSorted()]).toEqual([[], ['a', 'b', 'c']])
  expect(problems.a).toHaveLength(2)
})

test('missing ones are listed with what exists', () => {
  const { problems } = orderExtensions([{ id: 'a', dependsOn: ['kvv'], usesTools: ['web'] }], ['a', 'kv'])
  expect(problems.get('a')).toEqual([
    { place: 'a: depends_on', message: 'the extension `kvv` does not exist', remedy: 'Did you mean "kv"? Available: a, kv.' },
    { place: 'a: agent.uses_tools', message: 'the extension `web` does not exist', remedy: 'Available: a, kv.' },
  ])
})

test('a chain of thousands', () => {
  const graph = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`e${n}`, n === 999 ? [] : [`e${n + 1}`]]))
  expect(order(graph).order.at(-1)).toBe('e0')
})
