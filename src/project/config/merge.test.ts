import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FileOrigin, type LayerName, merge, mergeAll, type Sourced } from './sourced.ts'

const originOf = (layer: LayerName): FileOrigin => ({ kind: 'file', layer, file: `/${layer}`, line: 1, column: 1 })
const value = (layer: LayerName, value: number | readonly number[]): Sourced => ({ kind: 'value', value, origin: originOf(layer) })
const map = (layer: LayerName, entries: { readonly [key: string]: Sourced }): Sourced => ({
  kind: 'map',
  entries: new Map(Object.entries(entries)),
  origin: originOf(layer),
  sealed: false,
})

function anyTree(layer: LayerName): fc.Arbitrary<Sourced> {
  const { tree } = fc.letrec<{ tree: Sourced }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      fc.integer({ min: 0, max: 9 }).map((number) => value(layer, number)),
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 2 }).map((list) => value(layer, list)),
      fc
        .array(fc.tuple(fc.constantFrom('a', 'b', '__proto__', 'constructor'), tie('tree')), { maxLength: 4 })
        .map((pairs): Sourced => ({ kind: 'map', entries: new Map(pairs), origin: originOf(layer), sealed: false })),
    ),
  }))
  return tree
}
/** What a person sees of it. */
const seen = (tree: Sourced): unknown =>
  tree.kind === 'value'
    ? [tree.value, tree.origin.layer]
    : [[...tree.entries].map(([key, inner]) => [key, seen(inner)] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)), tree.origin.layer]

test('maps merge by key, the strongest wins, lists replace', () => {
  const strong = map('project', { a: value('project', 1), list: value('project', [1]), inner: map('project', { x: value('project', 1) }) })
  const weak = map('user', {
    a: value('user', 2),
    list: value('user', [2, 3]),
    inner: map('user', { x: value('user', 2), y: value('user', 3) }),
    b: value('user', 4),
  })
  expect(merge(strong, weak)).toEqual(
    map('project', {
      a: value('project', 1),
      list: value('project', [1]),
      inner: map('project', { x: value('project', 1), y: value('user', 3) }),
      b: value('user', 4),
    }),
  )
})

test('a map over another type hides weaker layers', () => {
  const [a, b, c] = [map('given', { x: value('given', 1) }), value('user', 2), map('system', { y: value('system', 3) })]
  expect(seen(merge(merge(a, b), c))).toEqual(seen(a))
  expect(seen(merge(a, merge(b, c)))).toEqual(seen(a))
})

test('merging is associative, and the same each time', () => {
  fc.assert(
    fc.property(anyTree('given'), anyTree('project'), anyTree('user'), (a, b, c) => {
      const left = merge(merge(a, b), c)
      expect(left).toEqual(merge(a, merge(b, c)))
      expect(seen(left)).toEqual(seen(mergeAll([a, b, c])!))
      expect(JSON.stringify(seen(merge(merge(a, b), c)))).toBe(JSON.stringify(seen(left)))
    }),
    { numRuns: 1000 },
  )
})

test('a layer over itself, or over nothing, is itself', () => {
  fc.assert(fc.property(anyTree('user'), (tree) => void expect(merge(tree, tree)).toEqual(tree)))
  expect(mergeAll([])).toBeUndefined()
})
