import { describe, expect, it } from 'vitest'
import { findCycles } from './find-cycles.ts'

const cyclesOf = (graph: { readonly [node: string]: string }) =>
  findCycles(Object.keys(graph), (node) => [...(graph[node] ?? '')].map((to) => ({ to }))).map(
    ({ nodes, closing }) => `${nodes.join('')}${closing.to}`,
  )

describe('ways that lead back', () => {
  it.each([
    [{ a: 'b', b: 'c', c: '' }, []],
    [{ a: 'bc', b: 'd', c: 'd', d: '' }, []],
    [{ a: 'a' }, ['aa']],
    [{ a: 'b', b: 'c', c: 'b' }, ['bcb']],
    [{ a: 'b', b: 'ac', c: 'a' }, ['aba', 'abca']],
    [{ a: 'b', b: 'a', c: 'd', d: 'c' }, ['aba', 'cdc']],
  ])('are reported once each: %j', (graph, expected) => {
    expect(cyclesOf(graph)).toEqual(expected)
  })

  it('are found at the end of a chain of a hundred thousand, and each edge is gone along once', () => {
    const length = 100_000
    let edges = 0
    const found = findCycles(
      Array.from({ length }, (_, node) => node),
      (node) => {
        edges++
        return [{ to: (node + 1) % length }]
      },
    )
    expect(found.map(({ nodes, closing }) => [nodes.length, closing.to])).toEqual([[length, 0]])
    expect(edges).toBe(length)
  })
})
