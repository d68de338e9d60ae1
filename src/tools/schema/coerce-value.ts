import type { ErrorObject } from 'ajv/dist/2020.js'
import { inexactNumber } from '../../util/inexact-number.ts'
import type { GroupedError } from './group-errors.ts'

// A list inside a string inside an object needs three rounds.
const mostRounds = 4
const longestJsonText = 1_000_000

type Check = (candidate: unknown) => readonly GroupedError[] | undefined

/**
 * Corrects mistakes of models without loss: `"10"` for 10, `"[1,2]"` for [1,2], `null` for a property that
 * is optional. Returns a valid copy, or `undefined`.
 *
 * 1. Only values with an error change, each at most once. (The library's own coercion also
 * rewrites valid values when it tries the branches of an `anyOf`, and turns null into 0.)
 * 2. The result has passed the same validation.
 */
export function coerceValue(value: unknown, grouped: readonly GroupedError[], check: Check): { readonly value: unknown } | undefined {
  const first = grouped.flatMap(errorsOf)
  if (!first.some(isCoercible)) return undefined
  const holder: { [key: string]: unknown } = { root: structuredClone(value) }
  const touched = new Set<string>()
  let errors = first
  for (let round = 0; round < mostRounds; round++) {
    const changes = errors.filter((error) => !touched.has(error.instancePath) && coerceAt(holder, error) && touched.add(error.instancePath))
    if (changes.length === 0) return undefined
    const left = check(holder.root)
    if (left === undefined) return { value: holder.root }
    errors = left.flatMap(errorsOf)
  }
  return undefined
}

const errorsOf = ({ error, members }: GroupedError): readonly ErrorObject[] => [...members, error]

const isCoercible = ({ keyword, data, propertyName }: ErrorObject): boolean =>
  propertyName === undefined && (keyword === 'type' || (data === null && (keyword === 'enum' || keyword === 'const')))

function coerceAt(holder: { [key: string]: unknown }, error: ErrorObject): boolean {
  if (!isCoercible(error)) return false
  const keys = ['root', ...pathKeys(error.instancePath)]
  const last = keys.pop() ?? ''
  let at: unknown = holder
  for (const key of keys) at = isObjectOrList(at) && Object.hasOwn(at, key) ? at[key] : undefined
  if (!isObjectOrList(at) || !Object.hasOwn(at, last)) return false
  if (at[last] === null && at !== holder && !Array.isArray(at)) return delete at[last]
  const coerced = convert(at[last], [error.params.type].flat())
  if (coerced === undefined) return false
  // Not by assignment: a property may be called `__proto__`.
  Object.defineProperty(at, last, { value: coerced, writable: true, enumerable: true, configurable: true })
  return true
}

const isObjectOrList = (value: unknown): value is { [key: string]: unknown } => typeof value === 'object' && value !== null

/** The same value as one of the types, without loss. */
function convert(value: unknown, types: readonly unknown[]): unknown {
  for (const type of types) {
    const converted = typeof value === 'string' ? fromText(value, type) : fromOther(value, type)
    if (converted !== undefined) return converted
  }
  return undefined
}

function fromText(text: string, type: unknown): unknown {
  const trimmed = text.trim()
  switch (type) {
    case 'integer':
    case 'number':
      return toNumber(trimmed, type)
    case 'boolean':
      return /^(?:true|false)$/i.test(trimmed) ? trimmed.toLowerCase() === 'true' : undefined
    case 'null':
      return /^(?:null|none)$/i.test(trimmed) ? null : undefined
    case 'array':
      return parsed(trimmed, '[')
    case 'object':
      return parsed(trimmed, '{')
    default:
      return undefined
  }
}

function fromOther(value: unknown, type: unknown): unknown {
  if (type === 'string') return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
  if (type === 'boolean') return value === 1 ? true : value === 0 ? false : undefined
  return undefined
}

function toNumber(text: string, type: 'integer' | 'number'): number | undefined {
  if (!/^-?\d{1,300}(?:\.\d{1,300})?(?:e[+-]?\d{1,3})?$/i.test(text)) return undefined
  const number = Number(text)
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number))) return undefined
  return type === 'number' || Number.isInteger(number) ? number : undefined
}

function parsed(text: string, opening: '[' | '{'): unknown {
  if (!text.startsWith(opening) || text.length > longestJsonText || inexactNumber(text) !== undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function pathKeys(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}
