import type { ErrorObject } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../../contracts/index.ts'
import { inexactNumber } from '../../util/inexact-number.ts'
import type { GroupedError } from './group-errors.ts'
import { resolveReference } from './reachable-schemas.ts'

// A list inside a string inside an object needs three rounds.
const mostRounds = 4
const longestJsonText = 1_000_000

interface Coercion {
  readonly schema: JsonSchema
  check(candidate: unknown): readonly GroupedError[] | undefined
}

/**
 * Corrects mistakes of models without loss: `"10"` for 10, `"[1,2]"` for [1,2], `null` for a property that
 * is optional, nothing for a required property with a default. Returns a valid copy, or `undefined`.
 *
 * 1. Only values with an error change, each at most once. (The library's own coercion also
 * rewrites valid values when it tries the branches of an `anyOf`, and turns null into 0.)
 * 2. The result has passed the same validation.
 */
export function coerceValue(
  value: unknown,
  grouped: readonly GroupedError[],
  { schema, check }: Coercion,
): { readonly value: unknown } | undefined {
  const first = grouped.flatMap(errorsOf)
  if (!first.some((error) => isCoercible(error, schema))) return undefined
  const holder: { [key: string]: unknown } = { root: structuredClone(value) }
  const touched = new Set<string>()
  let errors = first
  for (let round = 0; round < mostRounds; round++) {
    const changes = errors.filter((error) => {
      const place = `${error.instancePath}/${error.keyword === 'required' ? error.params.missingProperty : ''}`
      return !touched.has(place) && coerceAt(holder, error, schema) && touched.add(place)
    })
    if (changes.length === 0) return undefined
    const left = check(holder.root)
    if (left === undefined) return { value: holder.root }
    errors = left.flatMap(errorsOf)
  }
  return undefined
}

/** The schemas of a choice would each fill in their own defaults. */
const errorsOf = ({ error, members }: GroupedError): readonly ErrorObject[] => [
  ...members.filter(({ keyword }) => keyword !== 'required'),
  error,
]

const isCoercible = (error: ErrorObject, schema: JsonSchema): boolean => {
  const { keyword, data, propertyName } = error
  if (keyword === 'required') return defaultOf(error, schema) !== undefined
  return propertyName === undefined && (keyword === 'type' || (data === null && (keyword === 'enum' || keyword === 'const')))
}

/** The default of a required property that is missing. */
function defaultOf({ params, parentSchema }: ErrorObject, root: JsonSchema): unknown {
  const { properties = {} } = parentSchema as { readonly properties?: { readonly [name: string]: unknown } }
  const property = Object.hasOwn(properties, params.missingProperty) ? properties[params.missingProperty] : undefined
  if (!isObjectOrList(property)) return undefined
  const target = resolveReference(property.$ref, root)
  return property.default ?? (isObjectOrList(target) ? target.default : undefined)
}

function coerceAt(holder: { [key: string]: unknown }, error: ErrorObject, schema: JsonSchema): boolean {
  if (!isCoercible(error, schema)) return false
  const keys = ['root', ...pathKeys(error.instancePath)]
  if (error.keyword === 'required')
    return set(valueAt(holder, keys), error.params.missingProperty, structuredClone(defaultOf(error, schema)))
  const last = keys.pop() ?? ''
  const at = valueAt(holder, keys)
  if (!isObjectOrList(at) || !Object.hasOwn(at, last)) return false
  if (at[last] === null && at !== holder && !Array.isArray(at)) return delete at[last]
  const coerced = convert(at[last], [error.params.type].flat())
  return coerced !== undefined && set(at, last, coerced)
}

function valueAt(holder: unknown, keys: readonly string[]): unknown {
  let at = holder
  for (const key of keys) at = isObjectOrList(at) && Object.hasOwn(at, key) ? at[key] : undefined
  return at
}

/** Not by assignment: a property may be called `__proto__`. */
const set = (at: unknown, name: string, value: unknown): boolean =>
  isObjectOrList(at) && Reflect.defineProperty(at, name, { value, writable: true, enumerable: true, configurable: true })

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
