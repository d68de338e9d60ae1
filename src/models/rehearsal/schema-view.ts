import type { Json, JsonSchema } from '../../contracts/index.ts'
import { resolvePointer } from '../../util/json-schema/schema-references.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'

// Schemas with references followed and alternatives chosen. What is not a schema becomes `{}`.

export const asSchema = (value: unknown): JsonSchema => (isPlainObject(value) ? value : {})

const maxHops = 20
const isLocal = /^#(?:\/|$)/

/** Follows local references; keywords beside `$ref` stay. */
export function dereference(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let at = schema
  for (let hops = 0; typeof at.$ref === 'string' && hops < maxHops; hops++) {
    const { $ref, ...rest } = at
    at = { ...asSchema(isLocal.test($ref as string) ? resolvePointer(root, ($ref as string).slice(1)) : undefined), ...rest }
  }
  return at
}

/** One schema out of `allOf`, with the properties and requirements of all of them. */
export function merged(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema {
  const flat = dereference(schema, root)
  if (!Array.isArray(flat.allOf) || depth > maxHops) return flat
  const { allOf, ...own } = flat
  let whole: JsonSchema = own
  for (const part of allOf.slice(0, maxHops)) whole = both(whole, merged(asSchema(part), root, depth + 1))
  return whole
}

function both(one: JsonSchema, other: JsonSchema): JsonSchema {
  const [own, others] = [asSchema(one.properties), asSchema(other.properties)]
  const shared = Object.keys(own).filter((name) => Object.hasOwn(others, name))
  const properties = { ...others, ...own, ...Object.fromEntries(shared.map((name) => [name, { allOf: [own[name], others[name]] }])) }
  const required = [...namesIn(one.required), ...namesIn(other.required)]
  return {
    ...other,
    ...one,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

/** The alternative to fill: of a nullable thing the thing, otherwise the first. */
export function settled(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let at = merged(schema, root)
  for (let hops = 0; hops < maxHops; hops++) {
    const alternatives = alternativesOf(at)
    if (alternatives.length === 0) return at
    const { anyOf: _a, oneOf: _b, ...own } = at
    const chosen = alternatives.find((each) => dereference(each, root).type !== 'null') ?? {}
    at = merged({ ...dereference(chosen, root), ...own }, root)
  }
  return at
}

export function alternativesOf(schema: JsonSchema): readonly JsonSchema[] {
  const listed = Array.isArray(schema.anyOf) ? schema.anyOf : Array.isArray(schema.oneOf) ? schema.oneOf : []
  return listed.slice(0, 50).map(asSchema)
}

export type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null' | 'any'

/** What the value of a schema is; guessed from other keywords where no type is given. */
export function typeOf(schema: JsonSchema): TypeName {
  const types = [schema.type].flat()
  const named = types.find((type) => typeof type === 'string' && type !== 'null') ?? types[0]
  if (typeof named === 'string' && typeNames.has(named)) return named as TypeName
  if (schema.properties !== undefined || schema.required !== undefined) return 'object'
  if (schema.items !== undefined) return 'array'
  return 'any'
}
const typeNames = new Set<string>(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] satisfies TypeName[])

export const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : []

export const propertiesOf = (schema: JsonSchema): readonly (readonly [name: string, schema: JsonSchema])[] =>
  Object.entries(asSchema(schema.properties)).map(([name, value]) => [name, asSchema(value)] as const)

export function isOfType(value: Json, type: TypeName): boolean {
  switch (type) {
    case 'any':
      return true
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isPlainObject(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
