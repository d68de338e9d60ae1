import type { Json, JsonObject, JsonSchema } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { canonicalJson } from '../../util/json-values.ts'
import { asSchema, dereference, isOfType, namesIn, type TypeName } from './schema-view.ts'

// Checks known values against the common keywords. The agent loop validates the whole answer against all keywords.

interface Checking {
  readonly root: JsonSchema
  readonly depth?: number
  /** Shared by all checks of a value, so that branching ends. */
  readonly budget?: { left: number }
}

const maxDepth = 450
const maxChecks = 100_000

/** Whether a value fits the common keywords of a schema. Nothing fits a schema that refers to itself without end. */
export function conforms(value: Json, raw: unknown, { root, depth = 0, budget = { left: maxChecks } }: Checking): boolean {
  if (!isPlainObject(raw)) return raw !== false
  budget.left -= 1
  if (depth > maxDepth || budget.left < 0) return false
  const fits = (each: unknown, part = value): boolean => conforms(part, each, { root, depth: depth + 1, budget })
  const schema = dereference(raw, root)
  const { allOf, anyOf, oneOf } = schema
  if (!fitsValue(value, schema)) return false
  if (Array.isArray(allOf) && !allOf.every((each) => fits(each))) return false
  if (Array.isArray(anyOf) && !anyOf.some((each) => fits(each))) return false
  if (Array.isArray(oneOf) && oneOf.filter((each) => fits(each)).length !== 1) return false
  if (Array.isArray(value)) {
    const items = value as readonly Json[]
    return isBetween(items.length, schema.minItems, schema.maxItems) && items.every((item) => fits(schema.items, item))
  }
  if (!isPlainObject(value)) return true
  const object = value as JsonObject
  const hasRequired = namesIn(schema.required).every((name) => Object.hasOwn(object, name))
  return hasRequired && Object.entries(object).every(([name, part]) => fits(propertySchema(name, schema), part))
}

function fitsValue(value: Json, schema: JsonSchema): boolean {
  const types = [schema.type].flat().filter((type) => type !== undefined)
  if (types.length > 0 && !types.some((type) => isOfType(value, type as TypeName))) return false
  if (Array.isArray(schema.enum) && !schema.enum.some((each) => isEqual(each as Json, value))) return false
  if (schema.const !== undefined && !isEqual(schema.const as Json, value)) return false
  if (typeof value === 'number') return fitsNumber(value, schema)
  return typeof value !== 'string' || fitsText(value, schema)
}

const isEqual = (one: Json, other: Json): boolean =>
  one === other || (typeof one === 'object' && typeof other === 'object' && canonicalJson(one) === canonicalJson(other))

const isBetween = (value: number, least: unknown, most: unknown): boolean =>
  (typeof least !== 'number' || value >= least) && (typeof most !== 'number' || value <= most)

export function fitsNumber(value: number, schema: JsonSchema): boolean {
  if (!isBetween(value, schema.minimum, schema.maximum)) return false
  if (typeof schema.exclusiveMinimum === 'number' && value <= schema.exclusiveMinimum) return false
  return typeof schema.exclusiveMaximum !== 'number' || value < schema.exclusiveMaximum
}

export function fitsText(value: string, { minLength, maxLength, pattern }: JsonSchema): boolean {
  const length = minLength === undefined && maxLength === undefined ? 0 : [...value].length
  return isBetween(length, minLength, maxLength) && (typeof pattern !== 'string' || matches(pattern, value))
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value)
  } catch {
    return true
  }
}

export function propertySchema(name: string, { properties, additionalProperties }: JsonSchema): unknown {
  return Object.hasOwn(asSchema(properties), name) ? asSchema(properties)[name] : additionalProperties
}
