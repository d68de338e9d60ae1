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

interface Where {
  readonly place: string
  readonly keyword: string
}

/** Problems of the value of one keyword, without the schemas inside of it. */
export function checkKeywordValue(shape: KeywordShape, value: unknown, { place, keyword }: Where): readonly Problem[] {
  const expected = (what: string, remedy?: string): readonly Problem[] => [
    { place, message: `expected ${what}, found ${showValue(value)}`, ...(remedy !== undefined && { remedy }) },
  ]
  switch (shape) {
    case 'type':
      return checkType(value, place)
    case 'schema':
      return Array.isArray(value) ? expected('a schema', keyword === 'items' ? 'use "prefixItems" for schemas by position' : undefined) : []
    case 'schemas':
      return Array.isArray(value) && value.length > 0 ? [] : expected('a list of one or more schemas')
    case 'schema map':
      return isPlainObject(value) ? [] : expected('an object of schemas by name')
    case 'pattern map':
      return isPlainObject(value)
        ? Object.keys(value).flatMap((pattern) => checkPattern(pattern, place))
        : expected('an object of schemas by pattern')
    case 'names':
      return checkNames(value, place, typeof value === 'boolean' ? 'list the name in "required" of the object around it' : undefined)
    case 'names map':
      return isPlainObject(value)
        ? Object.entries(value).flatMap(([name, names]) => checkNames(names, `${place}/${pointerPart(name)}`))
        : expected('an object of name lists')
    case 'dependencies':
      return isPlainObject(value) ? [] : expected('an object of schemas or name lists')
    case 'enum':
      return Array.isArray(value) && value.length > 0 ? [] : expected('a list of one or more values')
    case 'count':
      return Number.isInteger(value) && (value as number) >= 0 ? [] : expected('a whole number from 0 up')
    case 'number':
      return Number.isFinite(value) ? [] : expected('a number', typeof value === 'boolean' ? 'give the bound itself' : undefined)
    case 'positive':
      return Number.isFinite(value) && (value as number) > 0 ? [] : expected('a number above 0')
    case 'boolean':
      return typeof value === 'boolean' ? [] : expected('true or false')
    case 'text':
    case 'reference':
      return typeof value === 'string' ? [] : expected('a string')
    case 'pattern':
      return typeof value === 'string' ? checkPattern(value, place) : expected('a regular expression as a string')
    case 'list':
      return Array.isArray(value) ? [] : expected('a list')
    case 'map':
      return isPlainObject(value) ? [] : expected('an object')
    case 'any':
      return []
    default:
      return shape satisfies never
  }
}

/** Type names of other languages. */
const otherTypeNames = new Map([
  ['str', 'string'],
  ['text', 'string'],
  ['date', 'string'],
  ['int', 'integer'],
  ['long', 'integer'],
  ['float', 'number'],
  ['double', 'number'],
  ['decimal', 'number'],
  ['bool', 'boolean'],
  ['dict', 'object'],
  ['map', 'object'],
  ['record', 'object'],
  ['list', 'array'],
  ['tuple', 'array'],
  ['none', 'null'],
  ['undefined', 'null'],
])

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
  const meant = otherTypeNames.get(value.toLowerCase()) ?? nearestNames(value, typeNames, 1)[0]
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
