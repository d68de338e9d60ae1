import type { Json, JsonSchema } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { asSchema, enumOf, fits, settledType } from './read-schema.ts'
import { dateLength, isoDate, nameWords, numberOf, type Word } from './read-words.ts'
import { articles, askVerbs, conjunctions, isStopWord, means, prepositions } from './vocabulary.ts'

// Finds the value of one field among the words of a text.

export interface Source {
  readonly text: string
  readonly words: readonly Word[]
  /** Words that named the tool, and words that fill a field already. */
  readonly used: Set<Word>
  /** What calls before this one returned. */
  readonly results: readonly string[]
}

export interface Field {
  readonly name: string
  readonly schema: JsonSchema
  readonly type: string
  readonly isRequired: boolean
  readonly stems: readonly string[]
}

export function fieldOf(name: string, { schema, isRequired }: Pick<Field, 'schema' | 'isRequired'>): Field {
  return { name, schema, isRequired, type: settledType(schema), stems: nameWords(name).map(stem) }
}

/** A value, and the words that it is made of. */
export interface Found {
  readonly value: Json
  readonly words: readonly Word[]
}

/** The value of one field from a text, for answers. A number has to be named. */
export function valueFor(field: Field, source: Source): Json | undefined {
  for (const fill of isNumber(field) ? [byLabel] : [byLabel, byForm, byPreposition]) {
    const found = fill(field, source)
    if (found && fits(found.value, field.schema)) return found.value
  }
  return undefined
}

const isText = ({ type }: Field): boolean => type === 'string'
const isNumber = ({ type }: Field): boolean => type === 'number' || type === 'integer'
const hasName = ({ stems, type }: Field, names: ReadonlySet<string>): boolean => type === 'string' && stems.some((each) => names.has(each))
const stemsOf = (words: string): ReadonlySet<string> => new Set(words.split(' ').map(stem))

const contents = stemsOf('content text body message note comment')
const tasks = stemsOf('prompt task question query input request instruction topic title description')

/** "subject Hello", "with the content: …", "2 nights". */
export function byLabel(field: Field, { words, used, text }: Source): Found | undefined {
  const at = words.findIndex((word) => word.kind === 'word' && !used.has(word) && field.stems.some((each) => means(each, word.stem)))
  const [label, before] = [words[at], words[at - 1]]
  if (!label) return undefined
  if (isNumber(field)) {
    const number = [before, words[at + 1]].find((word) => word && !used.has(word) && numberOf(word) !== undefined)
    return number && { value: numberOf(number) ?? 0, words: [number, label] }
  }
  if (!isText(field) || Array.isArray(field.schema.enum)) return undefined
  let start = at + 1
  while (/^(?:is|of|=)$/.test(words[start]?.lower ?? '')) start += 1
  const first = words[start]
  if (first?.text === ':' && words[start + 1]) return { value: text.slice(first.end).trim(), words: words.slice(at) }
  if (!first || used.has(first)) return undefined
  if (hasName(field, contents) && first.kind === 'word' && !prepositions.has(first.lower))
    return { value: text.slice(first.start).trim(), words: words.slice(at) }
  if (first.kind !== 'word' && first.kind !== 'mark') return { value: first.text, words: [label, first] }
  const isNamed = isCapitalised(first) || /^(?:with|the|a|and|as|,)$/.test(before?.lower ?? '')
  if (!isNamed || prepositions.has(first.lower) || (isStopWord(first.stem) && !isCapitalised(first))) return undefined
  return phraseAt({ words, used, text }, start)
}

const dates = stemsOf('date day when due until deadline')
const forms: readonly { readonly kind: Word['kind']; readonly format: string; readonly names: ReadonlySet<string> }[] = [
  { kind: 'email', format: 'email', names: stemsOf('mail to recipient address attendee') },
  { kind: 'url', format: 'uri', names: stemsOf('url uri link website page') },
  { kind: 'path', format: 'path', names: stemsOf('path file folder directory glob filename') },
  { kind: 'time', format: 'time', names: stemsOf('time at hour') },
]
const commands = stemsOf('command cmd')

