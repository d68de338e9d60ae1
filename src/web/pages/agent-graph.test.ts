import { expect, test } from 'vitest'
import { agentGraph } from './agent-graph.ts'

const graphOf = (root: string, calls: { readonly [name: string]: readonly string[] }) => agentGraph(root, (name) => calls[name] ?? [])
const places = ({ nodes }: ReturnType<typeof graphOf>) => Object.fromEntries(nodes.map(({ name, column, row }) => [name, [column, row]]))

test('an agent alone', () => {
  expect(graphOf('a', {})).toEqual({ nodes: [{ name: 'a', column: 0, row: 0 }], edges: [], columns: 1, rows: 1 })
})

test('an agent that several agents call is drawn once, right of all of them', () => {
  const graph = graphOf('a', { a: ['b', 'c'], b: ['c'] })
  expect(places(graph)).toEqual({ a: [0, 0.5], b: [1, 0], c: [2, 0.5] })
  expect(graph.edges.map(({ from, to }) => `${from}${to}`)).toEqual(['ab', 'ac', 'bc'])
})

test('an edge over several columns has a place of its own in each', () => {
  const { edges, nodes } = graphOf('a', { a: ['b', 'd', 'c'], b: ['c'], c: ['d'] })
  const long = edges.find(({ from, to }) => from === 'a' && to === 'd')
  expect(long?.places.map(({ column }) => column)).toEqual([0, 1, 2, 3])
  const taken = edges.flatMap(({ places: all }) => all.slice(1, -1))
  for (const { column, row } of taken) expect(nodes.some((node) => node.column === column && node.row === row)).toBe(false)
})

test('columns are centred, and agents are near their callers', () => {
  const graph = graphOf('a', { a: ['b', 'c'], b: ['x'], c: ['y', 'z'] })
  expect(places(graph)).toEqual({ a: [0, 1], b: [1, 0.5], c: [1, 1.5], x: [2, 0], y: [2, 1], z: [2, 2] })
})

test('an agent that calls itself has no edge, and an edge is drawn once', () => {
  expect(graphOf('a', { a: ['a', 'b', 'b'] }).edges).toHaveLength(1)
})
