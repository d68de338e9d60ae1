import type { Json, JsonObject, JsonSchema } from '../../contracts/index.ts'
import { conforms, propertySchema } from './conforms.ts'
import { neutralNumber, neutralText } from './neutral-values.ts'
import { alternativesOf, asSchema, merged, namesIn, propertiesOf, typeOf } from './schema-view.ts'

/** The value that is known for a name and its schema, if any. */
export type Knowledge = (name: string, schema: JsonSchema) => Json | undefined

export const noKnowledge: Knowledge = () => undefined

interface Place {
  readonly root: JsonSchema
  readonly know: Knowledge
  readonly name: string
  readonly depth: number
  /** References on the way here, to end recursion. */
  readonly trail: readonly unknown[]
  readonly values: { left: number }
  readonly checks: { left: number }
}

const maxDepth = 250
const maxValues = 5_000
const maxChecks = 1_000_000
const maxItems = 200

/**
 * A value for a schema: known values, otherwise neutral ones. Optional properties only where they are known. It follows the
 * common keywords only: for other schemas the value can be invalid, as the answer of any model.
 */
export function fillSchema(schema: JsonSchema, know: Knowledge): Json {
  const budgets = { values: { left: maxValues }, checks: { left: maxChecks } }
  return fill(schema, { root: schema, know, name: '', depth: 0, trail: ['#'], ...budgets })
}

function fill(raw: JsonSchema, place: Place): Json {
  const { root, depth, trail, values } = place
  values.left -= 1
  if (depth > maxDepth || values.left < 0 || trail.includes(raw.$ref ?? '')) return null
  const known = knownValue(raw, place)
  if (known !== undefined) return known
  const schema = merged(raw, root)
  const here = { ...place, trail: [...trail, raw.$ref] }
  if (schema.const !== undefined) return schema.const as Json
  if (Array.isArray(schema.enum)) return (schema.enum[0] ?? null) as Json
  const alternatives = alternativesOf(schema)
  if (alternatives.length === 0) return fillType(schema, here)
  const { anyOf: _a, oneOf: _b, ...own } = schema
  const chosen = alternatives.find(({ $ref }) => $ref === undefined || !here.trail.includes($ref))
  if (!chosen) return null
  return fill(merged({ allOf: [own, chosen] }, root), { ...here, depth: depth + 1, trail: [...here.trail, chosen.$ref] })
}

function knownValue(schema: JsonSchema, { root, know, name, checks }: Place): Json | undefined {
  const value = know(name, merged(schema, root))
  return value !== undefined && conforms(value, schema, { root, budget: checks }) ? value : undefined
}

function fillType(schema: JsonSchema, place: Place): Json {
  switch (typeOf(schema)) {
    case 'object':
      return fillObject(schema, place)
    case 'array': {
      const length = Math.min(Number(schema.minItems ?? 0), maxItems)
      return Array.from({ length }, () => fill(asSchema(schema.items), inside(place, '')))
    }
    case 'number':
    case 'integer':
      return neutralNumber(schema)
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return neutralText(schema)
  }
}

function fillObject(schema: JsonSchema, place: Place): JsonObject {
  const required = namesIn(schema.required)
  const present = propertiesOf(schema).flatMap(([name, each]) =>
    required.includes(name) || knownValue(each, inside(place, name)) !== undefined ? [name] : [],
  )
  const names = new Set([...present, ...required])
  return Object.fromEntries([...names].map((name) => [name, fill(asSchema(propertySchema(name, schema)), inside(place, name))]))
}

const inside = (place: Place, name: string): Place => ({ ...place, name, depth: place.depth + 1 })
