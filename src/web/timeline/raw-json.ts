// Nodes refer to each other: a child has its whole tree, a step its calls.

/** A node as JSON, without what has rows of its own. */
export function rawJson(node: unknown): string {
  return JSON.stringify(
    node,
    (key, value: unknown) => {
      if (value instanceof Set) return value.size
      if (value instanceof Map) return [...value.values()]
      if (Array.isArray(value) && rowsOfTheirOwn.has(key)) return value.map((each: { readonly id?: string }) => each.id)
      if (key === 'child' && typeof value === 'object' && value !== null && 'path' in value) return value.path
      return value
    },
    2,
  )
}

const rowsOfTheirOwn = new Set(['turns', 'steps', 'calls', 'earlier'])
