import type { JsonSchema } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'

// Each schema mode supports a part of JSON Schema and refuses requests with other keywords. These functions check that before the
// request.

type Schema = { readonly [keyword: string]: unknown }

interface Shape {
  readonly keywords: ReadonlySet<string>
  /** A further condition for each schema. */
  fits(schema: Schema, depth: number): boolean
}

const annotations = ['title', 'description'] as const
const structure = ['type', 'properties', 'required', 'items', 'enum', 'const', 'anyOf', '$ref', '$defs'] as const

const strictKeywords = [
  ...annotations,
  ...structure,
  ...['additionalProperties', 'pattern', 'format', 'multipleOf', 'minItems', 'maxItems', '$schema'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'definitions'],
]
const strictFormats: readonly unknown[] = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']
const strictDepth = 5
const strictProperties = 100

/** Whether OpenAI's strict mode accepts the schema: closed objects, every property required. */
export function fitsStrictMode(schema: JsonSchema): boolean {
  const shape: Shape = {
    keywords: new Set(strictKeywords),
    fits: (part, depth) =>
      depth <= strictDepth * 2 &&
      isClosed(part) &&
      optionalProperties(part) === 0 &&
      (part.pattern === undefined || !/\(\?<?[=!]/.test(String(part.pattern))) &&
      (part.format === undefined || strictFormats.includes(part.format)),
  }
  return isPlainObject(schema) && fits(schema, shape) && countProperties(schema) <= strictProperties
}

/** Whether OpenAI's schema mode accepts the schema: the answer is always an object. */
export const fitsLooseMode = (schema: JsonSchema): boolean => isPlainObject(schema) && !mentions(schema, 'propertyNames')

const anthropicOptional = 10

/** Whether Anthropic's schema mode accepts the schema without loss: it closes all objects, and knows no recursion. */
export function fitsAnthropicMode(schema: JsonSchema): boolean {
  if (!isPlainObject(schema) || mentions(schema, '$ref')) return false
  let optional = 0
  const shape: Shape = {
    keywords: new Set([...strictKeywords, 'oneOf', 'default', 'minLength', 'maxLength', 'uniqueItems', 'examples']),
    fits: (part) => {
      optional += optionalProperties(part)
      return part.additionalProperties === undefined ? !isObject(part) || isRecord(part.properties) : part.additionalProperties === false
    },
  }
  return fits(schema, shape) && optional <= anthropicOptional
}

/** Whether Gemini's schema mode takes it. */
export function fitsGeminiMode(schema: JsonSchema): boolean {
  const more = ['additionalProperties', 'format', 'minimum', 'maximum', 'minItems', 'maxItems', 'oneOf', 'prefixItems']
  const shape: Shape = {
    keywords: new Set([...annotations, ...structure, ...more]),
    fits: (part) => part.$ref === undefined,
  }
  return isPlainObject(schema) && fits(schema, shape)
}

function fits(schema: unknown, shape: Shape, depth = 0): boolean {
  if (!isRecord(schema)) return false
  if (!Object.keys(schema).every((keyword) => shape.keywords.has(keyword))) return false
  if (typeof schema.$ref === 'string' && !schema.$ref.startsWith('#')) return false
  return shape.fits(schema, depth) && parts(schema).every((part) => fits(part, shape, depth + 1))
}

/** The direct subschemas. */
function parts(schema: Schema): readonly unknown[] {
  const { items, anyOf, oneOf, prefixItems, properties, $defs, definitions, additionalProperties } = schema
  const lists = [anyOf, oneOf, prefixItems].flatMap((list) => (Array.isArray(list) ? list : []))
  const maps = [properties, $defs, definitions].flatMap((map) => (isRecord(map) ? Object.values(map) : []))
  const one = [items, additionalProperties].filter((part) => part !== undefined && typeof part !== 'boolean')
  return [...lists, ...maps, ...one]
}

const isPlainObject = (schema: Schema): boolean => schema.type === 'object' && schema.anyOf === undefined && schema.oneOf === undefined

const isClosed = (schema: Schema): boolean => !isObject(schema) || (schema.additionalProperties === false && isRecord(schema.properties))

const isObject = ({ type, properties }: Schema): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object')) || properties !== undefined

function optionalProperties({ properties, required }: Schema): number {
  if (!isRecord(properties)) return 0
  const demanded: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.keys(properties).filter((name) => !demanded.includes(name)).length
}

function countProperties(schema: unknown): number {
  if (!isRecord(schema)) return 0
  const own = isRecord(schema.properties) ? Object.keys(schema.properties).length : 0
  return parts(schema).reduce<number>((sum, part) => sum + countProperties(part), own)
}

/** Whether it contains a keyword anywhere. A property of that name matches, too, which does no harm. */
function mentions(value: unknown, keyword: string): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => key === keyword || mentions(inner, keyword))
}