/** A value whose form suits the field. */
export function byForm(field: Field, { words, used }: Source): Found | undefined {
  const free = words.filter((word) => !used.has(word))
  if (Array.isArray(field.schema.enum)) return enumValue(field.schema, free)
  if (field.type === 'boolean') return flag(field, words)
  if (isNumber(field)) {
    const number = field.isRequired ? free.find((word) => fits(numberOf(word) ?? '', field.schema)) : undefined
    return number && { value: numberOf(number) ?? 0, words: [number] }
  }
  if (field.type === 'array') return listOf(field, free)
  if (!isText(field)) return undefined
  const { format } = field.schema
  if (format === 'date' || format === 'date-time' || hasName(field, dates)) return day(format, { words, used })
  const form = forms.find((each) => each.format === format) ?? forms.find(({ names }) => hasName(field, names))
  const kind = hasName(field, commands) ? 'quote' : form?.kind
  const found = free.find((word) => word.kind === kind)
  return found && { value: found.text, words: [found] }
}

function enumValue(schema: JsonSchema, free: readonly Word[]): Found | undefined {
  for (const word of free) {
    const value = enumOf(schema).find((each) => {
      if (typeof each === 'number') return numberOf(word) === each
      const stems = typeof each === 'string' ? nameWords(each).map(stem) : []
      return stems.length > 0 && stems.every((one) => free.some((other) => other.stem === one)) && stems.includes(word.stem)
    })
    if (value !== undefined) return { value, words: [word] }
  }
  return undefined
}

