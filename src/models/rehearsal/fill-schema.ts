import type { Json, JsonObject, JsonSchema } from '../../contracts/index.ts'
import { conforms, schemasFor } from './conforms.ts'
import { neutralNumbers, neutralTexts } from './neutral.ts'
import { alternativesOf, asSchema, dereference, merged, namesIn, propertiesOf, type TypeName, typeOf } from './schema-view.ts'

/** Answers for a value by its name and schema; `undefined` is a value that nothing is known about. */
export type Knowledge = (name: string, schema: JsonSchema) => Json | undefined

export const knowNothing: Knowledge = () => undefined

export interface Filled {
  readonly value: Json
  /** Whether it fits the schema as a whole: some schemas have no value, or none that rules find. */
  readonly fits: boolean
}

/** A value for a schema: what is known, otherwise something neutral. Optional properties only where they are known. */
export function fillSchema(schema: JsonSchema, know: Knowledge): Filled {
  const fill = (each: Knowledge): Filled => {
    const place: Place = {
      root: schema,
      know: each,
      name: '',
      depth: 0,
      index: 0,
      trail: [],
      budget: { left: mostValues },
      checks: { left: mostChecks },
    }
    const value = filled(schema, place)
    return { value, fits: conforms(value, schema, { root: schema }) }
  }
  const rich = fill(know)
  return know === knowNothing || rich.fits ? rich : fill(knowNothing)
}

interface Place {
  readonly root: JsonSchema
  readonly know: Knowledge
  readonly name: string
  readonly depth: number
  /** Of an item: which one, so that items can differ. */
  readonly index: number
  /** References on the way here: who comes round again would never end. */
  readonly trail: readonly string[]
  /** Ends what would grow without end. */
  readonly budget: { left: number }
  /** The same for holding values against schemas. */
  readonly checks: { left: number }
}

/** As deep as a schema may be written; what refers to itself ends by its trail. */
const deepest = 250
const deepestAlternatives = 3
const mostChecks = 3_000_000
const mostValues = 5_000
const mostRounds = 3

function filled(raw: JsonSchema, place: Place): Json {
  const { root, know, name } = place
  const trail = typeof raw.$ref === 'string' ? [...place.trail, raw.$ref] : place.trail
  const schema = merged(raw, root)
  place.budget.left -= 1
  const isEndless = trail.filter((each) => each === raw.$ref).length > mostRounds
  if (place.depth > deepest || place.budget.left < 0 || isEndless) return null
  const fits: Fits = (value) => conforms(value, raw, { root, budget: place.checks })
  const known = know(name, schema)
  if (known !== undefined && fits(known)) return known
  if (schema.const !== undefined) return schema.const as Json
  if (Array.isArray(schema.enum)) return chosen(schema.enum as readonly Json[], fits, place.index)
  const here = { ...place, trail }
  const options = optionsFor(schema, here)
  let first: Json | undefined
  for (const option of options.length === 0 ? [schema] : options) {
    const value = plain(option, here, fits)
    if (fits(value)) return value
    const conditional = underConditions(value, option, { here, raw, fits })
    if (fits(conditional)) return conditional
    first ??= value
  }
  return first ?? null
}

interface Conditional {
  readonly here: Place
  readonly raw: JsonSchema
  readonly fits: Fits
}

const mostConditionRounds = 4

/** The value again with what its schema asks for because of what it is: `then` and `else`. */
function underConditions(value: Json, option: JsonSchema, { here, raw, fits }: Conditional): Json {
  const conditions = conditionsIn(raw, here.root)
  let at = value
  for (let round = 0; conditions.length > 0 && round < mostConditionRounds && !fits(at); round++) {
    const met = ({ if: condition }: JsonSchema): boolean => conforms(at, condition, { root: here.root, budget: here.checks })
    const asked = conditions.map((each) => asSchema(met(each) ? each.then : each.else))
    at = plain(merged({ allOf: [option, ...asked] }, here.root), here, fits)
  }
  return at
}

function conditionsIn(schema: JsonSchema, root: JsonSchema, depth = 0): readonly JsonSchema[] {
  const flat = dereference(schema, root)
  const own = flat.if === undefined ? [] : [flat]
  if (!Array.isArray(flat.allOf) || depth > mostRounds) return own
  return [...own, ...flat.allOf.flatMap((each) => conditionsIn(asSchema(each), root, depth + 1))]
}

function chosen(values: readonly Json[], fits: Fits, index: number): Json {
  const fitting = values.filter(fits)
  return fitting[index % Math.max(1, fitting.length)] ?? values[0] ?? null
}

