import type { Json, JsonObject, JsonSchema, ModelRequest } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { candidatesFor, type Source, sourceOf } from './candidates.ts'
import type { Exchange } from './conversation.ts'
import { fillSchema, type Knowledge, noKnowledge } from './fill-schema.ts'
import { fieldsOf, isFreeText } from './parameters.ts'
import { type Answer, reportWithoutLabel } from './report.ts'
import { jsonOf, namedValues, plainName, resultText } from './results.ts'
import { asSchema, isOfType, typeOf } from './schema-view.ts'
import { convincing } from './score-values.ts'
import { isCommonAction } from './vocabulary.ts'
import { readWords } from './words.ts'

/** The answer as JSON. After it was rejected once, it is filled from the schema alone. */
export function answerJson(answer: Answer, { output, tools }: Pick<ModelRequest, 'output' | 'tools'>): Json {
  const text = reportWithoutLabel(answer, tools)
  const schema = output?.schema
  if (schema === undefined) return withoutSchema(answer, text)
  return fillSchema(schema, answer.turn.rejections > 0 ? noKnowledge : knowledgeOf(answer, text))
}

function withoutSchema({ turn }: Answer, text: string): JsonObject {
  const results = turn.exchanges.map((exchange) => {
    const content = resultText(exchange)
    return { tool: exchange.tool, ok: exchange.ok, result: jsonOf(content) ?? content }
  })
  return results.length === 0 ? { answer: text } : { answer: text, results }
}

const textNames = new Set(
  'answer summary text message result response content description report reply output explanation details'.split(' '),
)
const successNames = new Set('ok success successful succeeded done completed'.split(' '))

/** What is known in this turn, by name: results first, then inputs of calls, then the words of the request. */
function knowledgeOf({ turn }: Answer, text: string): Knowledge {
  const results = turn.exchanges.filter(({ ok }) => ok).toReversed()
  const jsons = results.flatMap((exchange) => jsonOf(resultText(exchange)) ?? [])
  const named = [...jsons, ...results.map(({ input }) => input)].flatMap(namedValues)
  const prose = results.map(resultText).filter((each) => jsonOf(each) === undefined)
  const sources = [...prose, turn.request].map(textSource)
  return (name, schema) => {
    if (name === '') return undefined
    const wanted = plainName(name)
    const type = typeOf(schema)
    const found = named.find(([known, value]) => known === wanted && isOfType(value, type))
    if (found) return shortened(found[1], schema)
    if (type === 'boolean' && successNames.has(wanted)) return results.length > 0 && turn.exchanges.every(succeededAtLast)
    if (type === 'string' && textNames.has(wanted) && schema.enum === undefined) return shortened(text, schema)
    return type === 'array' ? rowsFor(schema, jsons) : fromSources(name, schema, sources)
  }
}

function succeededAtLast(exchange: Exchange, at: number, all: readonly Exchange[]): boolean {
  return exchange.ok || all.slice(at + 1).some((later) => later.tool === exchange.tool && later.ok)
}

/** A text that is too long is cut, not dropped. */
function shortened(value: Json, { maxLength }: JsonSchema): Json {
  if (typeof value !== 'string' || typeof maxLength !== 'number' || value.length <= maxLength) return value
  return maxLength < 1 ? '' : `${[...value].slice(0, maxLength - 1).join('')}…`
}

/** A list of objects is taken from the result whose rows have the same names. */
function rowsFor({ items, maxItems }: JsonSchema, jsons: readonly Json[]): Json | undefined {
  const names = Object.keys(asSchema(asSchema(items).properties))
  const hasName = (row: Json): row is JsonObject => isPlainObject(row) && names.some((name) => Object.hasOwn(row, name))
  const rows = [...jsons, ...jsons.flatMap(namedValues).map(([, value]) => value)].find((json) => Array.isArray(json) && json.some(hasName))
  return (rows as readonly Json[] | undefined)
    ?.filter((row) => isPlainObject(row))
    .slice(0, typeof maxItems === 'number' ? maxItems : 100)
    .map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name))) as JsonObject)
}

/** A text without the verb at its beginning: in "Describe Oslo" only Oslo is a name. */
function textSource(text: string): Source {
  const words = readWords(text.slice(0, 8000))
  const first = words.find(({ kind }) => kind === 'word')
  const isVerb = first !== undefined && (isCommonAction(first.stem) || verbs.has(first.lower))
  return sourceOf(text, words, new Set(isVerb ? [first] : []))
}
const verbs = new Set(['describe', 'explain', 'tell', 'summarise', 'summarize', 'give', 'name', 'classify', 'extract'])

/** A number needs its unit; anything else needs its preposition or its form, or is a proper name. */
function fromSources(name: string, schema: JsonSchema, sources: readonly Source[]): Json | undefined {
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
