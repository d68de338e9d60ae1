/** A way that leads back to where it began. */
export interface Cycle<Node, Edge> {
  readonly nodes: readonly Node[]
  /** From the last of them to the first. */
  readonly closing: Edge
}

/** Each cycle once, told from the node that it is met at first. Every edge is gone along once. */
export function findCycles<Node, Edge extends { readonly to: Node }>(
  nodes: Iterable<Node>,
  edgesFrom: (node: Node) => Iterable<Edge>,
): readonly Cycle<Node, Edge>[] {
  const cycles: Cycle<Node, Edge>[] = []
  const done = new Set<Node>()
  for (const root of nodes) {
    // By hand: a chain of thousands must not exhaust the stack.
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
