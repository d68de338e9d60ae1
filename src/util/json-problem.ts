interface Found {
  readonly what: string
  /** Keys from the outside to the inside. */
  readonly path: string[]
}

/** Why a value is not JSON, such as `a Map at trips.0`. Fields that are undefined are left out, and `toJSON` applies, as in JSON. */
export function jsonProblem(value: unknown): string | undefined {
  const found = problemIn(value, [])
  return found && (found.path.length === 0 ? found.what : `${found.what} at ${found.path.join('.')}`)
}

function problemIn(given: unknown, above: object[]): Found | undefined {
  const value = hasToJson(given) ? given.toJSON() : given
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : { what: String(value), path: [] }
    case 'bigint':
      return { what: 'a BigInt', path: [] }
    case 'function':
    case 'symbol':
      return { what: `a ${typeof value}`, path: [] }
    case 'object':
      return value === null ? undefined : problemInside(value, above)
    default:
      return undefined
  }
}

const hasToJson = (value: unknown): value is { toJSON(): unknown } =>
  typeof (value as { readonly toJSON?: unknown } | null | undefined)?.toJSON === 'function'

function problemInside(value: object, above: object[]): Found | undefined {
  if (above.includes(value)) return { what: 'a cycle', path: [] }
  // Objects of classes of a program have fields; a Map, a Set or a RegExp would lose its content.
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (kind !== 'Object' && kind !== 'Array') return { what: `a ${kind}`, path: [] }
  above.push(value)
  for (const [key, inner] of Object.entries(value)) {
    const found = problemIn(inner, above)
    if (!found) continue
    found.path.unshift(key)
    return found
  }
  above.pop()
  return undefined
}
