import type { Json } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { fitNumber, fitText, isAllowed, textFor } from './fit.ts'
import { clockTime, isoDate } from './numbers-and-dates.ts'
import { type Field, isFreeText, type Parameter } from './parameters.ts'
import { readValues, type Value } from './values.ts'
import { conjunctions, means, prepositions } from './vocabulary.ts'
import { nameWords, type Word } from './words.ts'

/** A stretch of a conversation that arguments are read from. */
export interface Source {
  readonly text: string
  readonly words: readonly Word[]
  readonly values: readonly Value[]
  /** Words that chose the tool or name its fields. */
  readonly spent: ReadonlySet<Word>
}

export function sourceOf(text: string, words: readonly Word[], spent: ReadonlySet<Word>): Source {
  return { text, words, spent, values: readValues({ text, words, spent }) }
}

/** One way to fill one field. */
export interface Candidate {
  readonly field: Field
  readonly value: Json
  readonly score: number
  /** The words that it uses up. */
  readonly from: number
  readonly to: number
  readonly origin?: Value
  /** Where it ends that is free text: at the next word that has another use. */
  readonly runsTo?: number
}

export function candidatesFor(field: Field, source: Source): readonly Candidate[] {
  const { items, parameter } = field
  const single = plainCandidates(field, items ?? parameter, source)
  return items ? listCandidates(field, single) : single
}

function plainCandidates(field: Field, parameter: Parameter, source: Source): readonly Candidate[] {
  if (Array.isArray(parameter.schema.enum)) return enumCandidates(field, parameter, source)
  switch (parameter.type) {
    case 'boolean': {
      const match = flagMatch(parameter, source.words)
      return match ? [{ field, value: match.value, score: 7, from: match.from, to: match.to }] : []
    }
    case 'number':
    case 'integer':
      return source.values.flatMap((value) => taken(field, value, { score: fitNumber(parameter, value), json: value.number ?? 0 }))
    case 'string':
    case 'any':
      return parameter.role === 'prompt' ? [] : source.values.flatMap((value) => textCandidates(field, parameter, { value, source }))
    default:
      return []
  }
}

function textCandidates(field: Field, parameter: Parameter, { value, source }: { value: Value; source: Source }): readonly Candidate[] {
  if (parameter.role === 'unit' && value.kind === 'number' && value.unit !== undefined) return unitOf(field, value, source)
  if (value.cue === 'between') return betweenCandidates(field, parameter, { value, source })
  const json = parameter.schema.format === 'date-time' ? dateTime(value, source) : textFor(parameter, value)
  return json !== undefined && isAllowed(parameter, json) ? taken(field, value, { score: fitText(parameter, value), json }) : []
}

function taken(field: Field, value: Value, { score, json }: { score: number; json: Json }): readonly Candidate[] {
  return score > 0 ? [{ field, value: json, score, from: value.from, to: value.to, origin: value }] : []
}

/** The unit behind a number is what one converts from. */
function unitOf(field: Field, value: Value, { words }: Source): readonly Candidate[] {
  const at = words[value.to]?.text === '°' ? value.to + 1 : value.to
  const unit = words[at]
  const score = field.parameter.words.includes('to') ? 2 : 7
  return unit ? [{ field, value: unit.text, score, from: at, to: at + 1 }] : []
}

/** "between Oslo and Bergen" is from the first to the second. */
function betweenCandidates(field: Field, parameter: Parameter, { value, source }: { value: Value; source: Source }): readonly Candidate[] {
  const place = source.values.filter(({ group }) => group === value.group).indexOf(value)
  const isMeant = (parameter.role === 'origin' && place === 0) || (parameter.role === 'destination' && place === 1)
  return taken(field, value, { score: isMeant ? 9 : 0, json: textFor(parameter, value) })
}

function dateTime(value: Value, { values }: Source): string | undefined {
  if (/^\d{4}-\d{2}-\d{2}T/.test(value.text)) return /(?:Z|[+-]\d{2}:\d{2})$/.test(value.text) ? value.text : `${value.text}Z`
  const day = value.kind === 'date' ? isoDate(value.text) : undefined
  const time = values.find(({ kind }) => kind === 'time')?.text ?? '00:00'
  return day === undefined ? undefined : `${day}T${clockTime(time) ?? '00:00'}:00Z`
}

