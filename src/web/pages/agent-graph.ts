// Where the agents below an agent are drawn: one column for each level, callers left of the agents that they call.

export interface GraphNode {
  readonly name: string
  readonly column: number
  /** From the top of the drawing; columns are centred, so it may end in a half. */
  readonly row: number
}

export interface AgentGraph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly { readonly from: GraphNode; readonly to: GraphNode }[]
  readonly columns: number
  readonly rows: number
}

/** The column of an agent is the longest way to it, so that each edge leads to the right. */
export function agentGraph(root: string, callees: (name: string) => readonly string[]): AgentGraph {
  const order = callersFirst(root, callees)
  const at = new Map(order.map((name, index) => [name, index]))
  const edges = order.flatMap((from) =>
    [...new Set(callees(from))].filter((to) => (at.get(to) ?? 0) > (at.get(from) ?? 0)).map((to) => ({ from, to })),
  )
  const column = new Map<string, number>([[root, 0]])
  for (const { from, to } of edges) column.set(to, Math.max(column.get(to) ?? 0, (column.get(from) ?? 0) + 1))
  const columns = [...Map.groupBy(order, (name) => column.get(name) ?? 0)].toSorted(([a], [b]) => a - b).map(([, names]) => names)
  const rows = Math.max(...columns.map(({ length }) => length))
  const nodes = new Map<string, GraphNode>()
  for (const [index, names] of columns.entries()) {
    const callerRows = (name: string): number => mean(edges.filter(({ to }) => to === name).map(({ from }) => nodes.get(from)?.row ?? 0))
    const sorted = names.toSorted((a, b) => callerRows(a) - callerRows(b))
    for (const [row, name] of sorted.entries()) nodes.set(name, { name, column: index, row: row + (rows - names.length) / 2 })
  }
  const nodeOf = (name: string): GraphNode[] => (nodes.get(name) ? [nodes.get(name) as GraphNode] : [])
  return {
    nodes: [...nodes.values()],
    edges: edges.flatMap(({ from, to }) => nodeOf(from).flatMap((start) => nodeOf(to).map((end) => ({ from: start, to: end })))),
    columns: columns.length,
    rows,
  }
}

/** Every agent after all of its callers. */
function callersFirst(root: string, callees: (name: string) => readonly string[]): readonly string[] {
  const done = new Set<string>()
  const finished: string[] = []
  const visit = (name: string): void => {
    if (done.has(name)) return
    done.add(name)
    for (const callee of [...callees(name)].reverse()) visit(callee)
    finished.push(name)
  }
  visit(root)
  return finished.reverse()
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / Math.max(1, numbers.length)
