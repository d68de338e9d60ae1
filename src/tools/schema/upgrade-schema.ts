import type { JsonSchema } from '../../contracts/index.ts'
import { checkSchema } from '../../util/json-schema/check-schema.ts'
import { keywordShape, misspeltKeyword } from '../../util/json-schema/schema-keywords.ts'
import { checkKeywordValue, isPlainObject, type SchemaObject } from '../../util/json-schema/schema-values.ts'
import { SchemaAddresses } from './schema-addresses.ts'
import { draftOf, isAnnotation, readKeywords, type SchemaDraft } from './schema-drafts.ts'

/**
 * A schema of any draft, written by strangers, as JSON Schema 2020-12 that can be checked.
 *
 * 1. `$schema` decides how it is read: draft-04 to 2020-12. Without it, shapes of older drafts are still recognised.
 * 2. A keyword or pattern that cannot be checked is skipped; the rest applies. A value that the schema allows is never refused:
 *    where a skipped keyword would make the schema stricter (`not`, `if`, `oneOf`), that one is relaxed, too.
 * 3. Every reference leads to `#` or `#/$defs/NAME`. There are no ids and anchors.
 *
 * A schema that says that it is 2020-12, and can be checked, stays as it is: its keywords mean something to models and people.
 * The result can still be too large or too deep: `checkSchema` finds that.
 */
export function upgradeSchema(schema: SchemaObject): JsonSchema {
  if (schema.$schema === current && checkSchema(schema, '').length === 0) return schema as JsonSchema
  return new SchemaUpgrade(schema, draftOf(schema)).run()
}

const current = 'https://json-schema.org/draft/2020-12/schema'

// Deeper and larger schemas are refused by `checkSchema`; the rest of them stays as it is.
const maxDepth = 250
const maxNodes = 20_000

class SchemaUpgrade {
  readonly #root: SchemaObject
  readonly #draft: SchemaDraft
  readonly #addresses: SchemaAddresses
  /** Schemas that accept more than they say, because something was skipped. */
  readonly #relaxed = new Set<SchemaObject>()
  /** The schemas that contain a schema or refer to it. */
  readonly #users = new Map<SchemaObject, Set<SchemaObject>>()
  readonly #names = new Map<SchemaObject, string>()
  readonly #usedNames = new Set<string>()
  readonly #hasUnevaluatedItems: boolean
  #left = 0

  constructor(schema: SchemaObject, draft: SchemaDraft) {
    this.#draft = draft
    this.#addresses = new SchemaAddresses(schema, draft)
    this.#hasUnevaluatedItems = JSON.stringify(schema).includes('"unevaluatedItems"')
    this.#root = this.#withoutEnvelope(schema)
  }

  run(): JsonSchema {
    const upgraded = this.#all()
    // What refers to a schema may have been read before something in it was skipped.
    return this.#relaxed.size === 0 ? upgraded : this.#all()
  }

  #all(): JsonSchema {
    this.#left = maxNodes
    this.#names.clear()
    this.#usedNames.clear()
    const upgraded = this.#schema(this.#root, 0)
    const definitions: [string, JsonSchema][] = []
    // Grows meanwhile.
    for (const [target, name] of this.#names) definitions.push([name, this.#schema(target, 1)])
    return definitions.length === 0 ? upgraded : { ...upgraded, $defs: Object.fromEntries(definitions) }
  }

  /** Generators like to write a reference to a definition, and nothing else. */
  #withoutEnvelope(schema: SchemaObject): SchemaObject {
    const { $ref, ...others } = readKeywords(schema, this.#draft)
    const target = typeof $ref === 'string' ? this.#addresses.find($ref, schema) : undefined
    const isEnvelope = Object.keys(others).every((keyword) => keyword.startsWith('$') || keyword === 'definitions' || isAnnotation(keyword))
    return target !== undefined && isEnvelope ? this.#withoutEnvelope(target) : schema
  }

