import type { Problem } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'

/** A value without what cannot be read, and where that was. */
export interface Readable {
  readonly copy: unknown
  readonly problems: readonly Problem[]
}

/**
 * Getters and proxies are other people's code, and may throw. Copies plain objects and lists without what throws; anything else,
 * such as an object of a class, stays as it is. Only for a value that was found unreadable: a copy costs time.
 */
export function readableCopy(value: unknown): Readable {
  const problems: Problem[] = []
  const copies = new Map<object, unknown>()
  const read = (place: string, get: () => unknown): unknown => {
    try {
      return copyOf(get(), place)
    } catch (error) {
      problems.push({ place: place || 'options', message: `it cannot be read: ${messageOf(error)}`, remedy: 'Give a plain value.' })
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
      Reflect.set(
        copy,
        key,
        read(at, () => Reflect.get(given, key)),
      )
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
