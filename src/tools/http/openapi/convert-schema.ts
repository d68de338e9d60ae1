import type { JsonSchema } from '../../../contracts/index.ts'
import { isRecord } from '../../../util/is-record.ts'
import { type OpenApiDocument, valueAt } from './read-document.ts'

/** Far beyond real schemas. Deeper or larger parts accept anything. */
const maxDepth = 40
const maxNodes = 2_000
/** For all operations together: a few seconds. */
const maxDocumentNodes = 200_000
const maxDescription = 500

/** Keywords of JSON Schema that models can use. Others, such as `example` and `xml`, are dropped. */
const plain = [
  ...['title', 'enum', 'const', 'default', 'format', 'pattern', 'multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'required', 'type'],
]
const single = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else']
const listed = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const mapped = ['properties', 'patternProperties']

/** What all operations of a document have used. */
export interface SchemaTotal {
  nodes: number
}

/**
 * Converts schemas of one operation to JSON Schema. Referenced schemas become `$defs`, so that recursive ones stay finite.
 * Parts beyond the limits are cut: they accept anything.
 */
export class SchemaConverter {
  readonly #document: OpenApiDocument
  readonly #defs = new Map<string, JsonSchema>()
  readonly #names = new Map<string, string>()
  readonly #total: SchemaTotal
  #nodes = 0
  isCut = false

  constructor(document: OpenApiDocument, total: SchemaTotal) {
    this.#document = document
    this.#total = total
  }

  /** `undefined` if there are none. */
  get defs(): { readonly [name: string]: JsonSchema } | undefined {
    return this.#defs.size === 0 ? undefined : Object.fromEntries(this.#defs)
  }

  /** @throws Error if a reference cannot be followed. */
  convert(schema: unknown, depth = 0): JsonSchema {
    if (schema === false) return { not: {} }
    if (!isRecord(schema)) return {}
    if (depth > maxDepth || ++this.#nodes > maxNodes || ++this.#total.nodes > maxDocumentNodes) {
      this.isCut = true
      return {}
    }
    if (typeof schema.$ref === 'string') return this.#reference(schema.$ref, schema, depth)
    const converted: Record<string, unknown> = {}
    for (const key of plain) if (isUsable(key, schema[key])) converted[key] = schema[key]
    if (typeof schema.description === 'string') converted.description = schema.description.slice(0, maxDescription)
    for (const key of single) if (schema[key] !== undefined) converted[key] = this.#inner(schema[key], depth)
    for (const key of listed)
      if (Array.isArray(schema[key]) && schema[key].length > 0) converted[key] = schema[key].map((each) => this.#inner(each, depth))
    for (const key of mapped) {
      const inner = schema[key]
      // What the server alone sets is no input.
      if (isRecord(inner))
        converted[key] = Object.fromEntries(
          Object.entries(inner).flatMap(([name, each]) =>
            isRecord(each) && each.readOnly === true ? [] : [[name, this.#inner(each, depth)]],
          ),
        )
    }
    return withoutOldForms(converted, schema)
  }

  #inner(schema: unknown, depth: number): JsonSchema | boolean {
    return typeof schema === 'boolean' ? schema : this.convert(schema, depth + 1)
  }

  #reference(reference: string, { description }: { readonly [key: string]: unknown }, depth: number): JsonSchema {
    let name = this.#names.get(reference)
    if (name === undefined) {
      const wanted = (reference.split('/').at(-1) ?? '').replaceAll(/[^\w-]/g, '_') || 'schema'
      name = wanted
      for (let n = 2; this.#defs.has(name); n++) name = `${wanted}_${n}`
      this.#names.set(reference, name)
      // Known before it is converted: it may contain itself.
      this.#defs.set(name, {})
      this.#defs.set(name, this.convert(valueAt(this.#document, reference), depth + 1))
    }
    return { $ref: `#/$defs/${name}`, ...(typeof description === 'string' && { description: description.slice(0, maxDescription) }) }
  }
}

const maxEntries = 200
const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null

/** Whether a keyword has a value of bounded size. A pattern of another regular expression language is not usable. */
function isUsable(key: string, value: unknown): boolean {
  if (value === undefined) return false
  if (Array.isArray(value)) return value.length <= maxEntries && value.every(isScalar)
  if (key === 'pattern') return typeof value === 'string' && value.length <= 500 && isPattern(value)
  return isScalar(value)
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** OpenAPI 3.0 has `nullable`, and booleans for exclusive limits. Properties that were dropped are not required. */
function withoutOldForms(converted: Record<string, unknown>, { nullable, ...schema }: { readonly [key: string]: unknown }): JsonSchema {
  for (const [flag, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof converted[flag] !== 'boolean') continue
    if (converted[flag] && typeof schema[limit] === 'number') {
      converted[flag] = schema[limit]
      delete converted[limit]
    } else delete converted[flag]
  }
  if (nullable === true && typeof converted.type === 'string') converted.type = [converted.type, 'null']
  if (nullable === true && Array.isArray(converted.enum) && !converted.enum.includes(null)) converted.enum = [...converted.enum, null]
  if (Array.isArray(converted.required)) {
    const { properties } = converted
    const gone = (name: unknown): boolean =>
      isRecord(schema.properties) &&
      isRecord(properties) &&
      Object.hasOwn(schema.properties, String(name)) &&
      !Object.hasOwn(properties, String(name))
    const required = converted.required.filter((name: unknown) => typeof name === 'string' && !gone(name))
    if (required.length > 0) converted.required = [...new Set(required)]
    else delete converted.required
  } else delete converted.required
  return converted
}
