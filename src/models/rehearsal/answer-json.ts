import type { Json, JsonSchema, ModelRequest } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { summaryText } from './answer-text.ts'
import { type Field, fieldOf, nameIn, type Source, valueFor } from './find-value.ts'
import { type AnswerMove, resultText } from './plan-move.ts'
import { asSchema, enumOf, fits, fitsText, givenValue, namesIn, settled, settledType } from './read-schema.ts'
import { nameWords, readWords } from './read-words.ts'

// An answer as JSON: from the results and the request, else neutral values that fit simple schemas.

interface Place {
  readonly root: JsonSchema
  readonly depth: number
  /** Values left: schemas may refer to themselves. */
  readonly budget: { left: number }
  /** A known value of a field. */
  known(name: string, schema: JsonSchema): Json | undefined
}

const maxDepth = 300
const maxValues = 2_000
/** From here on `null` is chosen where it is allowed. */
const nullDepth = 5
const maxItems = 100

export function answerJson(move: AnswerMove, { output, tools }: Pick<ModelRequest, 'output' | 'tools'>): Json {
  const calls = move.turn.steps.flat()
  const summary = summaryText(move, tools)
  const schema = asSchema(output?.schema)
  if (Object.keys(schema).length === 0)
    return { answer: summary, results: calls.map((call) => ({ tool: call.tool, ok: call.ok, result: resultText(call) })) }
  // An answer that was refused had a value that does not fit: the next one has none.
  const known = move.turn.isRefused ? () => undefined : knownIn(move, summary)
  return filledValue('', schema, { root: schema, depth: 0, budget: { left: maxValues }, known })
}

const summaries = new Set(['answer', 'summary', 'result', 'text', 'content', 'message', 'report', 'findings', 'plan'])

function knownIn({ turn }: AnswerMove, summary: string): Place['known'] {
  const calls = turn.steps.flat()
  const named = calls.filter(({ ok }) => ok).flatMap((call) => namedValues(jsonOf(resultText(call))))
  const inputs = calls.flatMap(({ input }) => namedValues(input))
  const sources = [turn.requests.join('\n'), ...calls.filter(({ ok }) => ok).map(resultText)].map(sourceOf)
  return (name, schema) => {
    const wanted = nameWords(name).join('')
    const found = [...named, ...inputs].find(([each, value]) => each === wanted && fits(value, schema))
    if (found) return found[1]
    if (summaries.has(wanted) && settledType(schema) === 'string' && fits(summary, schema)) return summary
    if ((wanted === 'ok' || wanted === 'success') && settledType(schema) === 'boolean') return calls.every(({ ok }) => ok)
    const field = fieldOf(name, { schema, isRequired: true })
    return sources.map((source) => valueFor(field, source) ?? nameFor(field, source)).find((value) => value !== undefined)
  }
}

const sourceOf = (text: string): Source => ({ text, words: readWords(text), used: new Set(), results: [] })

const names = new Set(['place', 'city', 'town', 'name', 'person', 'location'])

/** "Where is Bergen?": the place. */
function nameFor(field: Field, source: Source): Json | undefined {
  const value = names.has(field.name.toLowerCase()) ? nameIn(source)?.value : undefined
  return value !== undefined && fits(value, field.schema) ? value : undefined
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}

/** Every named value in the JSON, the outermost first. Names are compared without case and separators. */
function namedValues(json: Json): readonly (readonly [name: string, value: Json])[] {
  const found: [string, Json][] = []
  const queue: Json[] = [json]
  for (let at = 0; at < queue.length && at < 5_000; at++) {
    const value = queue[at]
    if (Array.isArray(value)) queue.push(...(value as readonly Json[]).slice(0, maxItems))
    else if (isPlainObject(value))
      for (const [name, inner] of Object.entries(value) as [string, Json][]) {
        found.push([nameWords(name).join(''), inner])
        queue.push(inner)
      }
  }
  return found
}

function filledValue(name: string, given: unknown, place: Place): Json {
  place.budget.left -= 1
  const { anyOf } = asSchema(given)
  if (place.depth > nullDepth && Array.isArray(anyOf) && anyOf.some((each) => settledType(asSchema(each)) === 'null')) return null
  const schema = settled(given, place.root)
  const type = settledType(schema)
  if (type === 'object') return objectOf(schema, place)
  if (type === 'array') return listOf(schema, place)
  const known = givenValue({ const: schema.const }) ?? place.known(name, schema) ?? givenValue(schema)
  if (known !== undefined) return known
  if (Array.isArray(schema.enum)) return enumOf(schema)[0] ?? null
  if (type === 'number' || type === 'integer') return neutralNumber(schema)
  if (type === 'boolean') return false
  return type === 'null' ? null : neutralText(schema)
}

const isOver = ({ depth, budget }: Place): boolean => depth > maxDepth || budget.left < 0

function objectOf(schema: JsonSchema, place: Place): Json {
  const properties = asSchema(schema.properties)
  const required = namesIn(schema.required)
  if (isOver(place)) return {}
  const inside = { ...place, depth: place.depth + 1 }
  const isKnown = (name: string): boolean => {
    const own = settled(properties[name], place.root)
    return !['object', 'array'].includes(settledType(own)) && place.known(name, own) !== undefined
  }
  const names = [...new Set([...Object.keys(properties).filter((name) => required.includes(name) || isKnown(name)), ...required])]
  return Object.fromEntries(names.map((name) => [name, filledValue(name, Object.hasOwn(properties, name) ? properties[name] : {}, inside)]))
}

/** As few neutral values as the schema allows. */
function listOf(schema: JsonSchema, place: Place): Json {
  const least = isOver(place) ? 0 : Math.min(Number(schema.minItems ?? 0), maxItems)
  const inside = { ...place, depth: place.depth + 1, known: () => undefined }
  return Array.from({ length: least }, () => filledValue('', schema.items, inside))
}

const samples: { readonly [format: string]: string } = {
  date: '1970-01-01',
  'date-time': '1970-01-01T00:00:00Z',
  time: '00:00:00Z',
  email: 'nobody@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-0000-0000-000000000000',
}

function neutralText(schema: JsonSchema): string {
  const least = typeof schema.minLength === 'number' ? Math.min(schema.minLength, 100_000) : 0
  const plain = least === 0 ? '' : 'unknown'.padEnd(least, '.')
  const all = [samples[String(schema.format)], plain, 'x'.repeat(least)].filter((each) => each !== undefined)
  return all.find((each) => fitsText(each, schema)) ?? plain
}

/** Zero, or else a number near a bound. */
function neutralNumber(schema: JsonSchema): number {
  const bounds = [schema.minimum, schema.exclusiveMinimum, schema.maximum, schema.exclusiveMaximum].filter(
    (each) => typeof each === 'number',
  )
  const near = bounds.flatMap((bound) => [bound, Math.ceil(bound), Math.floor(bound) + 1, Math.floor(bound), Math.ceil(bound) - 1])
  return [0, ...near].find((each) => fits(each, schema)) ?? 0
}
