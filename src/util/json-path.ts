import type { Json } from '../contracts/index.ts'

/** A path in a JSON value: keys, indexes, and `*` for every entry. */
type JsonPath = readonly (string | number | typeof every)[]

const every = Symbol('*')
const longest = 500
const step = /\.\*|\[\*\]|\[(-?\d{1,9})\]|\["((?:[^"\\]|\\.)*)"\]|\['([^'\\]*)'\]|\.([^.[\]"'*\s]+)/y

/**
 * A subset of RFC 9535: `$.data.items[0].name`, `items[*].id`, `["odd key"]`. `$` may be omitted; an index below zero is
 * relative to the end. `undefined` for anything else.
 */
export function parseJsonPath(written: string): JsonPath | undefined {
  const text = written.startsWith('$') ? written.slice(1) : /^[.[]/.test(written) ? written : `.${written}`
  if (written.length > longest || (text === '' && written === '')) return undefined
  const path: (string | number | typeof every)[] = []
  for (let at = 0; at < text.length; at = step.lastIndex) {
    step.lastIndex = at
    const found = step.exec(text)
    if (!found) return undefined
    const [, index, quoted, single, key] = found
    if (index !== undefined) path.push(Number(index))
    else if (quoted !== undefined) {
      const name = unquoted(quoted)
      if (name === undefined) return undefined
      path.push(name)
    } else path.push(single ?? key ?? every)
  }
  return path
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return undefined
  }
}

/** What is at the path; a list if the path has a `*`. `undefined` if there is nothing. */
export function selectJson(value: Json, path: JsonPath): Json | undefined {
  let found: readonly Json[] = [value]
  for (const each of path) found = found.flatMap((inner) => entriesAt(inner, each))
  return path.includes(every) ? found : found[0]
}

function entriesAt(value: Json, at: JsonPath[number]): readonly Json[] {
  if (typeof value !== 'object' || value === null) return []
  if (at === every) return Object.values(value).map((each) => each ?? null)
  if (Array.isArray(value)) {
    const entry = typeof at === 'number' ? (value as readonly Json[]).at(at) : undefined
    return entry === undefined ? [] : [entry]
  }
  const inner = typeof at === 'string' && Object.hasOwn(value, at) ? (value as { readonly [key: string]: Json })[at] : undefined
  return inner === undefined ? [] : [inner]
}
