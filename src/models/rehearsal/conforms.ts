import type { Json, JsonObject, JsonSchema } from '../../contracts/index.ts'
import { canonicalJson } from '../../util/canonical-json.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { isOfType } from './facts.ts'
import { asSchema, dereference, namesIn, type TypeName } from './schema-view.ts'

// The keywords that schemas of answers use. It decides between alternatives; the answer itself is checked by the loop.

/** Whether a value fits a schema. What refers to itself without end fits nothing. */
export function conforms(value: Json, schema: unknown, { root, depth = 0, budget = { left: mostSteps } }: Checking): boolean {
  if (typeof schema === 'boolean') return schema
  if (!isPlainObject(schema)) return true
  budget.left -= 1
  if (depth > deepest || budget.left < 0) return false
  const deeper = { root, depth: depth + 1, budget }
  const fits = (each: unknown): boolean => conforms(value, each, deeper)
  if (typeof schema.$ref === 'string') {
    const { $ref, ...rest } = schema
    return fits(rest) && fits(dereference({ $ref }, root))
  }
  return fitsItself(value, schema) && fitsParts(value, schema, deeper) && fitsLogic(schema, fits)
}
const deepest = 450
const mostSteps = 100_000

interface Checking {
  readonly root: JsonSchema
  readonly depth?: number
  /** Ends what would branch without end. */
  readonly budget?: { left: number }
}
type Deeper = Required<Checking>

function fitsLogic(schema: JsonSchema, fits: (schema: unknown) => boolean): boolean {
  const { allOf, anyOf, oneOf, not, if: condition } = schema
  if (Array.isArray(allOf) && !allOf.every(fits)) return false
  if (Array.isArray(anyOf) && !anyOf.some(fits)) return false
  if (Array.isArray(oneOf) && oneOf.filter(fits).length !== 1) return false
  if (not !== undefined && fits(not)) return false
  return condition === undefined || fits((fits(condition) ? schema.then : schema.else) ?? true)
}

function fitsItself(value: Json, schema: JsonSchema): boolean {
  const { type } = schema
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
  if (types.length > 0 && !types.some((each) => isOfType(value, each as TypeName))) return false
  if (Array.isArray(schema.enum) && !membersOf(schema.enum).has(keyOf(value))) return false
  if (schema.const !== undefined && !equal(schema.const as Json, value)) return false
  if (typeof value === 'number') return fitsNumber(value, schema)
  if (typeof value === 'string') return fitsText(value, schema)
  return true
}

const keyOf = (value: Json): Json => (typeof value === 'object' && value !== null ? `json ${canonicalJson(value)}` : value)

const members = new WeakMap<readonly unknown[], ReadonlySet<Json>>()

/** The values of an enum, to be found at once: some have thousands. */
function membersOf(values: readonly unknown[]): ReadonlySet<Json> {
  const known = members.get(values) ?? new Set(values.map((each) => keyOf(each as Json)))
  members.set(values, known)
  return known
}

const equal = (one: Json, other: Json): boolean => keyOf(one) === keyOf(other)

const atLeast = (value: number, limit: unknown): boolean => typeof limit !== 'number' || value >= limit
const atMost = (value: number, limit: unknown): boolean => typeof limit !== 'number' || value <= limit

function fitsNumber(value: number, schema: JsonSchema): boolean {
  if (!atLeast(value, schema.minimum) || !atMost(value, schema.maximum)) return false
  if (typeof schema.exclusiveMinimum === 'number' && value <= schema.exclusiveMinimum) return false
  if (typeof schema.exclusiveMaximum === 'number' && value >= schema.exclusiveMaximum) return false
  return typeof schema.multipleOf !== 'number' || Number.isInteger(value / schema.multipleOf)
}

function fitsText(value: string, schema: JsonSchema): boolean {
  const length = schema.minLength === undefined && schema.maxLength === undefined ? 0 : [...value].length
  if (!atLeast(length, schema.minLength) || !atMost(length, schema.maxLength)) return false
  return typeof schema.pattern !== 'string' || matches(schema.pattern, value)
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value)
  } catch {
    return true
  }
}

function fitsParts(value: Json, schema: JsonSchema, deeper: Deeper): boolean {
  if (Array.isArray(value)) return fitsList(value as readonly Json[], schema, deeper)
  return typeof value !== 'object' || value === null || fitsObject(value as JsonObject, schema, deeper)
}

function fitsList(list: readonly Json[], schema: JsonSchema, deeper: Deeper): boolean {
  const { prefixItems, items, contains } = schema
  if (!atLeast(list.length, schema.minItems) || !atMost(list.length, schema.maxItems)) return false
  if (schema.uniqueItems === true && new Set(list.map(canonicalJson)).size < list.length) return false
  const first = Array.isArray(prefixItems) ? prefixItems : []
  if (!list.every((item, at) => conforms(item, at < first.length ? first[at] : items, deeper))) return false
  if (contains === undefined) return true
  const count = list.filter((item) => conforms(item, contains, deeper)).length
  return count >= Number(schema.minContains ?? 1) && atMost(count, schema.maxContains)
}

function fitsObject(object: JsonObject, schema: JsonSchema, deeper: Deeper): boolean {
  const names = Object.keys(object)
  if (!namesIn(schema.required).every((name) => Object.hasOwn(object, name))) return false
  if (!atLeast(names.length, schema.minProperties) || !atMost(names.length, schema.maxProperties)) return false
  if (!names.every((name) => conforms(name, schema.propertyNames, deeper))) return false
  const dependents = Object.entries(asSchema(schema.dependentRequired)).filter(([name]) => Object.hasOwn(object, name))
  if (!dependents.every(([, needed]) => namesIn(needed).every((name) => Object.hasOwn(object, name)))) return false
  return names.every((name) => schemasFor(name, schema).every((each) => conforms(object[name] ?? null, each, deeper)))
}

/** What is said about a property: by its name, by patterns, or else about all others. */
export function schemasFor(name: string, schema: JsonSchema): readonly unknown[] {
  const properties = asSchema(schema.properties)
  const named = Object.hasOwn(properties, name) ? [properties[name]] : []
  const patterned = Object.entries(asSchema(schema.patternProperties)).flatMap(([pattern, each]) => (matches(pattern, name) ? [each] : []))
  const found = [...named, ...patterned]
  return found.length > 0 ? found : [schema.additionalProperties]
}
