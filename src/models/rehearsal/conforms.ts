import type { Json, JsonObject, JsonSchema } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { canonicalJson } from '../../util/json-values.ts'
import { asSchema, dereference, isOfType, namesIn, type TypeName } from './schema-view.ts'

// The keywords that schemas of answers use. It decides between alternatives; the loop validates the answer itself.

interface Checking {
  readonly root: JsonSchema
  readonly depth?: number
  /** Shared by all checks of an answer, so that branching ends. */
  readonly budget?: { left: number }
}
type Fits = (schema: unknown, part?: Json) => boolean

const maxDepth = 450
const maxChecks = 100_000

/** Whether a value fits a schema. Nothing fits a schema that refers to itself without end. */
export function conforms(value: Json, schema: unknown, { root, depth = 0, budget = { left: maxChecks } }: Checking): boolean {
  if (typeof schema === 'boolean') return schema
  if (!isPlainObject(schema)) return true
  budget.left -= 1
  if (depth > maxDepth || budget.left < 0) return false
  const fits: Fits = (each, part = value) => conforms(part, each, { root, depth: depth + 1, budget })
  if (typeof schema.$ref === 'string') {
    const { $ref, ...rest } = schema
    return fits(rest) && fits(dereference({ $ref }, root))
  }
  return fitsValue(value, schema) && fitsParts(value, schema, fits) && fitsLogic(schema, fits)
}

function fitsLogic({ allOf, anyOf, oneOf, not, if: condition, ...schema }: JsonSchema, fits: Fits): boolean {
  if (Array.isArray(allOf) && !allOf.every((each) => fits(each))) return false
  if (Array.isArray(anyOf) && !anyOf.some((each) => fits(each))) return false
  if (Array.isArray(oneOf) && oneOf.filter((each) => fits(each)).length !== 1) return false
  if (not !== undefined && fits(not)) return false
  return condition === undefined || fits((fits(condition) ? schema.then : schema.else) ?? true)
}

function fitsValue(value: Json, schema: JsonSchema): boolean {
  const types = [schema.type].flat().filter((type) => type !== undefined)
  if (types.length > 0 && !types.some((type) => isOfType(value, type as TypeName))) return false
  if (Array.isArray(schema.enum) && !membersOf(schema.enum).has(keyOf(value))) return false
  if (schema.const !== undefined && keyOf(schema.const as Json) !== keyOf(value)) return false
  if (typeof value === 'number') return fitsNumber(value, schema)
  return typeof value !== 'string' || fitsText(value, schema)
}

const keyOf = (value: Json): Json => (typeof value === 'object' && value !== null ? `json ${canonicalJson(value)}` : value)

const members = new WeakMap<readonly unknown[], ReadonlySet<Json>>()

/** The values of an enum as a set, made once: some enums have thousands of values. */
function membersOf(values: readonly unknown[]): ReadonlySet<Json> {
  const known = members.get(values) ?? new Set(values.map((each) => keyOf(each as Json)))
  members.set(values, known)
  return known
}

const isBetween = (value: number, least: unknown, most: unknown): boolean =>
  (typeof least !== 'number' || value >= least) && (typeof most !== 'number' || value <= most)

export function fitsNumber(value: number, schema: JsonSchema): boolean {
  if (!isBetween(value, schema.minimum, schema.maximum)) return false
  if (typeof schema.exclusiveMinimum === 'number' && value <= schema.exclusiveMinimum) return false
  if (typeof schema.exclusiveMaximum === 'number' && value >= schema.exclusiveMaximum) return false
  return typeof schema.multipleOf !== 'number' || Number.isInteger(value / schema.multipleOf)
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

function fitsParts(value: Json, schema: JsonSchema, fits: Fits): boolean {
  if (Array.isArray(value)) return fitsList(value as readonly Json[], schema, fits)
  return typeof value !== 'object' || value === null || fitsObject(value as JsonObject, schema, fits)
}

function fitsList(list: readonly Json[], schema: JsonSchema, fits: Fits): boolean {
  if (!isBetween(list.length, schema.minItems, schema.maxItems)) return false
  if (schema.uniqueItems === true && new Set(list.map(canonicalJson)).size < list.length) return false
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  if (!list.every((item, at) => fits(at < first.length ? first[at] : schema.items, item))) return false
  if (schema.contains === undefined) return true
  const count = list.filter((item) => fits(schema.contains, item)).length
  return isBetween(count, Number(schema.minContains ?? 1), schema.maxContains)
}

function fitsObject(object: JsonObject, schema: JsonSchema, fits: Fits): boolean {
  const names = Object.keys(object)
  const hasAll = (needed: unknown): boolean => namesIn(needed).every((name) => Object.hasOwn(object, name))
  if (!hasAll(schema.required) || !isBetween(names.length, schema.minProperties, schema.maxProperties)) return false
  if (!names.every((name) => fits(schema.propertyNames, name))) return false
  if (!names.every((name) => hasAll(ownSchema(schema.dependentRequired, name)))) return false
  return names.every((name) => schemasFor(name, schema).every((each) => fits(each, object[name] ?? null)))
}

const ownSchema = (map: unknown, name: string): unknown => (Object.hasOwn(asSchema(map), name) ? asSchema(map)[name] : undefined)

/** The schemas of a property: by its name, by patterns, or else the one for all others. */
export function schemasFor(name: string, schema: JsonSchema): readonly unknown[] {
  const named = Object.hasOwn(asSchema(schema.properties), name) ? [asSchema(schema.properties)[name]] : []
  const patterned = Object.entries(asSchema(schema.patternProperties)).flatMap(([pattern, each]) => (matches(pattern, name) ? [each] : []))
  const found = [...named, ...patterned]
  return found.length > 0 ? found : [schema.additionalProperties]
}
