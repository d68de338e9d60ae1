import type { Json, JsonObject, JsonSchema } from '../../contracts/index.ts'
import { conforms, schemasFor } from './conforms.ts'
import { neutralNumbers, neutralTexts } from './neutral-values.ts'
import { alternativesOf, asSchema, dereference, merged, namesIn, propertiesOf, typeOf } from './schema-view.ts'

/** The value that is known for a name and its schema, if any. */
export type Knowledge = (name: string, schema: JsonSchema) => Json | undefined

export const noKnowledge: Knowledge = () => undefined

export interface Filled {
  readonly value: Json
  /** Whether it fits the whole schema: some schemas have no value, or none that the rules find. */
  readonly fits: boolean
}

interface Place {
  readonly root: JsonSchema
  readonly know: Knowledge
  readonly name: string
  readonly depth: number
  /** The number of an item, so that items can differ. */
  readonly index: number
  /** References on the way here, to end recursion. */
  readonly trail: readonly string[]
  readonly values: { left: number }
  readonly checks: { left: number }
}
type Fits = (value: Json) => boolean

const maxDepth = 250
const maxNestedAlternatives = 3
const maxChecks = 3_000_000
const maxValues = 5_000
const maxRounds = 3
const maxItems = 200

/** A value for a schema: what is known, otherwise something neutral. Optional properties only where they are known. */
export function fillSchema(schema: JsonSchema, know: Knowledge): Filled {
  const start = { root: schema, know, name: '', depth: 0, index: 0, trail: [], values: { left: maxValues }, checks: { left: maxChecks } }
  const value = fill(schema, start)
  const fits = conforms(value, schema, { root: schema })
  return know === noKnowledge || fits ? { value, fits } : fillSchema(schema, noKnowledge)
}

function fill(raw: JsonSchema, place: Place): Json {
  const { root, know, name } = place
  const trail = typeof raw.$ref === 'string' ? [...place.trail, raw.$ref] : place.trail
  const schema = merged(raw, root)
  place.values.left -= 1
  const isEndless = trail.filter((each) => each === raw.$ref).length > maxRounds
  if (place.depth > maxDepth || place.values.left < 0 || isEndless) return null
  const fits = fitting(raw, place)
  const known = know(name, schema)
  if (known !== undefined && fits(known)) return known
  if (schema.const !== undefined) return schema.const as Json
  if (Array.isArray(schema.enum)) return chooseValue(schema.enum, fits, place.index)
  const here = { ...place, trail }
  let first: Json | undefined
  for (const option of optionsFor(schema, here)) {
    const value = fillOption(option, here, fits)
    if (fits(value)) return value
    const conditional = applyConditions(value, option, { here, raw, fits })
    if (fits(conditional)) return conditional
    first ??= value
  }
  return first ?? null
}

const fitting =
  (schema: unknown, { root, checks }: Place): Fits =>
  (value) =>
    conforms(value, schema, { root, budget: checks })

/** The value again with what `then` and `else` require because of it. */
function applyConditions(value: Json, option: JsonSchema, { here, raw, fits }: { here: Place; raw: JsonSchema; fits: Fits }): Json {
  const conditions = conditionsIn(raw, here.root)
  let at = value
  for (let round = 0; conditions.length > 0 && round <= maxRounds && !fits(at); round++) {
    const required = conditions.map((each) => asSchema(fitting(each.if, here)(at) ? each.then : each.else))
    at = fillOption(merged({ allOf: [option, ...required] }, here.root), here, fits)
  }
  return at
}

function conditionsIn(schema: JsonSchema, root: JsonSchema, depth = 0): readonly JsonSchema[] {
  const flat = dereference(schema, root)
  const own = flat.if === undefined ? [] : [flat]
  if (!Array.isArray(flat.allOf) || depth > maxRounds) return own
  return [...own, ...flat.allOf.flatMap((each) => conditionsIn(asSchema(each), root, depth + 1))]
}

function chooseValue(values: readonly Json[], fits: Fits, index: number): Json {
  const candidates = values.filter(fits)
  return candidates[index % Math.max(1, candidates.length)] ?? values[0] ?? null
}

