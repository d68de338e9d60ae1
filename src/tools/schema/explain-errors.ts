import type { ErrorObject } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../../contracts/index.ts'
import { joinNames } from '../../util/join-names.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { plural } from '../../util/plural.ts'
import { showValue } from '../../util/show-value.ts'
import { pathKeys } from './coerce-value.ts'
import { describeSchema, shortened } from './describe-schema.ts'
import type { GroupedError } from './group-errors.ts'
import { propertiesIn } from './reachable-schemas.ts'

const mostProblems = 10
const mostNames = 20

/** Errors as sentences for a model: each has the path, the expected value and the actual one. */
export function explainErrors(errors: readonly GroupedError[], value: unknown, schema: JsonSchema): readonly string[] {
  const problems = [...new Set(errors.map(({ error }) => sentence(error, value, schema)))]
  const more = problems.length - mostProblems
  return more > 0 ? [...problems.slice(0, mostProblems), `and ${more} more`] : problems
}

function sentence(error: ErrorObject, value: unknown, schema: JsonSchema): string {
  const path = readablePath(error.instancePath, value)
  const aboutObject = objectSentence(error, schema)
  if (aboutObject !== undefined) return path === '' ? aboutObject : `${path}: ${aboutObject}`
  const place = path === '' ? 'input' : path
  return `${error.propertyName === undefined ? place : `name of a property of ${place}`}: ${valueSentence(error, schema)}`
}

/** Errors about which properties an object has; they read well without naming the root. */
function objectSentence({ keyword, params, parentSchema }: ErrorObject, root: JsonSchema): string | undefined {
  const properties = (parentSchema?.properties ?? {}) as { readonly [name: string]: unknown }
  switch (keyword) {
    case 'required':
      return missing(params.missingProperty, properties, root)
    case 'dependentRequired':
    case 'dependencies':
      return `missing ${showValue(params.missingProperty)}, which is required together with ${showValue(params.property)}`
    case 'additionalProperties':
      return unknownProperty(params.additionalProperty, { schema: parentSchema ?? {}, allowed: Object.keys(properties) })
    case 'unevaluatedProperties':
      return unevaluatedProperty(params.unevaluatedProperty, parentSchema ?? {}, root)
    default:
      return undefined
  }
}

function missing(name: string, properties: { readonly [name: string]: unknown }, root: JsonSchema): string {
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined
  const text = `missing required ${showValue(name)}`
  if (typeof property !== 'object' || property === null) return text
  const kind = describeSchema(property, root)
  const about =
    'description' in property && typeof property.description === 'string' ? `: ${shortened(property.description.trim(), 100)}` : ''
  return `${text} (${kind}${about})`
}

/** Other schemas may allow it for the same object, but none that applies here. */
function unevaluatedProperty(name: string, schema: JsonSchema, root: JsonSchema): string {
  const known = propertiesIn(schema, root)
  const allowed = [...known].filter((each) => each !== name)
  if (!known.has(name)) return unknownProperty(name, { schema, allowed })
  return `property ${showValue(name)} is not allowed together with the other values. Remove it, or change them`
}

function unknownProperty(name: string, { schema, allowed }: { readonly schema: JsonSchema; readonly allowed: readonly string[] }): string {
  const [near] = nearestNames(name, allowed, 1)
  const meant = near === undefined ? '' : `; did you mean ${showValue(near)}?`
  const shown = allowed.slice(0, mostNames).join(', ') + (allowed.length > mostNames ? ', …' : '')
  const patterns = Object.keys(schema.patternProperties ?? {}).map((pattern) => `names matching ${shortened(pattern, 40)}`)
  const all = [shown, ...patterns].filter((text) => text !== '').join(', ')
  const stop = near === undefined ? '.' : ''
  return `unknown property ${showValue(name)}${meant}${stop} Allowed: ${all === '' ? 'none' : all}`
}

/** Errors about one value: what was expected, and what was there. */
function valueSentence(error: ErrorObject, root: JsonSchema): string {
  const { keyword, params, data } = error
  const got = `got ${showValue(data)}`
  switch (keyword) {
    case 'type':
      return `expected ${[params.type].flat().join(' or ')}, ${got}`
    case 'enum':
      return `expected ${allowedValues(params.allowedValues)}, ${got}${nearValue(data, params.allowedValues)}`
    case 'const':
      return `expected ${showValue(params.allowedValue)}, ${got}`
    case 'anyOf':
    case 'oneOf':
      return choiceSentence(error, root)
    case 'contains':
      return `expected ${plural(params.minContains, 'item')} or more that match: ${describeSchema(error.schema, root)}; ${got}`
    case 'not':
      return `expected anything but ${describeSchema(error.schema, root)}, ${got}`
    case 'pattern':
      return `expected a string that matches ${shortened(params.pattern, 100)}, ${got}`
    case 'multipleOf':
      return `expected a multiple of ${params.multipleOf}, ${got}`
    case 'uniqueItems':
      return `expected different items, but [${Math.min(params.i, params.j)}] and [${Math.max(params.i, params.j)}] are equal`
    case 'false schema':
      return `nothing is allowed here, ${got}`
    default:
      return boundSentence(error) ?? `${error.message ?? 'is invalid'}, ${got}`
  }
}

function choiceSentence({ params, schema, data }: ErrorObject, root: JsonSchema): string {
  const fitting: unknown = params.passingSchemas
  if (Array.isArray(fitting))
    return `matches several alternatives, but must match exactly one (${fitting.map((index: number) => index + 1).join(' and ')}), got ${showValue(data)}`
  return `expected ${describeSchema({ anyOf: schema }, root)}, got ${showValue(data)}`
}

function boundSentence({ keyword, params, data }: ErrorObject): string | undefined {
  switch (keyword) {
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `expected a number ${params.comparison} ${params.limit}, got ${showValue(data)}`
    case 'minLength':
    case 'maxLength':
      return `expected ${atMost(keyword)} ${plural(params.limit, 'character')}, got ${[...String(data)].length}: ${showValue(data, 40)}`
    case 'minItems':
    case 'maxItems':
    case 'items':
    case 'unevaluatedItems':
      return `expected ${atMost(keyword)} ${plural(params.limit ?? params.len, 'item')}, got ${Array.isArray(data) ? data.length : showValue(data)}`
    case 'minProperties':
    case 'maxProperties':
      return `expected ${atMost(keyword)} ${plural(params.limit, 'property', 'properties')}, got ${Object.keys(data as object).length}`
    default:
      return undefined
  }
}

const atMost = (keyword: string): string => (keyword.startsWith('min') ? 'at least' : 'at most')

function allowedValues(values: readonly unknown[]): string {
  const shown = values.map((value) => showValue(value, 40))
  return values.length === 1 ? shown.join('') : `one of ${joinNames(shown, mostNames)}`
}

function nearValue(value: unknown, allowed: readonly unknown[]): string {
  if (typeof value !== 'string') return ''
  const texts = allowed.filter((each) => typeof each === 'string')
  const [near] = nearestNames(value, texts, 1)
  return near === undefined ? '' : `; did you mean ${showValue(near)}?`
}

/** `/tags/2` as people write it: `tags[2]`. Needs the value to tell items from properties. Empty at the root. */
function readablePath(pointer: string, value: unknown): string {
  let text = ''
  let at = value
  for (const key of pathKeys(pointer)) {
    if (Array.isArray(at)) text += `[${key}]`
    else if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) text += text === '' ? key : `.${key}`
    else text += `[${JSON.stringify(key)}]`
    at = typeof at === 'object' && at !== null ? (at as { readonly [key: string]: unknown })[key] : undefined
  }
  return text
}
