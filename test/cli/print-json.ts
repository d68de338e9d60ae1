/** JSON as the formatter of this repository leaves it: lists of plain values in one line where they fit. */
export function printJson(value: unknown): string {
  return `${printed(value, '', 0)}\n`
}

const mostColumns = 140

/** `before` is how much of the line is taken already. */
function printed(value: unknown, indent: string, before: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`
    const isPlain = value.every((item) => typeof item !== 'object' || item === null)
    // A comma may follow.
    if (value.length === 0 || (isPlain && before + line.length + 1 <= mostColumns)) return line
    return `[\n${value.map((item) => `${inner}${printed(item, inner, inner.length)}`).join(',\n')}\n${indent}]`
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return '{}'
  const lines = entries.map(([key, item]) => {
    const start = `${inner}${JSON.stringify(key)}: `
    return `${start}${printed(item, inner, start.length)}`
  })
  return `{\n${lines.join(',\n')}\n${indent}}`
}