/** One schema for each alternative and each type; recursive alternatives last. */
function optionsFor(schema: JsonSchema, { root, trail }: Pick<Place, 'root' | 'trail'>, nesting = 0): readonly JsonSchema[] {
  const { anyOf: _a, oneOf: _b, ...own } = schema
  const isRecursive = ({ $ref }: JsonSchema): boolean => typeof $ref === 'string' && trail.includes($ref)
  const alternatives = alternativesOf(schema).toSorted((a, b) => Number(isRecursive(a)) - Number(isRecursive(b)))
  if (alternatives.length === 0) return byType(own)
  return alternatives.flatMap((each) => {
    const whole = merged({ allOf: [own, each] }, root)
    const isSettled = nesting >= maxNestedAlternatives || alternativesOf(whole).length === 0
    return isSettled ? byType(whole) : optionsFor(whole, { root, trail }, nesting + 1)
  })
}

function byType(schema: JsonSchema): readonly JsonSchema[] {
  if (!Array.isArray(schema.type)) return [schema]
  const types = schema.type.toSorted((a, b) => Number(a === 'null') - Number(b === 'null'))
  return types.map((type) => ({ ...schema, type }))
}

/** A value for one alternative. Among several candidates, the first that also fits the whole schema. */
function fillOption(schema: JsonSchema, place: Place, fitsWhole: Fits): Json {
  const { index } = place
  const fits = fitting(schema, place)
  const first = (values: readonly Json[]): Json =>
    values.find((each) => fits(each) && fitsWhole(each)) ?? values.find(fits) ?? values[0] ?? null
  if (schema.const !== undefined) return schema.const as Json
  if (Array.isArray(schema.enum)) return chooseValue(schema.enum, fits, index)
  switch (typeOf(schema)) {
    case 'object':
      return fillObject(schema, place)
    case 'array':
      return fillList(schema, place)
    case 'string':
      return first(vary(neutralTexts(schema), index))
    case 'number':
    case 'integer':
      return first(vary(neutralNumbers(schema), index))
    case 'boolean':
      return first(index % 2 === 1 ? [true, false] : [false, true])
    case 'null':
      return null
    default:
      return first([...vary([''], index), 0, false, null, {}, []])
  }
}

/** For a later item of a list, values first that no earlier item has. */
function vary(values: readonly (string | number)[], index: number): readonly (string | number)[] {
  if (index === 0) return values
  const variants = values.flatMap((value): readonly (string | number)[] =>
    typeof value === 'number'
      ? [value + index, value - index, value + index / 1000]
      : [`${value}${index}`, `${value.slice(0, -1)}${index % 10}`],
  )
  return [...variants, ...values]
}

function fillObject(schema: JsonSchema, place: Place): JsonObject {
  const required = namesIn(schema.required)
  const entries = new Map<string, Json>()
  const add = (name: string): void => {
    const schemas = schemasFor(name, schema)
    if (entries.has(name) || schemas.includes(false)) return
    entries.set(name, fill(combine(schemas), inside(place, name)))
    for (const other of namesIn(asSchema(schema.dependentRequired)[name])) add(other)
  }
  for (const [name, each] of propertiesOf(schema)) if (required.includes(name) || isKnown(each, inside(place, name))) add(name)
  for (const name of required) add(name)
  const least = Math.min(Number(schema.minProperties ?? 0), 100)
  for (const [name] of propertiesOf(schema)) if (entries.size < least) add(name)
  for (let at = 1; entries.size < least && at <= 200; at++) add(`field${at}`)
  return Object.fromEntries(entries)
}

function combine(schemas: readonly unknown[]): JsonSchema {
  const objects = schemas.filter((each) => typeof each === 'object' && each !== null)
  return objects.length > 1 ? { allOf: objects } : asSchema(objects[0])
}

const inside = (place: Place, name: string, index = 0): Place => ({ ...place, name, depth: place.depth + 1, index })

function isKnown(schema: JsonSchema, place: Place): boolean {
  if (place.depth > maxDepth) return false
  const value = place.know(place.name, merged(schema, place.root))
  return value !== undefined && fitting(schema, place)(value)
}

function fillList(schema: JsonSchema, place: Place): readonly Json[] {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  const contained = schema.contains === undefined ? 0 : Number(schema.minContains ?? 1)
  const least = Math.min(Math.max(Number(schema.minItems ?? 0), contained > 0 ? first.length + contained : 0), maxItems)
  const isUnique = schema.uniqueItems === true
  const seen = new Set<string>()
  return Array.from({ length: least }, (_, at) => {
    const about = at < first.length ? first[at] : combine([schema.items, ...(contained > 0 ? [schema.contains] : [])])
    for (let index = isUnique ? at : 0; ; index++) {
      const item = fill(asSchema(about), inside(place, '', index))
      if (isUnique && seen.has(JSON.stringify(item)) && index <= at + 20) continue
      seen.add(JSON.stringify(item))
      return item
    }
  })
}
