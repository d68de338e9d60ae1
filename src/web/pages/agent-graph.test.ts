import { expect, test } from 'vitest'
import { agentGraph } from './agent-graph.ts'

const graphOf = (root: string, calls: { readonly [name: string]: readonly string[] }) => agentGraph(root, (name) => calls[name] ?? [])
const places = ({ nodes }: ReturnType<typeof graphOf>) => Object.fromEntries(nodes.map(({ name, column, row }) => [name, [column, row]]))

test('an agent alone', () => {
  expect(graphOf('a', {})).toEqual({ nodes: [{ name: 'a', column: 0, row: 0 }], edges: [], columns: 1, rows: 1 })
})

test('an agent that several agents call is drawn once, right of all of them', () => {
  const graph = graphOf('a', { a: ['b', 'd', 'c'], b: ['c'], c: ['d'] })
  expect(places(graph)).toEqual({ a: [0, 0], b: [1, 0], c: [2, 0], d: [3, 0] })
  expect(graph.edges.map(({ from, to }) => `${from.name}${to.name}`)).toEqual(['ab', 'ad', 'ac', 'bc', 'cd'])
})

test('columns are centred, and agents are near their callers', () => {
  const graph = graphOf('a', { a: ['b', 'c'], b: ['x'], c: ['y', 'z'] })
  expect(places(graph)).toEqual({ a: [0, 1], b: [1, 0.5], c: [1, 1.5], x: [2, 0], y: [2, 1], z: [2, 2] })
})

test('an agent that calls itself has no edge, and an edge is drawn once', () => {
  expect(graphOf('a', { a: ['a', 'b', 'b'] }).edges).toHaveLength(1)
})
