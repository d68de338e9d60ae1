import type { Problem } from '../../contracts/index.ts'
import { nearestNames } from '../nearest-names.ts'
import { showValue } from '../show-value.ts'
import { ofSameValue, SchemaLooks } from './checked-schemas.ts'
import { keywordShape, misspeltKeyword } from './schema-keywords.ts'
import { References } from './schema-references.ts'
import { checkKeywordValue, isPlainObject, pointerPart, type SchemaObject } from './schema-values.ts'

/**
 * Everything that is wrong with a JSON Schema, found without any library: at load nothing has been called yet, and
 * most tools of a run never are. Ends on anything, also on what refers to itself. The input of a tool is an `object`.
 */
export function checkSchema(schema: unknown, place: string, root: 'object' | 'any' = 'object'): readonly Problem[] {
  if (!isPlainObject(schema)) return [notASchema(schema, place)]
  const check = new SchemaCheck(schema, place)
  if (root === 'object') check.rootType(schema, place)
  check.root(schema, place)
  return check.problems
}

// Real schemas stay far below; the second one also ends the walk over objects that share their parts. To compile a schema
// takes up to a millisecond for each of its nodes.
const mostDepth = 200
const mostNodes = 10_000
/** Of one value. */
const mostLooks = 10_000
/** Nobody reads more of the same, and names are compared with each other. */
const mostSlips = 20
const mostComparedNames = 300
const mostComparisons = 50_000

/** Applied to the same value as the schema around them, so what one of them requires another may declare. */
const inPlace = new Set([...ofSameValue, '$defs', 'definitions'])

interface Position {
  readonly place: string
  readonly depth: number
  /** The nearest schema around with an id of its own: what `#` means here. */
  readonly resource: SchemaObject
  /** Nothing outside of this schema speaks about the same value. */
  readonly isAlone: boolean
}

class SchemaCheck {
  readonly problems: Problem[] = []
  readonly #inside = new Set<object>()
  readonly #references: References
  readonly #rootPlace: string
  #left = mostNodes
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
    if (this.problems.length === 0) this.#looks(place)
  }

  /** Only references make it much: without them there is as much to look at as stands there. */
  #looks(place: string): void {
    const targets = this.#references.targets()
    if (targets.size === 0) return
    const looks = new SchemaLooks(targets)
    for (const schema of this.#references.met) {
      if (looks.of(schema) <= mostLooks) continue
      this.problems.push({
        place,
        message: `expected at most ${mostLooks} subschemas for one value, found more by way of "$ref"`,
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

  /** Why this one is not walked into. */
  #refusal(schema: unknown, { place, depth }: Position): Problem | undefined {
    if (!isPlainObject(schema)) return notASchema(schema, place)
    if (this.#inside.has(schema)) return { place, message: 'this object contains itself', remedy: 'say it with "$ref": "#/$defs/…"' }
    if (depth > mostDepth) return { place, message: `schemas are nested more than ${mostDepth} deep` }
    return undefined
  }

  /** Said once: whatever comes after is not looked at. */
  #mayHave(nodes: number): boolean {
    if (this.#left < 0) return false
    this.#left -= nodes
    if (this.#left >= 0) return true
    this.problems.push({
      place: this.#rootPlace,
      message: `expected at most ${mostNodes} keywords, names and subschemas in a schema, found more`,
      remedy:
        'describe less of the value, or take parts of it as plain text; what stands in "enum", "const", "default" and "examples" does not count',
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

  /** A required name that nothing declares, but that is near to one that is, is a slip. Only said where nothing else could declare it. */
  #requiredExist(schema: SchemaObject, place: string): void {
    const { required, properties } = schema
    if (!Array.isArray(required) || !isPlainObject(properties) || mayDeclareMore(schema)) return
    const names = Object.keys(properties).slice(0, mostComparedNames)
    for (const [index, name] of required.entries()) {
      if (this.#slips >= mostSlips || this.#comparisons > mostComparisons) return
      if (typeof name !== 'string' || Object.hasOwn(properties, name)) continue
      this.#comparisons += names.length
      const [near] = nearestNames(name, names, 1)
      // A name that is near none is legal: it may be meant.
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

/** A keyword, and what it lists for the value to be held against. Of values that are given as such the number does not matter. */
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

/** Left out is not open: nobody wrote that there may be more. */
const isOpen = (extra: unknown): boolean => extra !== undefined && extra !== false

function notASchema(value: unknown, place: string): Problem {
  const message = `expected a JSON Schema, found ${foundInstead(value)}`
  const isInstance = typeof value === 'function' || (typeof value === 'object' && value !== null && !Array.isArray(value))
  return isInstance
    ? { place, message, remedy: 'give plain JSON; schema libraries can convert theirs, e.g. z.toJSONSchema(schema)' }
    : { place, message }
}

function foundInstead(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return showValue(value)
  return `an instance of ${value.constructor?.name || 'a class'}`
}
