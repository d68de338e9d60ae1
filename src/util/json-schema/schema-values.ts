import type { Problem } from '../../contracts/index.ts'
import { nearestNames } from '../nearest-names.ts'
import { showValue } from '../show-value.ts'
import { type KeywordShape, typeNames } from './schema-keywords.ts'

export interface SchemaObject {
  readonly [keyword: string]: unknown
}

/** Not a list or an instance of a class. Objects of another realm are accepted. */
export function isPlainObject(value: unknown): value is SchemaObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

export const pointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

const isFilledList = (value: unknown): boolean => Array.isArray(value) && value.length > 0

/** What the value of a keyword must be, by its shape. */
const expectations: { readonly [Shape in KeywordShape]?: readonly [expected: string, accepts: (value: unknown) => boolean] } = {
  schema: ['a schema', (value) => !Array.isArray(value)],
  schemas: ['a list of one or more schemas', isFilledList],
  'schema map': ['an object of schemas by name', isPlainObject],
  'pattern map': ['an object of schemas by pattern', isPlainObject],
  'names map': ['an object of name lists', isPlainObject],
  dependencies: ['an object of schemas or name lists', isPlainObject],
  enum: ['a list of one or more values', isFilledList],
  count: ['an integer of at least 0', (value) => Number.isInteger(value) && (value as number) >= 0],
  number: ['a number', Number.isFinite],
  positive: ['a number above 0', (value) => Number.isFinite(value) && (value as number) > 0],
  boolean: ['true or false', (value) => typeof value === 'boolean'],
  text: ['a string', (value) => typeof value === 'string'],
  pattern: ['a regular expression as a string', (value) => typeof value === 'string'],
  list: ['a list', Array.isArray],
  map: ['an object', isPlainObject],
}

/** Problems of the value of one keyword, without the schemas inside of it. */
export function checkKeywordValue(
  shape: KeywordShape,
  value: unknown,
  { place, keyword }: { readonly place: string; readonly keyword: string },
): readonly Problem[] {
  const [expected, accepts] = expectations[shape] ?? []
  if (accepts && !accepts(value)) {
    const isBound = shape === 'number' && typeof value === 'boolean'
    const remedy = isBound ? 'give the bound itself' : keyword === 'items' ? 'use "prefixItems" for schemas by position' : undefined
    return [{ place, message: `expected ${expected}, found ${showValue(value)}`, ...(remedy !== undefined && { remedy }) }]
  }
  if (shape === 'type') return checkType(value, place)
  if (shape === 'pattern') return checkPattern(value as string, place)
  if (shape === 'pattern map') return Object.keys(value as SchemaObject).flatMap((pattern) => checkPattern(pattern, place))
  if (shape === 'names map')
    return Object.entries(value as SchemaObject).flatMap(([name, names]) => checkNames(names, `${place}/${pointerPart(name)}`))
  if (shape !== 'names') return []
  return checkNames(value, place, typeof value === 'boolean' ? 'list the name in "required" of the object around it' : undefined)
}

/** Type names of other languages. */
const otherTypeNames: { readonly [type: string]: readonly string[] } = {
  string: ['str', 'text', 'date'],
  integer: ['int', 'long'],
  number: ['float', 'double', 'decimal'],
  boolean: ['bool'],
  object: ['dict', 'map', 'record'],
  array: ['list', 'tuple'],
  null: ['none', 'undefined'],
}

function checkType(value: unknown, place: string): readonly Problem[] {
  if (!Array.isArray(value)) return checkTypeName(value, place)
  if (value.length === 0) return [{ place, message: 'expected one or more type names, found an empty list' }]
  return value.flatMap((each, index) => checkTypeName(each, `${place}/${index}`))
}

function checkTypeName(value: unknown, place: string): readonly Problem[] {
  if (typeof value === 'string' && typeNames.includes(value)) return []
  const message = `expected one of ${typeNames.map((name) => `"${name}"`).join(', ')}, found ${showValue(value)}`
  if (typeof value !== 'string') return [{ place, message }]
  if (value.toLowerCase() === 'any') return [{ place, message, remedy: 'leave "type" out to allow any value' }]
  const meant = typeNames.find((name) => otherTypeNames[name]?.includes(value.toLowerCase())) ?? nearestNames(value, typeNames, 1)[0]
  return [meant === undefined ? { place, message } : { place, message, remedy: `did you mean "${meant}"?` }]
}

function checkNames(value: unknown, place: string, remedy?: string): readonly Problem[] {
  if (!Array.isArray(value))
    return [{ place, message: `expected a list of names, found ${showValue(value)}`, ...(remedy !== undefined && { remedy }) }]
  return value.flatMap((name, index) =>
    typeof name === 'string' ? [] : [{ place: `${place}/${index}`, message: `expected a name, found ${showValue(name)}` }],
  )
}

function checkPattern(pattern: string, place: string): readonly Problem[] {
  try {
    new RegExp(pattern, 'u')
    return []
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    return [{ place, message: `expected a regular expression, found ${showValue(pattern)}: ${cause}` }]
  }
}
