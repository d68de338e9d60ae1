import type { Json } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { type Field, isFreeText, type Parameter } from './parameters.ts'
import { fitNumber, fitText, isAllowed, textFor } from './score-values.ts'
import { readValues, type Value } from './values.ts'
import { conjunctions, means, prepositions } from './vocabulary.ts'
import { nameWords, type Word } from './words.ts'

/** A part of a conversation that arguments are read from. */
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
  /** Free text ends here: at the next word that has another use. */
  readonly runsTo?: number
}

export function candidatesFor(field: Field, source: Source): readonly Candidate[] {
  const single = singleCandidates(field.items ?? field.parameter, source).map((each) => ({ field, ...each }))
  return field.items ? listCandidates(field, single) : single
}

type Unplaced = Omit<Candidate, 'field'>

function singleCandidates(parameter: Parameter, source: Source): readonly Unplaced[] {
  if (Array.isArray(parameter.schema.enum)) return enumCandidates(parameter, source.words)
  const { values, words } = source
  switch (parameter.type) {
    case 'boolean':
      return flagCandidates(parameter, words)
    case 'number':
    case 'integer':
      return values.flatMap((value) => scored(value, fitNumber(parameter, value), value.number ?? 0))
    case 'string':
    case 'any':
      return parameter.role === 'prompt' ? [] : values.flatMap((value) => textCandidates(parameter, value, source))
    default:
      return []
  }
}

const scored = (value: Value, score: number, json: Json): readonly Unplaced[] =>
  score > 0 ? [{ value: json, score, from: value.from, to: value.to, origin: value }] : []

function textCandidates(parameter: Parameter, value: Value, { values }: Source): readonly Unplaced[] {
  const { role } = parameter
  if (value.cue === 'between') {
    // "between Oslo and Bergen" is from the first to the second.
    const place = values.filter(({ group }) => group === value.group).indexOf(value)
    const isMeant = (role === 'origin' && place === 0) || (role === 'destination' && place === 1)
    return scored(value, isMeant ? 9 : 0, textFor(parameter, value))
  }
  const json = textFor(parameter, value)
  return isAllowed(parameter, json) ? scored(value, fitText(parameter, value), json) : []
}

const maxEnumValues = 200

function enumCandidates(parameter: Parameter, words: readonly Word[]): readonly Unplaced[] {
  const values: readonly unknown[] = Array.isArray(parameter.schema.enum) ? parameter.schema.enum.slice(0, maxEnumValues) : []
  const isTo = parameter.words.includes('to')
  return values
    .flatMap((value) => enumMatches(value, words))
    .map(({ value, from, to, isExact }) => {
      const [before, after] = [words[from - 1], words[to]]
      const cue = before && prepositions.has(before.lower) ? before.lower : ''
      // "size M", "M size"; but the "to" after a value leads to the next one.
      const follows = after && !prepositions.has(after.lower) ? after.stem : undefined
      const isNamed = parameter.words.some((word) => word === before?.stem || word === follows || word === cue)
      const isMeasured = before?.kind === 'number' && parameter.words.includes('from')
      const isTarget = isTo && (cue === 'to' || cue === 'into' || cue === 'in')
      const bonus = isNamed || isMeasured || isTarget ? 3 : isTo && before?.kind === 'number' ? -4 : 0
      // Longer names win over shorter ones that are part of them.
      return { value, score: (isExact ? 9.2 : 6.2) + bonus + (to - from) / 10, from, to }
    })
}

interface EnumMatch {
  readonly value: string | number
  readonly from: number
  readonly to: number
  /** In its own words, not in synonyms. */
  readonly isExact: boolean
}

function enumMatches(value: unknown, words: readonly Word[]): readonly EnumMatch[] {
  if (typeof value !== 'string' && typeof value !== 'number') return []
  const spelled = String(value)
  const parts = nameWords(spelled)
  if (parts.length === 0) return []
  return words.flatMap((word, at): readonly EnumMatch[] => {
    if (at + parts.length > words.length) return []
    // A letter is a value only in its own case: the "s" of "what's" is no size.
    const isWhole = word.lower === spelled.toLowerCase() && (spelled.length > 1 || word.text === spelled)
    if (isWhole) return [{ value, from: at, to: at + 1, isExact: true }]
    if (!parts.every((part, offset) => isPart(part, words[at + offset]))) return []
    return [{ value, from: at, to: at + parts.length, isExact: parts.every((part, offset) => words[at + offset]?.lower === part) }]
  })
}

function isPart(part: string, word: Word | undefined): boolean {
  if (!word || word.kind === 'mark' || conjunctions.has(word.lower)) return false
  if (part.length === 1 && (word.kind !== 'word' || word.lower.length <= 2)) return false
  return means(stem(part), word.stem)
}

