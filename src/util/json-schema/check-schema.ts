import type { Problem } from '../../contracts/index.ts'
import { isRecord } from '../is-record.ts'
import { nearestNames } from '../nearest-names.ts'
import { showValue } from '../show-value.ts'
import { keywordShape, misspeltKeyword } from './schema-keywords.ts'
import { References } from './schema-references.ts'
import { checkKeywordValue, isPlainObject, pointerPart, type SchemaObject } from './schema-values.ts'

/** Without a library, which is loaded with the first call only. Terminates on any value. The input of a tool is an `object`. */
export function checkSchema(schema: unknown, place: string, root: 'object' | 'any' = 'object'): readonly Problem[] {
  if (!isPlainObject(schema)) return [notASchema(schema, place)]
  const check = new SchemaCheck(schema, place)
  if (root === 'object') check.rootType(schema, place)
  check.root(schema, place)
  return check.problems
}

// Far beyond real schemas. Compiling takes up to a millisecond for each node.
const maxDepth = 200
const maxNodes = 10_000
/** Subschemas that check the same value. */
const maxChecks = 10_000
/** Bounds the messages and the comparisons of names. */
const maxSlips = 20
const maxComparedNames = 300
const maxComparisons = 50_000

/** Keywords whose schemas check the same value as the schema that contains them: one, a list or a map of schemas. */
const single = ['not', 'if', 'then', 'else']
const listed = ['allOf', 'anyOf', 'oneOf']
const mapped = ['dependentSchemas', 'dependencies']
const ofSameValue: readonly string[] = [...single, ...listed, ...mapped]

/** Keywords whose schemas check the same value: what one requires, another may declare. */
const inPlace = new Set([...ofSameValue, '$defs', 'definitions'])

interface Position {
  readonly place: string
  readonly depth: number
  /** The nearest enclosing schema with an id: what `#` refers to. */
  readonly resource: SchemaObject
  /** No other schema checks the same value. */
  readonly isAlone: boolean
}

class SchemaCheck {
  readonly problems: Problem[] = []
  readonly #inside = new Set<object>()
  readonly #references: References
  readonly #rootPlace: string
  #left = maxNodes
  #slips = 0
  #comparisons = 0

  constructor(root: SchemaObject, place: string) {
    this.#references = new References(root)
    this.#rootPlace = place
  }

  root(schema: SchemaObject, place: string): void {
    this.#schema(schema, { place, depth: 0, resource: schema, isAlone: true })
    for (let target = this.#references.nextUnseen(); target !== undefined; target = this.#references.nextUnseen()) {
      this.#schema(target.schema, { place: `${place}/${target.pointer}`, depth: 0, resource: target.resource, isAlone: false })
    }
    this.problems.push(...this.#references.problems())
    if (this.problems.length === 0) this.#countChecks(place)
  }

  /** Only references can multiply the checks of a value. */
  #countChecks(place: string): void {
    const targets = this.#references.targets()
    if (targets.size === 0) return
    const counter = new CheckCounter(targets)
    for (const schema of this.#references.met) {
      if (counter.of(schema) <= maxChecks) continue
      this.problems.push({
        place,
        message: `expected at most ${maxChecks} subschemas for one value, found more by way of "$ref"`,
        remedy: 'refer to a schema from fewer places of "allOf", "anyOf" and the like, and to none that refers back for the same value',
      })
      return
    }
  }

  rootType(schema: SchemaObject, place: string): void {
    const { type, properties } = schema
    if (type === 'object' || (type === undefined && properties !== undefined)) return
    if (type === undefined) {
      this.problems.push({ place, message: 'expected "type": "object" at the root, found no type', remedy: 'add "type": "object"' })
    } else if (isTypeName(type)) {
      this.problems.push({
        place: `${place}/type`,
        message: `expected "object" at the root, found ${showValue(type)}`,
        remedy: 'put the value into a property of an object',
      })
    }
  }

  #schema(schema: unknown, position: Position): void {
    if (schema === true || schema === false || this.#left < 0) return
    const refusal = this.#refusal(schema, position)
    if (refusal !== undefined) this.problems.push(refusal)
    if (refusal !== undefined || !isPlainObject(schema)) return
    const { place } = position
    this.#inside.add(schema)
    const resource = typeof schema.$id === 'string' && !schema.$id.startsWith('#') ? schema : position.resource
    this.#references.meet(schema, { place, resource })
    for (const keyword of Object.keys(schema)) {
      if (!this.#mayHave(nodesOf(keyword, schema[keyword]))) break
      this.#keyword(schema, keyword, { ...position, resource })
    }
    if (position.isAlone) this.#requiredExist(schema, place)
    this.#inside.delete(schema)
  }

  #refusal(schema: unknown, { place, depth }: Position): Problem | undefined {
    if (!isPlainObject(schema)) return notASchema(schema, place)
    if (this.#inside.has(schema)) return { place, message: 'this object contains itself', remedy: 'use "$ref": "#/$defs/…"' }
    if (depth > maxDepth) return { place, message: `schemas are nested more than ${maxDepth} deep` }
    return undefined
  }

  /** Reported once; the rest is not checked. */
  #mayHave(nodes: number): boolean {
    if (this.#left < 0) return false
    this.#left -= nodes
    if (this.#left >= 0) return true
    this.problems.push({
      place: this.#rootPlace,
      message: `expected at most ${maxNodes} keywords, names and subschemas in a schema, found more`,
      remedy:
        'describe less of the value, or take parts of it as plain text; values in "enum", "const", "default" and "examples" do not count',
    })
    return false
  }

  #keyword(schema: SchemaObject, keyword: string, position: Position): void {
    const value = schema[keyword]
    if (value === undefined) return
    const place = `${position.place}/${pointerPart(keyword)}`
    const shape = keywordShape(keyword)
    if (shape === undefined) {
      const meant = misspeltKeyword(keyword)
      if (meant !== undefined) this.problems.push({ place, message: `unknown keyword "${keyword}"`, remedy: `did you mean "${meant}"?` })
      return
    }
    const problems = checkKeywordValue(shape, value, { place, keyword })
    this.problems.push(...problems)
    const inner = { place, depth: position.depth + 1, resource: position.resource, isAlone: !inPlace.has(keyword) }
    if (shape === 'schema') {
      if (problems.length === 0) this.#schema(value, inner)
    } else if (shape === 'schemas') {
      if (Array.isArray(value)) for (const [index, each] of value.entries()) this.#schema(each, { ...inner, place: `${place}/${index}` })
    } else if (shape === 'schema map' || shape === 'pattern map' || shape === 'dependencies') {
      this.#map(value, shape, inner)
    }
  }

  #map(value: unknown, shape: 'schema map' | 'pattern map' | 'dependencies', inner: Position): void {
    if (!isPlainObject(value)) return
    for (const [name, each] of Object.entries(value)) {
      if (each === undefined || (shape === 'dependencies' && Array.isArray(each))) continue
      this.#schema(each, { ...inner, place: `${inner.place}/${pointerPart(name)}` })
    }
  }

