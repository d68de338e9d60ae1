interface Cycle<Node, Edge> {
  readonly nodes: readonly Node[]
  /** From the last node to the first. */
  readonly closing: Edge
}

/** Finds each cycle once, and follows each edge once. */
export function findCycles<Node, Edge extends { readonly to: Node }>(
  nodes: Iterable<Node>,
  edgesFrom: (node: Node) => Iterable<Edge>,
): readonly Cycle<Node, Edge>[] {
  const cycles: Cycle<Node, Edge>[] = []
  const done = new Set<Node>()
  for (const root of nodes) {
    // Not recursive: a long chain must not exhaust the stack.
    const path: Node[] = []
    const left = new Map<Node, Iterator<Edge>>()
    const enter = (node: Node): void => {
      left.set(node, edgesFrom(node)[Symbol.iterator]())
      path.push(node)
    }
    if (!done.has(root)) enter(root)
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = left.get(top)?.next()
      if (!next || next.done) {
        done.add(top)
        left.delete(top)
        path.pop()
      } else if (left.has(next.value.to)) cycles.push({ nodes: path.slice(path.indexOf(next.value.to)), closing: next.value })
      else if (!done.has(next.value.to)) enter(next.value.to)
    }
  }
  return cycles
}