/** Parts of a flag's name that only say that it is a flag. */
const flagWords = new Set(['is', 'has', 'include', 'with', 'enable', 'use', 'allow', 'should', 'be', 'want', 'do'].map(stem))
const negations = new Set(['no', 'not', 'without', "don't", "isn't", 'never', 'exclude', 'skip', 'disable', 'off', 'non'])

/** Whether the words switch a flag on or off, if they mention it. */
function flagCandidates({ words: stems }: Parameter, words: readonly Word[]): readonly Unplaced[] {
  const telling = stems.filter((each) => !flagWords.has(each))
  const at = words.findIndex((word) => word.kind === 'word' && telling.some((each) => means(each, word.stem)))
  if (at < 0) return []
  const isOff = words.slice(Math.max(0, at - 2), at).some(({ lower }) => negations.has(lower))
  const isOffAfter = words.slice(at + 1, at + 4).some(({ lower }) => lower === 'off' || lower === 'false' || lower === 'no')
  return [{ value: !isOff && !isOffAfter, score: 7, from: at, to: at + 1 }]
}

/** A list takes all values that are listed side by side. */
function listCandidates(field: Field, single: readonly Candidate[]): readonly Candidate[] {
  return [...Map.groupBy(single, ({ origin }) => origin?.group).values()].map((group) => ({
    field,
    value: [...new Set(group.map(({ value }) => value))],
    score: Math.max(...group.map(({ score }) => score)),
    from: Math.min(...group.map(({ from }) => from)),
    to: Math.max(...group.map(({ to }) => to)),
  }))
}

/** The best candidates that do not conflict: each field once, each word once. */
export function withoutConflicts(candidates: readonly Candidate[], source: Source): readonly Candidate[] {
  const chosen: Candidate[] = []
  for (const each of candidates.toSorted((a, b) => b.score - a.score || a.from - b.from)) {
    if (chosen.some((other) => other.field === each.field || takesFromList(each, other))) continue
    const rivals = chosen.filter((other) => overlap(other, each))
    const left = rivals.length > 0 ? withoutChoices(each, rivals, source) : each
    if (left) chosen.push(left)
  }
  return chosen.map((each) => extended(each, chosen))
}

/** Values listed with a value of one field belong to that field, unless another field needs them. */
function takesFromList({ field, origin }: Candidate, chosen: Candidate): boolean {
  const isList = origin !== undefined && origin !== chosen.origin && origin.group === chosen.origin?.group && origin.cue !== 'between'
  return isList && !field.required && field !== chosen.field
}

/** "hats" of "blue hats", where "blue" is a choice that was made. */
function withoutChoices(candidate: Candidate, rivals: readonly Candidate[], { text, words }: Source): Candidate | undefined {
  if (candidate.origin?.kind !== 'phrase' || typeof candidate.value !== 'string' || !rivals.every(isChoice)) return undefined
  const from = Math.max(candidate.from, ...rivals.filter((each) => each.from <= candidate.from).map((each) => each.to))
  const to = Math.min(candidate.to, ...rivals.filter((each) => each.from >= from).map((each) => each.from))
  const [first, last] = [words[from], words[to - 1]]
  return first && last && from < to ? { ...candidate, from, to, value: text.slice(first.start, last.end) } : undefined
}

const isChoice = ({ field }: Candidate): boolean => Array.isArray((field.items ?? field.parameter).schema.enum)
const isQuery = ({ field }: Candidate): boolean => field.parameter.role === 'query'

/** A word has one use; only a search term may also be a choice that the schema offers. */
function overlap(one: Candidate, other: Candidate): boolean {
  if (one.from >= other.to || other.from >= one.to) return false
  return !(isChoice(one) && isQuery(other)) && !(isQuery(one) && isChoice(other))
}

/** Free text continues to the next word that has another use. */
function extended(candidate: Candidate, chosen: readonly Candidate[]): Candidate {
  if (!isFreeText(candidate.field.items ?? candidate.field.parameter) || candidate.origin?.kind !== 'phrase') return candidate
  const next = chosen.flatMap(({ from }) => (from >= candidate.to ? [from] : []))
  return { ...candidate, runsTo: Math.min(Number.MAX_SAFE_INTEGER, ...next) }
}

/** The value of a candidate; of free text all that belongs to it. */
export function runningText({ from, runsTo, value }: Candidate, { text, words, spent }: Source): Json {
  if (typeof value !== 'string' || runsTo === undefined) return value
  let last = Math.min(runsTo, words.length) - 1
  // Without the preposition, the comma or the name of the field before the next argument.
  const isNextName = (word: Word | undefined): boolean => runsTo < words.length && word !== undefined && spent.has(word)
  while (last > from && (isLoose(words[last]) || isNextName(words[last]))) last -= 1
  const [first, end] = [words[from], words[last]]
  return first && end && last > from ? text.slice(first.start, end.end).trim() : value
}

const isLoose = (word: Word | undefined): boolean =>
  word !== undefined && (prepositions.has(word.lower) || /^(?:and|or|the|a|an|with|by|please|[,;:&–-])$/.test(word.lower))