  /** Reports a required name that is not declared but resembles a declared one, unless another schema could declare it. */
  #requiredExist(schema: SchemaObject, place: string): void {
    const { required, properties } = schema
    if (!Array.isArray(required) || !isPlainObject(properties) || mayDeclareMore(schema)) return
    const names = Object.keys(properties).slice(0, maxComparedNames)
    for (const [index, name] of required.entries()) {
      if (this.#slips >= maxSlips || this.#comparisons > maxComparisons) return
      if (typeof name !== 'string' || Object.hasOwn(properties, name)) continue
      this.#comparisons += names.length
      const [near] = nearestNames(name, names, 1)
      // Without a similar name it may be intended.
      if (near === undefined) continue
      this.#slips += 1
      this.problems.push({
        place: `${place}/required/${index}`,
        message: `expected the name of a property, found ${showValue(name)}`,
        remedy: `did you mean "${near}"?`,
      })
    }
  }
}

/** A keyword and its entries count as nodes; entries of `enum` and the like do not. */
function nodesOf(keyword: string, value: unknown): number {
  const shape = keywordShape(keyword)
  if (shape === undefined || shape === 'enum' || shape === 'any' || shape === 'list') return 1
  if (shape !== 'names map' && shape !== 'dependencies') return 1 + entriesOf(value).length
  return entriesOf(value).reduce((sum: number, each) => sum + 1 + (Array.isArray(each) ? each.length : 0), 1)
}

function entriesOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isPlainObject(value) ? Object.values(value) : []
}

const isTypeName = (type: unknown): boolean => checkKeywordValue('type', type, { place: '', keyword: 'type' }).length === 0

const declaring = [
  'allOf',
  'anyOf',
  'oneOf',
  '$ref',
  '$dynamicRef',
  'if',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
  'propertyNames',
]

const mayDeclareMore = ({ additionalProperties, unevaluatedProperties, ...schema }: SchemaObject): boolean =>
  declaring.some((keyword) => schema[keyword] !== undefined) || isOpen(additionalProperties) || isOpen(unevaluatedProperties)

const isOpen = (extra: unknown): boolean => extra !== undefined && extra !== false

function notASchema(value: unknown, place: string): Problem {
  const message = `expected a JSON Schema, found ${foundInstead(value)}`
  const isInstance = typeof value === 'function' || isRecord(value)
  return isInstance
    ? { place, message, remedy: 'give plain JSON; schema libraries can convert theirs, e.g. z.toJSONSchema(schema)' }
    : { place, message }
}

function foundInstead(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return showValue(value)
  return `an instance of ${value.constructor?.name || 'a class'}`
}

const maxCountedDepth = 500

/** Counts how many subschemas check one value: a few that each refer to the next twice make millions. `targets`: by schema. */
class CheckCounter {
  readonly #targets: ReadonlyMap<SchemaObject, readonly SchemaObject[]>
  readonly #counted = new Map<SchemaObject, number>()

  constructor(targets: ReadonlyMap<SchemaObject, readonly SchemaObject[]>) {
    this.#targets = targets
  }

  /** Infinite for a schema that refers back to itself for the same value. */
  of(schema: unknown, depth = 0): number {
    if (!isPlainObject(schema)) return 1
    const known = this.#counted.get(schema)
    if (known !== undefined) return known
    if (depth > maxCountedDepth) return Number.POSITIVE_INFINITY
    this.#counted.set(schema, Number.POSITIVE_INFINITY)
    const parts = [
      ...single.map((keyword) => schema[keyword]).filter(isPlainObject),
      ...listed.flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : [])),
      ...mapped.flatMap((keyword) => (isPlainObject(schema[keyword]) ? Object.values(schema[keyword]) : [])),
      ...(this.#targets.get(schema) ?? []),
    ]
    const checks = parts.reduce((sum: number, part) => sum + this.of(part, depth + 1), 1)
    this.#counted.set(schema, checks)
    return checks
  }
}
