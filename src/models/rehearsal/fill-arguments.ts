import type { Json, JsonObject, ToolSpec } from '../../contracts/index.ts'
import { parseJsonObject } from '../../util/json-values.ts'
import { stem } from '../../util/stem.ts'
import { type Candidate, candidatesFor, runningText, type Source, withoutConflicts } from './candidates.ts'
import { type Field, fieldsOf, isFreeText, reasonField, valueAtPath, withValue } from './parameters.ts'
import { readable, valueInResult } from './results.ts'
import { convincing, isAllowed } from './score-values.ts'
import { conjunctions } from './vocabulary.ts'
import { clip } from './words.ts'

/** What a call may be made of. */
export interface Material {
  /** The clause that asks for the call. */
  readonly clause: Source
  /** The clause in words fit for a prompt. */
  readonly task: string
  /** The rest of the request, then the requests before it, nearest first. */
  readonly around: readonly Source[]
  /** Inputs of earlier calls, the latest first. */
  readonly earlier: readonly JsonObject[]
  /** What the calls brought that this one builds on. */
  readonly results: readonly string[]
  /** What the request before it was about: a title where one is needed. */
  readonly about?: string
  /** What a call was made with that this one only changes. */
  readonly base?: JsonObject
  /** The clause ends with the answer to a question; its values from this word on may fill anything. */
  readonly answeredFrom?: number
}

export interface Filling {
  /** One input, or several where a list asks for the same thing several times. */
  readonly inputs: readonly JsonObject[]
  /** Required fields without a value. */
  readonly missing: readonly Field[]
  /** How many fields the clause itself filled. */
  readonly own: number
  /** How well the best of them fits. */
  readonly best: number
}

export function fillArguments(tool: ToolSpec, material: Material): Filling {
  const fields = fieldsOf(tool.inputSchema, reasonField(tool))
  const chosen = withoutConflicts(
    fields.flatMap((field) => candidatesFor(field, material.clause).filter(({ score }) => field.required || score >= certain)),
    material.clause,
  )
  const written = writtenInput(material.clause, fields)
  let input: JsonObject = written ?? {}
  for (const field of written ? [] : fields) {
    const candidate = chosen.find((each) => each.field === field)
    const value = candidate ? runningText(candidate, material.clause) : undefined
    if (value !== undefined && candidate && isAllowed(field.parameter, value)) input = withValue(input, field.path, value)
  }
  input = withBareAnswers({ input, fields, material }, chosen)
  const missing: Field[] = []
  for (const field of fields) {
    if (valueAtPath(input, field.path) !== undefined) continue
    const value = valueAtPath(material.base ?? {}, field.path) ?? elsewhere(field, { input, fields, material })
    if (value !== undefined) input = withValue(input, field.path, value)
    else if (field.required) missing.push(field)
  }
  const best = Math.max(0, ...chosen.map(({ score }) => score))
  const ordered = inOrder(input, fields)
  const more = written ? [] : listInputs(ordered, chosen, material)
  return { inputs: [ordered, ...more], missing, own: chosen.length, best }
}

/** An optional field is filled only with a value that clearly belongs to it. */
const certain = 4

/** Some people write the arguments themselves, as JSON. */
function writtenInput({ text, words }: Source, fields: readonly Field[]): JsonObject | undefined {
  const [first, last] = [words.find((word) => word.text === '{'), words.findLast((word) => word.text === '}')]
  const object = first && last ? parseJsonObject(text.slice(first.start, last.end)) : undefined
  const isMeant = object && Object.keys(object).every((name) => fields.some(({ path }) => path[0] === name))
  return isMeant ? object : undefined
}

/** In the order of the schema. */
function inOrder(input: JsonObject, fields: readonly Field[]): JsonObject {
  const names = new Set(fields.map(({ path }) => String(path[0])))
  return Object.fromEntries([...names].flatMap((name) => (Object.hasOwn(input, name) ? [[name, input[name]]] : [])))
}

interface Progress {
  readonly input: JsonObject
  readonly fields: readonly Field[]
  readonly material: Material
}

const answerKinds = new Set(['phrase', 'quote', 'date', 'time', 'path'])

/** An answer such as "Oslo" has no preposition: it goes to the fields that were asked for, in order. */
function withBareAnswers({ input, fields, material }: Progress, chosen: readonly Candidate[]): JsonObject {
  const { answeredFrom, clause } = material
  if (answeredFrom === undefined || answeredFrom >= clause.words.length) return input
  const values = clause.values.filter(({ from, to }) => from >= answeredFrom && !chosen.some((each) => each.from < to && from < each.to))
  let filled = input
  for (const field of fields) {
    const { type, schema } = field.items ?? field.parameter
    if (!field.required || type === 'boolean' || schema.enum !== undefined || valueAtPath(filled, field.path) !== undefined) continue
    const isNumber = type === 'number' || type === 'integer'
    const at = values.findIndex(({ kind, text }) =>
      isNumber ? kind === 'number' : answerKinds.has(kind) && isAllowed(field.parameter, text),
    )
    const [value] = at < 0 ? [] : values.splice(at, 1)
    const json = isNumber ? value?.number : value?.text
    if (json !== undefined) filled = withValue(filled, field.path, field.items ? [json] : json)
  }
  return filled
}

