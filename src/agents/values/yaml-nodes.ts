import { isMap, isScalar, isSeq, type Node } from 'yaml'

/** A node as the JSON that it stands for. What JSON has no word for is a fault. */
export function nodeToJson(node: Node | null, faults: Fault[]): unknown {
  if (isMap<Node, Node | null>(node))
    return Object.fromEntries(
      node.items.map(({ key, value }) => [isScalar(key) ? String(key.value) : '', nodeToJson(value ?? null, faults)]),
    )
  if (isSeq<Node>(node)) return node.items.map((each) => nodeToJson(each, faults))
  const value: unknown = isScalar(node) ? node.value : null
  const isJson = value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
  if (!isJson) faults.push({ node, message: `${String(value)} is not JSON`, remedy: 'Leave it out.' })
  return isJson ? value : null
}

/** One value, or what is wrong with it: each time at a node, or at the value as a whole. */
export type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly faults: readonly Fault[] }
export interface Fault {
  readonly node: Node | null
  readonly message: string
  /** Without one, an example tells how to write it. */
  readonly remedy?: string
}
