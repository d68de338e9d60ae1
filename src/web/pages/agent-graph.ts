// Where the agents below an agent are drawn: one column for each level, callers left of the agents that they call.

export interface Place {
  readonly column: number
  /** From the top of the drawing; columns are centred, so it may end in a half. */
  readonly row: number
}

export interface GraphNode extends Place {
  readonly name: string
}

interface GraphEdge {
  readonly from: string
  readonly to: string
  /** From the caller to the agent, with a place of its own in each column in between: no edge crosses a box. */
  readonly places: readonly Place[]
}

interface AgentGraph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  readonly columns: number
  readonly rows: number
}

type Callees = (name: string) => readonly string[]

/** The column of an agent is the longest way to it, so that each edge leads to the right. */
export function agentGraph(root: string, callees: Callees): AgentGraph {
  const order = callersFirst(root, callees)
  const at = new Map(order.map((name, index) => [name, index]))
  const calls = order.flatMap((from) =>
    [...new Set(callees(from))].filter((to) => (at.get(to) ?? 0) > (at.get(from) ?? 0)).map((to) => ({ from, to })),
  )
  const columnOf = new Map<string, number>([[root, 0]])
  for (const { from, to } of calls) columnOf.set(to, Math.max(columnOf.get(to) ?? 0, (columnOf.get(from) ?? 0) + 1))
  // The keys of everything that an edge passes: agents, and places in between.
  const ways = calls.map(({ from, to }) => {
    const [first, last] = [columnOf.get(from) ?? 0, columnOf.get(to) ?? 0]
    const between = Array.from({ length: last - first - 1 }, (_, index) => ({ key: `${from} ${to} ${index}`, column: first + index + 1 }))
    return { from, to, stops: [{ key: from, column: first }, ...between, { key: to, column: last }] }
  })
  const stops = [...order.map((name) => ({ key: name, column: columnOf.get(name) ?? 0 })), ...ways.flatMap((way) => way.stops.slice(1, -1))]
  const columns = [...Map.groupBy(stops, ({ column }) => column)].toSorted(([a], [b]) => a - b).map(([, those]) => those)
  const rows = Math.max(...columns.map(({ length }) => length))
  const rowOf = rowsOf(columns, rows, callersOf(ways))
  const placeOf = ({ key, column }: { readonly key: string; readonly column: number }): Place => ({ column, row: rowOf.get(key) ?? 0 })
  return {
    nodes: order.map((name) => ({ name, ...placeOf({ key: name, column: columnOf.get(name) ?? 0 }) })),
    edges: ways.map(({ from, to, stops: those }) => ({ from, to, places: those.map(placeOf) })),
    columns: columns.length,
    rows,
  }
}

type Stops = readonly { readonly key: string }[]

function callersOf(ways: readonly { readonly stops: Stops }[]): ReadonlyMap<string, readonly string[]> {
  const callers = new Map<string, string[]>()
  for (const { stops } of ways)
    for (const [index, { key }] of stops.entries()) {
      const before = stops[index - 1]
      if (before) callers.set(key, [...(callers.get(key) ?? []), before.key])
    }
  return callers
}

/** Everything is near what leads to it. */
function rowsOf(columns: readonly Stops[], rows: number, callers: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, number> {
  const rowOf = new Map<string, number>()
  const wish = (key: string): number => mean((callers.get(key) ?? []).map((caller) => rowOf.get(caller) ?? 0))
  for (const stops of columns) {
    const sorted = stops.toSorted((a, b) => wish(a.key) - wish(b.key))
    for (const [index, { key }] of sorted.entries()) rowOf.set(key, index + (rows - stops.length) / 2)
  }
  return rowOf
}

/** Every agent after all of its callers. */
function callersFirst(root: string, callees: Callees): readonly string[] {
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