function enumCandidates(field: Field, parameter: Parameter, { words }: Source): readonly Candidate[] {
  return enumMatches(parameter, words).map(({ value, from, to, isExact }) => {
    const before = words[from - 1]
    const cue = before && prepositions.has(before.lower) ? before.lower : ''
    const after = words[to]
    // "size M", "M size"; but the "to" behind a value leads to the next one.
    const follows = after && !prepositions.has(after.lower) ? after.stem : undefined
    const isNamed = parameter.words.some((word) => word === before?.stem || word === follows || word === cue)
    const isMeasured = before?.kind === 'number' && parameter.words.includes('from')
    const isTarget = parameter.words.includes('to') && (cue === 'to' || cue === 'into' || cue === 'in')
    const isWrongEnd = parameter.words.includes('to') && before?.kind === 'number'
    const bonus = isNamed || isMeasured || isTarget ? 3 : isWrongEnd ? -4 : 0
    // Longer names go before shorter ones that are part of them.
    return { field, value, score: (isExact ? 9.2 : 6.2) + bonus + (to - from) / 10, from, to }
  })
}

/** Lists take everything that stands side by side. */
function listCandidates(field: Field, single: readonly Candidate[]): readonly Candidate[] {
  const groups = new Map<string, Candidate[]>()
  for (const each of single) {
    const key = each.origin ? `group ${each.origin.group}` : 'named'
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  return [...groups.values()].map((group) => ({
    field,
    value: unique(group.map(({ value }) => value)),
    score: Math.max(...group.map(({ score }) => score)),
    from: Math.min(...group.map(({ from }) => from)),
    to: Math.max(...group.map(({ to }) => to)),
  }))
}

const unique = (values: readonly Json[]): readonly Json[] => [...new Set(values)]

/** The best ones that do not contradict each other: each field once, each word once. */
export function agree(candidates: readonly Candidate[], source: Source): readonly Candidate[] {
  const sorted = candidates.toSorted((a, b) => b.score - a.score || a.from - b.from)
  const chosen: Candidate[] = []
  for (const each of sorted) {
    if (chosen.some((other) => other.field === each.field || takesFromList(each, other))) continue
    const left = chosen.some((other) => overlap(other, each)) ? withoutChoices(each, chosen, source) : each
    if (left) chosen.push(left)
  }
  return chosen.map((each) => extended(each, chosen))
}

/** What is listed with a value of one field is more of the same, unless another field needs it. */
function takesFromList({ field, origin }: Candidate, chosen: Candidate): boolean {
  const isList = origin !== undefined && origin !== chosen.origin && origin.group === chosen.origin?.group && origin.cue !== 'between'
  return isList && !field.required && field !== chosen.field
}

/** Of "blue hats" the hats, once blue is a choice that was made. */
function withoutChoices(candidate: Candidate, chosen: readonly Candidate[], { text, words }: Source): Candidate | undefined {
  const rivals = chosen.filter((other) => overlap(other, candidate))
  if (candidate.origin?.kind !== 'phrase' || typeof candidate.value !== 'string' || !rivals.every(isChoice)) return undefined
  const from = Math.max(candidate.from, ...rivals.filter((each) => each.from <= candidate.from).map((each) => each.to))
  const to = Math.min(candidate.to, ...rivals.filter((each) => each.from >= from).map((each) => each.from))
  const [first, last] = [words[from], words[to - 1]]
  return first && last && from < to ? { ...candidate, from, to, value: text.slice(first.start, last.end) } : undefined
}

const isChoice = ({ field }: Candidate): boolean => Array.isArray((field.items ?? field.parameter).schema.enum)

/** A word has one use; only what one searches for may at the same time be a choice that the schema offers. */
function overlap(one: Candidate, other: Candidate): boolean {
  if (one.from >= other.to || other.from >= one.to) return false
  const isQuery = ({ field }: Candidate): boolean => field.parameter.role === 'query'
  return !(isChoice(one) && isQuery(other)) && !(isQuery(one) && isChoice(other))
}

/** Free text runs on to the next word that has another use. */
function extended(candidate: Candidate, chosen: readonly Candidate[]): Candidate {
  if (!isFreeText(candidate.field.items ?? candidate.field.parameter) || candidate.origin?.kind !== 'phrase') return candidate
  const next = chosen.flatMap(({ from }) => (from >= candidate.to ? [from] : []))
  return { ...candidate, runsTo: Math.min(Number.MAX_SAFE_INTEGER, ...next) }
}

/** The value of a candidate; of free text all that belongs to it. */
export function runningText({ from, runsTo, value }: Candidate, { text, words, spent }: Source): Json {
  if (typeof value !== 'string' || runsTo === undefined) return value
  let last = Math.min(runsTo, words.length) - 1
  const first = words[from]
  // Not the preposition, the comma or the name of the field before the next argument.
  const isNextName = (word: Word | undefined): boolean => runsTo < words.length && word !== undefined && spent.has(word)
  while (last > from && (isLoose(words[last]) || isNextName(words[last]))) last -= 1
  const end = words[last]
  return first && end && last > from ? text.slice(first.start, end.end).trim() : value
}

const isLoose = (word: Word | undefined): boolean =>
  word !== undefined && (prepositions.has(word.lower) || /^(?:and|or|the|a|an|with|by|please|[,;:&–-])$/.test(word.lower))

/** A value of a fixed set that the words name, and which of them do. */
interface Match {
  readonly value: Json
  readonly from: number
  readonly to: number
  /** Said in its own words, not in words that mean the same. */
  readonly isExact: boolean
}

const mostValues = 200

export function enumMatches({ schema }: Parameter, words: readonly Word[]): readonly Match[] {
  const values = Array.isArray(schema.enum) ? schema.enum.slice(0, mostValues) : []
  return values.flatMap((value) => (typeof value === 'string' || typeof value === 'number' ? matchesOf(value, words) : []))
}

function matchesOf(value: string | number, words: readonly Word[]): readonly Match[] {
  const spelled = String(value)
  const parts = nameWords(spelled)
  if (parts.length === 0) return []
  const found: Match[] = []
  for (let at = 0; at + parts.length <= words.length; at++) {
    const whole = words[at]
    if (whole?.lower === spelled.toLowerCase() && isSaid(spelled, whole)) found.push({ value, from: at, to: at + 1, isExact: true })
    else if (parts.every((part, offset) => isPart(part, words[at + offset])))
      found.push({ value, from: at, to: at + parts.length, isExact: parts.every((part, offset) => words[at + offset]?.lower === part) })
  }
  return found
}

/** A letter is a value only in its own case: the "s" of "what's" is no size. */
const isSaid = (spelled: string, word: Word): boolean => spelled.length > 1 || word.text === spelled

function isPart(part: string, word: Word | undefined): boolean {
  if (!word || word.kind === 'mark' || conjunctions.has(word.lower)) return false
  if (part.length === 1) return word.text.length > 1 ? means(stem(part), word.stem) && word.kind === 'word' && word.lower.length > 2 : false
  return means(stem(part), word.stem)
}

/** Parts of a flag's name that only say that it is one. */
const flagWords = new Set(['is', 'has', 'include', 'with', 'enable', 'use', 'allow', 'should', 'be', 'want', 'do'].map(stem))
const negations = new Set(['no', 'not', 'without', "don't", "isn't", 'never', 'exclude', 'skip', 'disable', 'off', 'non'])
const affirmations = new Set(['yes', 'true', 'on', 'yeah', 'sure'])

/** Whether the words switch a flag on or off, if they speak of it. */
export function flagMatch({ words: stems }: Parameter, words: readonly Word[]): Match | undefined {
  const telling = stems.filter((each) => !flagWords.has(each))
  const at = words.findIndex((word) => word.kind === 'word' && telling.some((each) => means(each, word.stem)))
  const word = words[at]
  if (at < 0 || !word || telling.length === 0) return undefined
  const around = words.slice(Math.max(0, at - 2), at).map(({ lower }) => lower)
  const after = words.slice(at + 1, at + 4).map(({ lower }) => lower)
  const isOff = around.some((each) => negations.has(each)) || after.some((each) => each === 'off' || each === 'false' || each === 'no')
  return { value: !isOff, from: at, to: at + 1, isExact: telling.includes(word.stem) }
}

/** Yes or no, as an answer to a question. */
export function spokenFlag(words: readonly Word[]): boolean | undefined {
  if (words.some(({ lower }) => negations.has(lower))) return false
  return words.some(({ lower }) => affirmations.has(lower)) ? true : undefined
}