/** A value from elsewhere: from the schema, from results, from the rest of the conversation, then the usual one. */
function elsewhere(field: Field, progress: Progress): Json | undefined {
  const { schema } = field.parameter
  if (!field.required) return undefined
  if (schema.const !== undefined) return schema.const as Json
  if (schema.default !== undefined) return schema.default as Json
  if (Array.isArray(schema.enum) && schema.enum.length === 1) return schema.enum[0] as Json
  return prompt(field, progress) ?? fromResults(field, progress) ?? fromAround(field, progress) ?? usual(field, progress)
}

function prompt({ parameter }: Field, { material: { task, results } }: Progress): Json | undefined {
  return parameter.role === 'prompt' && parameter.type === 'string' ? [task, ...results].join('\n\n') : undefined
}

const passedOn = new Set(['content', 'query'])

/** Into a file a result goes as it is, to a person as lines. */
function fromResults({ parameter }: Field, { material, fields }: Progress): Json | undefined {
  if (material.results.length === 0) return undefined
  const { role, type } = parameter
  const isKept = fields.some((field) => field.parameter.role === 'path')
  if (type === 'string' && role === 'content') return material.results.map((each) => (isKept ? each : readable(each))).join('\n\n')
  const found = material.results.flatMap((result) => valueInResult(result, parameter) ?? [])[0]
  if (found !== undefined) return found
  return (role === 'title' || role === 'topic') && type === 'string' && material.about !== undefined ? clip(material.about, 60) : undefined
}

function fromAround(field: Field, { material }: Progress): Json | undefined {
  if (isFreeText(field.parameter) || field.parameter.type !== 'string') return undefined
  const inSource = (source: Source | undefined): Json | undefined => {
    const [best] = source ? candidatesFor(field, source).toSorted((a, b) => b.score - a.score) : []
    return best && best.score >= convincing ? best.value : undefined
  }
  const [here, ...before] = material.around
  const inInput = (): Json | undefined => material.earlier.map((input) => valueAtPath(input, field.path)).find((each) => each !== undefined)
  return inSource(here) ?? inInput() ?? before.map(inSource).find((each) => each !== undefined)
}

/** The usual value: the first page, the whole request, a title made of the text. */
function usual(field: Field, { input, fields, material }: Progress): Json | undefined {
  const { parameter } = field
  if (parameter.type === 'boolean') return false
  if (parameter.type === 'integer' && parameter.words.includes(pageStem)) return Number(parameter.schema.minimum ?? 1)
  if (!isFreeText(parameter)) return undefined
  const free = fields.filter((each) => each.required && isFreeText(each.parameter))
  const isAlone = parameter.role !== 'content' || fields.filter((each) => each.required).length === 1
  if (free.length === 1 && isAlone && !nameRoles.has(parameter.role)) return material.task === '' ? undefined : material.task
  const content = free.find((each) => passedOn.has(each.parameter.role) && each !== field)
  const text = content && valueAtPath(input, content.path)
  const isHeading = parameter.role === 'topic' || parameter.role === 'title'
  return isHeading && typeof text === 'string' && text !== '' ? clip(text, 60) : undefined
}
const nameRoles = new Set(['title', 'topic', 'command'])
const pageStem = stem('page')

const maxInputs = 7

/** One input for each further member of a list that was given to a field for one value. */
function listInputs(input: JsonObject, chosen: readonly Candidate[], { clause }: Material): readonly JsonObject[] {
  for (const each of chosen) {
    const { field, origin } = each
    const isText = origin === undefined || (origin.kind !== 'quote' && isFreeText(field.parameter))
    if (field.items || isText || origin.cue === 'between') continue
    const isFree = (other: Candidate): boolean =>
      other.origin?.group === origin.group &&
      other.origin !== origin &&
      !chosen.some((taken) => taken.origin === other.origin && taken !== each)
    const others = candidatesFor(field, clause).filter(isFree)
    if (others.length > 0 && isListed([each, ...others], clause))
      return others.slice(0, maxInputs).map(({ value }) => withValue(input, field.path, value))
  }
  return []
}

/** "Paris, France" is one place; a list has an "and", or is longer. */
function isListed(members: readonly Candidate[], { words }: Source): boolean {
  if (members.length > 2) return true
  const [first, last] = [Math.min(...members.map(({ from }) => from)), Math.max(...members.map(({ from }) => from))]
  return words
    .slice(first, last)
    .some(({ lower, kind }) => conjunctions.has(lower) || kind === 'path' || kind === 'quote' || kind === 'number')
}
