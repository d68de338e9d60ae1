// Checks of values from the process of an extension. A check returns a new value with the known keys only.
import type { Json, JsonObject } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { wellFormed } from '../../util/well-formed.ts'

/** @throws ShapeError that names the place. */
export type Check<Value> = (value: unknown, place: string) => Value

export class ShapeError extends Error {
  override readonly name = 'ShapeError'
}

const not = (place: string, expected: string): never => {
  throw new ShapeError(`${place} is not ${expected}`)
}

export const maxTextCharacters = 200_000
const maxDepth = 64

export const text =
  (most = maxTextCharacters): Check<string> =>
  (value, place) =>
    typeof value === 'string' && value.length <= most ? wellFormed(value) : not(place, `a text of at most ${most} characters`)

export const number: Check<number> = (value, place) =>
  typeof value === 'number' && Number.isFinite(value) ? value : not(place, 'a number')

export const boolean: Check<boolean> = (value, place) => (typeof value === 'boolean' ? value : not(place, 'true or false'))

export const oneOf =
  <const Value extends string>(values: readonly Value[]): Check<Value> =>
  (value, place) =>
    values.find((each) => each === value) ?? not(place, `one of ${values.join(', ')}`)

export const list =
  <Value>(check: Check<Value>, most = 100): Check<readonly Value[]> =>
  (value, place) =>
    Array.isArray(value) && value.length <= most
      ? value.map((each, index) => check(each, `${place}[${index}]`))
      : not(place, `a list of at most ${most}`)

/** Absent values are `null` in an answer. */
export const optional =
  <Value>(check: Check<Value>): Check<Value | undefined> =>
  (value, place) =>
    value === undefined || value === null ? undefined : check(value, place)

export const either =
  <One, Other>(isOne: (value: unknown) => boolean, one: Check<One>, other: Check<Other>): Check<One | Other> =>
  (value, place) =>
    isOne(value) ? one(value, place) : other(value, place)

type Shape = { readonly [key: string]: Check<unknown> }
type Out<Each> = Each extends Check<infer Value> ? Value : never
type Fields<Given extends Shape> = {
  readonly [Key in keyof Given as undefined extends Out<Given[Key]> ? never : Key]: Out<Given[Key]>
} & { readonly [Key in keyof Given as undefined extends Out<Given[Key]> ? Key : never]?: Exclude<Out<Given[Key]>, undefined> }

export const record =
  <const Given extends Shape>(shape: Given): Check<Fields<Given>> =>
  (value, place) => {
    if (!isRecord(value)) return not(place, 'an object')
    const fields = Object.entries(shape).map(([key, check]) => [key, check(value[key], `${place}.${key}`)] as const)
    return Object.fromEntries(fields.filter(([, each]) => each !== undefined)) as Fields<Given>
  }

export const isText = (value: unknown): boolean => typeof value === 'string'

export const json: Check<Json> = (value, place) => (value === undefined ? not(place, 'a value') : (value as Json))
export const jsonObject: Check<JsonObject> = (value, place) => (isRecord(value) ? (value as JsonObject) : not(place, 'an object'))

/** What parsed JSON must not have: keys that change prototypes, and a depth that exhausts the stack. */
export function unsafeJson(value: unknown, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (depth >= maxDepth) return `values nested deeper than ${maxDepth}`
  if (Object.hasOwn(value, '__proto__')) return 'the key __proto__'
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    const found = unsafeJson(each, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}
