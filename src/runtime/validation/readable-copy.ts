import type { Problem } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'

/**
 * A value without the parts that cannot be read, and where those are. Getters and proxies may throw. Copies plain objects and lists without what throws; any other value, such as an instance of a class,
 * stays as it is. Only for a value that was found unreadable: copying takes time.
 */
export function readableCopy(value: unknown): { readonly copy: unknown; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const copies = new Map<object, unknown>()
  const read = (place: string, get: () => unknown): unknown => {
    try {
      return copyOf(get(), place)
    } catch (error) {
      problems.push({ place: place || 'options', message: `cannot be read: ${messageOf(error)}`, remedy: 'Pass a plain value.' })
      return undefined
    }
  }
  const copyOf = (given: unknown, place: string): unknown => {
    if (!isPlain(given)) return given
    if (copies.has(given)) return copies.get(given)
    const copy: { [key: string]: unknown } | unknown[] = Array.isArray(given) ? [] : {}
    copies.set(given, copy)
    for (const key of Object.keys(given)) {
      const at = Array.isArray(given) ? `${place}[${key}]` : place === '' ? key : `${place}.${key}`
      const inner = read(at, () => Reflect.get(given, key))
      Reflect.set(copy, key, inner)
    }
    return copy
  }
  return { copy: read('', () => value), problems }
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || prototype === Array.prototype
}
