import type { Json, JsonSchema } from '../../contracts/index.ts'
import { resolvePointer } from '../../util/json-schema/schema-references.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { canonicalJson } from '../../util/json-values.ts'

// JSON Schema, as far as the rules know it: the agent loop validates inputs and answers against all keywords.

const maxHops = 20

export const asSchema = (value: unknown): JsonSchema => (isPlainObject(value) ? value : {})

/** Follows local references, merges `allOf`, and takes the first alternative that is not null. */
export function settled(value: unknown, root: JsonSchema): JsonSchema {
  let schema = asSchema(value)
  for (let hop = 0; hop < maxHops; hop++) {
    const { $ref, allOf, anyOf, oneOf, ...own } = schema
    const alternatives = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : []
    const chosen = alternatives.find((each) => settledType(asSchema(each)) !== 'null') ?? alternatives[0]
    const target = typeof $ref === 'string' && /^#(?:\/|$)/.test($ref) ? resolvePointer(root, $ref.slice(1)) : undefined
    if ($ref === undefined && !Array.isArray(allOf) && chosen === undefined) return own
    const parts = [target, ...(Array.isArray(allOf) ? allOf.slice(0, maxHops) : []), chosen].map(asSchema)
    schema = parts.reduce<JsonSchema>(merged, own)
  }
  return {}
}

function merged(one: JsonSchema, other: JsonSchema): JsonSchema {
  const properties = { ...asSchema(other.properties), ...asSchema(one.properties) }
  const required = [...namesIn(one.required), ...namesIn(other.required)]
  return {
    ...other,
    ...one,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

/** Its type, of several the first that is not null; guessed if none is given. */
export function settledType({ type, properties, items, enum: values }: JsonSchema): string {
  const types = [type].flat().filter((each) => typeof each === 'string')
  const named = types.find((each) => each !== 'null') ?? types[0]
  if (named !== undefined) return named
  if (isPlainObject(properties)) return 'object'
  return items !== undefined ? 'array' : Array.isArray(values) ? 'enum' : 'string'
}

export const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : []

export const enumOf = ({ enum: values }: JsonSchema): readonly Json[] => (Array.isArray(values) ? (values as readonly Json[]) : [])

/** The value that a schema has anyway. */
export function givenValue({ const: fixed, default: usual, enum: values }: JsonSchema): Json | undefined {
  if (fixed !== undefined) return fixed as Json
  if (usual !== undefined) return usual as Json
  return Array.isArray(values) && values.length === 1 ? (values[0] as Json) : undefined
}

/** Whether a simple value fits. */
export function fits(value: Json, schema: JsonSchema): boolean {
  const type = settledType(schema)
  if (Array.isArray(schema.enum) && !enumOf(schema).some((each) => canonicalJson(each) === canonicalJson(value))) return false
  if (schema.const !== undefined && canonicalJson(schema.const as Json) !== canonicalJson(value)) return false
  if (typeof value === 'number') return (type === 'number' || (type === 'integer' && Number.isInteger(value))) && isWithin(value, schema)
  if (typeof value === 'string') return (type === 'string' || type === 'enum') && fitsText(value, schema)
  if (Array.isArray(value)) return type === 'array'
  return typeof value === 'boolean' ? type === 'boolean' : value === null ? [schema.type].flat().includes('null') : type === 'object'
}

function isWithin(value: number, { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonSchema): boolean {
  if (typeof minimum === 'number' && value < minimum) return false
  if (typeof maximum === 'number' && value > maximum) return false
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return false
  if (typeof multipleOf === 'number' && multipleOf > 0 && !Number.isInteger(value / multipleOf)) return false
  return typeof exclusiveMaximum !== 'number' || value < exclusiveMaximum
}

export function fitsText(text: string, { minLength, maxLength, pattern }: JsonSchema): boolean {
  if (typeof minLength === 'number' && [...text].length < minLength) return false
  if (typeof maxLength === 'number' && [...text].length > maxLength) return false
  // A pattern can take long with a long text.
  return typeof pattern !== 'string' || (text.length < 1_000 && matches(text, pattern))
}

function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return true
  }
}
