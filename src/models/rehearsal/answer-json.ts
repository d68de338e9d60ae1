import type { Json, JsonObject, JsonSchema, ModelRequest } from '../../contracts/index.ts'
import { candidatesFor, type Source, sourceOf } from './candidates.ts'
import type { Exchange } from './conversation.ts'
import { jsonOf, namedValues } from './facts.ts'
import { fieldsOf } from './fields.ts'
import { type Filled, fillSchema, type Knowledge, knowNothing } from './fill-schema.ts'
import { convincing } from './fit.ts'
import { isFreeText } from './parameters.ts'
import { type Answer, reportWithoutLabel } from './report.ts'
import { resultText } from './results.ts'
import { typeOf } from './schema-view.ts'
import { isCommonAction } from './vocabulary.ts'
import { nameWords, readWords } from './words.ts'

/** The answer as JSON. Once it has been sent back, only what the schema itself says counts. */
export function answerJson(answer: Answer, { output, tools }: Pick<ModelRequest, 'output' | 'tools'>): Filled {
  const text = reportWithoutLabel(answer, tools)
  const schema = output?.schema
  if (schema === undefined) return { value: withoutSchema(answer, text), fits: true }
  return fillSchema(schema, answer.turn.complaints > 0 ? knowNothing : knowledgeOf(answer, text))
}

function withoutSchema({ turn }: Answer, text: string): JsonObject {
  const results = turn.exchanges.map(({ tool, ok, ...exchange }) => {
    const content = resultText({ tool, ok, ...exchange })
    return { tool, ok, result: jsonOf(content) ?? content }
  })
  return results.length === 0 ? { answer: text } : { answer: text, results }
}

const textNames = new Set(
  'answer summary text message result response content description report reply output explanation details'.split(' '),
)
const successNames = new Set('ok success successful succeeded done completed'.split(' '))

/** What the turn has brought, by name: results first, then what was asked for, then the words of the request. */
function knowledgeOf({ turn }: Answer, text: string): Knowledge {
  const results = turn.exchanges.filter(({ ok }) => ok).toReversed()
  const jsons = results.flatMap((exchange) => jsonOf(resultText(exchange)) ?? [])
  const named = [...jsons, ...results.map(({ input }) => input)].flatMap(namedValues)
  const prose = results.map(resultText).filter((each) => jsonOf(each) === undefined)
  const sources = [...prose, turn.request].map(textSource)
  return (name, schema) => {
    if (name === '') return undefined
    const wanted = nameWords(name).join('')
    const type = typeOf(schema)
    const found = named.find(([known, value]) => known === wanted && isOf(value, type))
    if (found) return fitting(found[1], schema)
    if (type === 'boolean' && successNames.has(wanted)) return results.length > 0 && turn.exchanges.every(isLastOk)
    if (type === 'string' && textNames.has(wanted) && schema.enum === undefined) return fitting(text, schema)
    if (type === 'array') return rowsFor(schema, jsons)
    return spoken(name, schema, sources)
  }
}

function isLastOk(exchange: Exchange, at: number, all: readonly Exchange[]): boolean {
  return exchange.ok || all.slice(at + 1).some((later) => later.tool === exchange.tool && later.ok)
}

function isOf(value: Json, type: ReturnType<typeof typeOf>): boolean {
  if (type === 'any') return true
  if (Array.isArray(value)) return type === 'array'
  if (value === null) return type === 'null'
  if (typeof value === 'number') return type === 'number' || (type === 'integer' && Number.isInteger(value))
  return typeof value === type
}

/** A text that is too long for its place is cut, not dropped. */
function fitting(value: Json, { maxLength }: JsonSchema): Json {
  if (typeof value !== 'string' || typeof maxLength !== 'number' || value.length <= maxLength) return value
  return maxLength < 1 ? '' : `${[...value].slice(0, maxLength - 1).join('')}…`
}

/** A list of objects is taken from the result whose rows have the same names. */
function rowsFor(schema: JsonSchema, jsons: readonly Json[]): Json | undefined {
  const item = schema.items as JsonSchema | undefined
  const names = Object.keys((item?.properties as object | undefined) ?? {})
  const lists = [...jsons, ...jsons.flatMap(namedValues).map(([, value]) => value)].filter((json) => Array.isArray(json))
  const rows = lists.find((list) => list.some((row: Json) => isObject(row) && names.some((name) => Object.hasOwn(row, name))))
  if (!rows || names.length === 0) return undefined
  const most = typeof schema.maxItems === 'number' ? schema.maxItems : 100
  return (rows as readonly Json[])
    .filter(isObject)
    .slice(0, most)
    .map((row) => picked(row, names))
}

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

const picked = (row: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)))

/** A text without the verb that it may begin with: of "Describe Oslo" only Oslo is a name. */
function textSource(text: string): Source {
  const words = readWords(text.slice(0, 8000))
  const first = words.find(({ kind }) => kind === 'word')
  const isVerb = first !== undefined && (isCommonAction(first.stem) || verbs.has(first.lower))
  return sourceOf(text, words, new Set(isVerb ? [first] : []))
}
const verbs = new Set(['describe', 'explain', 'tell', 'summarise', 'summarize', 'give', 'name', 'classify', 'extract'])

/** A number has to be named by its unit; anything else by its preposition or its form, or by being the name of something. */
function spoken(name: string, schema: JsonSchema, sources: readonly Source[]): Json | undefined {
  const [field] = fieldsOf({ type: 'object', properties: { [name]: schema } })
  if (!field || field.path.length > 1 || isFreeText(field.parameter)) return undefined
  const isNumber = field.parameter.type === 'number' || field.parameter.type === 'integer'
  for (const source of sources) {
    const [best] = candidatesFor(field, source).toSorted((a, b) => b.score - a.score)
    const least = isNumber ? convincing + 2 : best?.origin?.name === undefined ? convincing : convincing - 1
    if (best && best.score >= least) return best.value
  }
  return undefined
}