/** "with breakfast": yes. "without breakfast": no. */
function flag({ stems }: Field, words: readonly Word[]): Found | undefined {
  const at = words.findIndex((word, at) => word.stem === stems[0] && stems.every((each, offset) => words[at + offset]?.stem === each))
  const word = words[at]
  if (!word) return undefined
  return { value: !words.slice(Math.max(0, at - 2), at).some(({ lower }) => /^(?:no|not|without|don't)$/.test(lower)), words: [word] }
}

function listOf({ schema }: Field, free: readonly Word[]): Found | undefined {
  const type = settledType(asSchema(schema.items))
  const found = free.filter((word) =>
    type === 'string' ? isLiteral(word) : /^(?:number|integer)$/.test(type) && numberOf(word) !== undefined,
  )
  return found.length === 0
    ? undefined
    : { value: found.map((word) => (type === 'string' ? word.text : (numberOf(word) ?? 0))), words: found }
}

const isLiteral = ({ kind }: Word): boolean => ['quote', 'email', 'url', 'path'].includes(kind)

function day(format: unknown, { words, used }: Pick<Source, 'words' | 'used'>): Found | undefined {
  const at = words.findIndex((word, index) => !used.has(word) && dateLength(words, index) > 0)
  const found = at === -1 ? [] : words.slice(at, at + dateLength(words, at))
  if (found.length === 0) return undefined
  const text = found.map((word) => word.text).join(' ')
  const value = format === 'date' ? isoDate(text) : text
  return value === undefined ? undefined : { value, words: found }
}

const cues: readonly { readonly names: ReadonlySet<string>; readonly before: ReadonlySet<string> }[] = [
  { names: stemsOf('from origin source start departure sender'), before: new Set(['from']) },
  { names: stemsOf('to destination target recipient arrival'), before: new Set(['to', 'into']) },
  {
    names: stemsOf('city place location country town where region address harbour'),
    before: new Set(['in', 'at', 'near', 'around', 'for', 'to', 'of', 'from']),
  },
  { names: stemsOf('path folder directory'), before: new Set(['in', 'of', 'from', 'under']) },
  { names: stemsOf('topic subject about theme'), before: new Set(['about', 'on', 'regarding']) },
  { names: stemsOf('query search pattern term keyword text'), before: new Set(['for', 'about', 'matching', 'containing']) },
  { names: stemsOf('person who guest attendee'), before: new Set(['with', 'for', 'by']) },
  { names: stemsOf('name title label'), before: new Set(['called', 'named', 'titled']) },
  { names: stemsOf('language unit currency'), before: new Set(['into', 'to', 'in']) },
]

/** "from Oslo", "about the budget". */
export function byPreposition(field: Field, source: Source): Found | undefined {
  if (!isText(field) || field.schema.format !== undefined) return undefined
  const suited = cues.filter(({ names }) => hasName(field, names)).flatMap(({ before }) => [...before])
  for (const cue of suited) {
    const at = source.words.findIndex((word, index) => word.lower === cue && phraseAt(source, index + 1) !== undefined)
    const found = at === -1 ? undefined : phraseAt(source, at + 1)
    if (found) return found
  }
  return undefined
}

/** The phrase that begins there: a quotation, a name, or words up to the next preposition or mark. */
function phraseAt({ words, used, text }: Pick<Source, 'words' | 'used' | 'text'>, from: number): Found | undefined {
  let start = from
  while (articles.has(words[start]?.lower ?? '')) start += 1
  const first = words[start]
  if (!first || used.has(first)) return undefined
  if (isLiteral(first)) return { value: first.text, words: [first] }
  let end = start
  while (end < words.length && isInPhrase(words, end) && !used.has(words[end] as Word)) end += 1
  const phrase = words.slice(start, end)
  const at = phrase.findIndex(isCapitalised)
  const length = phrase.slice(Math.max(0, at)).findIndex((word) => !isCapitalised(word))
  const found = at === -1 ? phrase : phrase.slice(at, length === -1 ? undefined : at + length)
  return found.length === 0 ? undefined : { value: text.slice(found[0]?.start, found.at(-1)?.end), words: found }
}

function isInPhrase(words: readonly Word[], at: number): boolean {
  const { kind, lower } = words[at] as Word
  return kind === 'word' && !prepositions.has(lower) && !conjunctions.has(lower) && lower !== 'please' && dateLength(words, at) === 0
}

const isCapitalised = ({ kind, text }: Word): boolean => kind === 'word' && /^\p{Lu}/u.test(text)

/** For a required text: a quotation, the results so far, what follows a colon, the task, a name, or the words that are left. */
export function byRest(field: Field, source: Source, isOnly: boolean): Found | undefined {
  if (!isText(field) || field.schema.format !== undefined) return undefined
  const free = source.words.filter((word) => !source.used.has(word))
  const quote = field.name === 'prompt' ? undefined : free.find(({ kind }) => kind === 'quote')
  if (quote) return { value: quote.text, words: [quote] }
  const isContent = hasName(field, contents)
  const task = isContent || !hasName(field, tasks) ? '' : taskText(source)
  if ((isContent || task !== '') && source.results.length > 0)
    return { value: [task, ...source.results].filter((text) => text !== '').join('\n\n'), words: free }
  const [, said] = field.name === 'prompt' ? [] : (/(?::\s+|\b(?:saying|that)\s+)([\s\S]+)/.exec(source.text) ?? [])
  if (said !== undefined && (isContent || isOnly)) return { value: said.trim(), words: free }
  if (task !== '' || (isContent && isOnly)) return { value: task || taskText(source), words: free }
  return isContent ? undefined : (nameIn(source) ?? (isOnly ? lastWords(source, free) : undefined))
}

/** A proper name, if possible not at the beginning. */
export function nameIn(source: Source): Found | undefined {
  const { words, used } = source
  const isName = (word: Word | undefined, at: number): boolean => {
    if (!word || used.has(word) || !isCapitalised(word) || dateLength(words, at) > 0) return false
    return !isStopWord(word.stem) || (word.lower !== 'i' && isName(words[at + 1], at + 1))
  }
  const later = words.findIndex((word, at) => at > 0 && isName(word, at))
  const at = later === -1 ? words.findIndex(isName) : later
  return at === -1 ? undefined : phraseAt(source, at)
}

/** "load the skill letter": what comes after the words that named the tool. */
function lastWords(source: Source, free: readonly Word[]): Found | undefined {
  const first = free.find((word) => word.kind !== 'mark' && !isStopWord(word.stem) && word.start > lastUsed(source))
  return first && (phraseAt(source, source.words.indexOf(first)) ?? { value: first.text, words: [first] })
}

const lastUsed = ({ words, used }: Source): number => words.findLast((word) => used.has(word))?.start ?? -1

/** "Ask the scout for sights in Bergen": the sights. Without such a beginning it is the whole text. */
function taskText({ text, words, used }: Source): string {
  const whole = text.trim()
  const verb = words.findIndex(({ lower }) => askVerbs.has(lower))
  const named = words.findIndex((word, at) => at > verb && used.has(word))
  if (verb === -1 || named === -1 || named > verb + 3) return whole
  const end = words.slice(named).findIndex((word) => !used.has(word))
  const rest = end === -1 ? '' : text.slice(words[named + end]?.start)
  return rest.replace(/^(?:[\s:,.-]|(?:to|for|about|that|if|whether|agent)\b)+/i, '').trim() || whole
}