  #schema(schema: SchemaObject, depth: number): JsonSchema {
    const written = readKeywords(schema, this.#draft)
    this.#left -= 1
    if (depth > maxDepth || this.#left < 0) return written
    const result: Record<string, unknown> = {}
    for (const [keyword, value] of Object.entries(written)) {
      const upgraded = this.#keyword(keyword, value, { schema, depth })
      if (upgraded === undefined) continue
      result[references.includes(keyword) ? '$ref' : keyword] = upgraded
    }
    if (this.#relaxed.has(schema)) this.#relax(result, written)
    return this.#forModels(result)
  }

  /** `undefined`: it is skipped. */
  #keyword(keyword: string, value: unknown, at: { readonly schema: SchemaObject; readonly depth: number }): unknown {
    if (references.includes(keyword)) return this.#reference(keyword, value, at.schema)
    const shape = keywordShape(keyword)
    // Annotations stay. The library knows some of the others, such as `$async`.
    if (shape === undefined) return keyword.startsWith('$') || misspeltKeyword(keyword) !== undefined ? undefined : value
    // References lead to what they need.
    if (keyword.startsWith('$') || keyword === 'definitions') return undefined
    const child = (each: unknown): JsonSchema | boolean => {
      if (typeof each === 'boolean') return each
      this.#use(each, at.schema)
      return isPlainObject(each) ? this.#schema(each, at.depth + 1) : true
    }
    const isMap = isPlainObject(value) && ['schema map', 'pattern map', 'dependencies'].includes(shape)
    if (!isMap && checkKeywordValue(shape, value, { place: '', keyword }).length > 0) {
      if (shape !== 'text' && shape !== 'list') this.#markRelaxed(at.schema)
      return undefined
    }
    if (isMap)
      return Object.fromEntries(
        Object.entries(value).map(([name, each]): [string, unknown] => {
          if (shape === 'dependencies' && Array.isArray(each)) return [name, each]
          if (shape !== 'pattern map' || isPattern(name)) return [name, child(each)]
          // Matches any name, so that no other keyword refuses the names that the pattern would match.
          this.#markRelaxed(at.schema)
          return ['', true]
        }),
      )
    if (shape === 'schemas') return (value as readonly unknown[]).map(child)
    return shape === 'schema' ? child(value) : value
  }

  #reference(keyword: string, value: unknown, schema: SchemaObject): string | undefined {
    // With several ids, where the others lead depends on what refers to them.
    const isKnown = keyword === '$ref' || (schema.$ref === undefined && !this.#addresses.hasParts)
    const target = isKnown && typeof value === 'string' ? this.#addresses.find(value, schema) : undefined
    this.#use(target, schema)
    if (target === undefined) return undefined
    if (target === this.#root) return '#'
    const name = this.#names.get(target) ?? this.#newName(String(value))
    this.#names.set(target, name)
    return `#/$defs/${name}`
  }

  #newName(reference: string): string {
    const [wanted = 'schema'] = /[\w.-]+$/.exec(reference) ?? []
    let name = wanted
    for (let count = 2; this.#usedNames.has(name); count++) name = `${wanted}_${count}`
    this.#usedNames.add(name)
    return name
  }

  /** `part`: what a schema contains or refers to; anything but a schema cannot be checked. */
  #use(part: unknown, user: SchemaObject): void {
    if (!isPlainObject(part) || this.#relaxed.has(part)) this.#markRelaxed(user)
    else this.#users.set(part, (this.#users.get(part) ?? new Set()).add(user))
  }

  #markRelaxed(schema: SchemaObject): void {
    const waiting = [schema]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (this.#relaxed.has(next)) continue
      this.#relaxed.add(next)
      waiting.push(...(this.#users.get(next) ?? []))
    }
  }

  /** Nothing that a skipped keyword would have allowed may be refused. */
  #relax(result: Record<string, unknown>, written: SchemaObject): void {
    const isRelaxed = (each: unknown): boolean => (isPlainObject(each) ? this.#relaxed.has(each) : typeof each !== 'boolean')
    const { not, if: condition, oneOf, contains } = written
    if (not !== undefined && isRelaxed(not)) delete result.not
    if (condition !== undefined && isRelaxed(condition)) for (const keyword of ['if', 'then', 'else']) delete result[keyword]
    if (contains !== undefined && isRelaxed(contains)) delete result.maxContains
    if (Array.isArray(oneOf) && oneOf.some(isRelaxed)) {
      result.anyOf ??= result.oneOf
      delete result.oneOf
    }
    delete result.unevaluatedProperties
    delete result.unevaluatedItems
  }

  /** The same schema as providers accept it, and as `checkSchema` does. */
  #forModels(schema: Record<string, unknown>): JsonSchema {
    const { type, nullable, prefixItems, items, required, properties } = schema
    delete schema.nullable
    if (nullable === true && type !== undefined) schema.type = [...new Set([type, 'null'].flat())]
    if (Array.isArray(prefixItems) && items === false) {
      const { maxItems } = schema
      schema.maxItems = Math.min(prefixItems.length, typeof maxItems === 'number' ? maxItems : prefixItems.length)
      delete schema.items
    }
    // OpenAI refuses arrays without `items`.
    if (!this.#hasUnevaluatedItems && (prefixItems !== undefined || [type].flat().includes('array'))) schema.items ??= {}
    if (Array.isArray(required) && isPlainObject(properties)) {
      const undeclared = required.filter((name) => typeof name === 'string' && !Object.hasOwn(properties, name))
      schema.properties = { ...properties, ...Object.fromEntries(undeclared.map((name) => [name, {}])) }
    }
    return schema
  }
}

const references = ['$ref', '$dynamicRef', '$recursiveRef']

function isPattern(text: string): boolean {
  return checkKeywordValue('pattern', text, { place: '', keyword: 'pattern' }).length === 0
}