/** The ways to read a schema: one for each alternative and each type, those that come round again last. */
function optionsFor(schema: JsonSchema, { root, trail }: Pick<Place, 'root' | 'trail'>, nesting = 0): readonly JsonSchema[] {
  const { anyOf: _a, oneOf: _b, ...own } = schema
  const alternatives = alternativesOf(schema)
  const comesRound = ({ $ref }: JsonSchema): boolean => typeof $ref === 'string' && trail.includes($ref)
  const ordered = [...alternatives.filter((each) => !comesRound(each)), ...alternatives.filter(comesRound)]
  const settled =
    ordered.length === 0
      ? [own]
      : ordered.flatMap((each) => {
          const whole = merged({ allOf: [own, each] }, root)
          const isSettled = nesting >= deepestAlternatives || alternativesOf(whole).length === 0
          return isSettled ? [whole] : optionsFor(whole, { root, trail }, nesting + 1)
        })
  return settled.flatMap(typed)
}

function typed(schema: JsonSchema): readonly JsonSchema[] {
  if (!Array.isArray(schema.type)) return [schema]
  const named = schema.type.toSorted((a, b) => Number(a === 'null') - Number(b === 'null'))
  return named.map((type) => ({ ...schema, type }))
}

type Fits = (value: Json) => boolean

/** A value for one reading of a schema; among several the first that also fits the schema as a whole. */
function plain(schema: JsonSchema, place: Place, fitsWhole: Fits): Json {
  const fits: Fits = (value) => conforms(value, schema, { root: place.root, budget: place.checks })
  const first = (values: readonly Json[]): Json =>
    values.find((each) => fits(each) && fitsWhole(each)) ?? values.find(fits) ?? values[0] ?? null
  if (schema.const !== undefined) return schema.const as Json
  if (Array.isArray(schema.enum)) return chosen(schema.enum as readonly Json[], fits, place.index)
  const type: TypeName = typeOf(schema)
  switch (type) {
    case 'object':
      return filledObject(schema, place)
    case 'array':
      return filledList(schema, place)
    case 'string':
      return first(vary(neutralTexts(schema), place.index))
    case 'number':
    case 'integer':
      return first(vary(neutralNumbers(schema), place.index))
    case 'boolean':
      return first(place.index % 2 === 1 ? [true, false] : [false, true])
    case 'null':
      return null
    default:
      return first([...vary([''], place.index), 0, false, null, {}, []])
  }
}

/** For a later item of a list first something that no earlier one has. */
function vary<T extends string | number>(values: readonly T[], index: number): readonly T[] {
  return index === 0 ? values : [...values.flatMap((value) => variants(value, index) as readonly T[]), ...values]
}

function variants(value: string | number, index: number): readonly (string | number)[] {
  if (typeof value === 'number') return [value + index, value - index, value + index / 1000]
  return [`${value}${index}`, `${value.slice(0, -1)}${index % 10}`]
}

function filledObject(schema: JsonSchema, place: Place): JsonObject {
  const needed = new Set(namesIn(schema.required))
  const entries: [string, Json][] = []
  const has = (name: string): boolean => entries.some(([known]) => known === name)
  const add = (name: string): void => {
    if (has(name) || schemasFor(name, schema).includes(false)) return
    entries.push([name, filled(combined(schemasFor(name, schema)), inner(place, name))])
    for (const other of namesIn(asSchema(schema.dependentRequired)[name])) add(other)
  }
  for (const [name, each] of propertiesOf(schema)) if (needed.has(name) || isKnown(each, inner(place, name))) add(name)
  for (const name of needed) add(name)
  const least = Math.min(Number(schema.minProperties ?? 0), 100)
  for (const [name] of propertiesOf(schema)) if (entries.length < least) add(name)
  for (let at = 1; entries.length < least && at <= 200; at++) add(`field${at}`)
  return Object.fromEntries(entries)
}

/** Several schemas about one value as one. */
function combined(schemas: readonly unknown[]): JsonSchema {
  const objects = schemas.filter((each) => typeof each === 'object' && each !== null)
  return objects.length === 1 ? asSchema(objects[0]) : objects.length === 0 ? {} : { allOf: objects }
}

const inner = (place: Place, name: string): Place => ({ ...place, name, depth: place.depth + 1, index: 0 })

function isKnown(schema: JsonSchema, { know, name, root, depth, checks }: Place): boolean {
  if (depth > deepest) return false
  const value = know(name, merged(dereference(schema, root), root))
  return value !== undefined && conforms(value, schema, { root, budget: checks })
}

const mostItems = 200

function filledList(schema: JsonSchema, place: Place): readonly Json[] {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  const contained = schema.contains === undefined ? 0 : Number(schema.minContains ?? 1)
  const least = Math.min(Math.max(Number(schema.minItems ?? 0), contained > 0 ? first.length + contained : 0), mostItems)
  const seen = new Set<string>()
  return Array.from({ length: least }, (_, at) => {
    const about = at < first.length ? first[at] : combined([schema.items, ...(contained > 0 ? [schema.contains] : [])])
    for (let index = schema.uniqueItems === true ? at : 0; ; index++) {
      const item = filled(asSchema(about), { ...place, name: '', depth: place.depth + 1, index })
      const text = JSON.stringify(item)
      if (schema.uniqueItems !== true || !seen.has(text) || index > at + 20) {
        seen.add(text)
        return item
      }
    }
  })
}
