import { dateLength, spelledNumber } from './numbers-and-dates.ts'
import { articles, conjunctions, politeness, prepositions, references } from './vocabulary.ts'
import type { Word } from './words.ts'

export type ValueKind = 'quote' | 'email' | 'url' | 'path' | 'date' | 'time' | 'number' | 'phrase'

/** Something in a request that may become an argument. */
export interface Value {
  readonly kind: ValueKind
  readonly text: string
  /** The part of a phrase that is written as a name. */
  readonly name?: string
  readonly number?: number
  /** Of a number: the word after it. */
  readonly unit?: string
  /** The preposition before it, a colon, or nothing. */
  readonly cue: string
  /** The stem of the last word before cue and value: the "subject" of "with the subject Hello". */
  readonly before: string
  /** Values listed side by side, as in "Oslo, Bergen and Voss", share it. */
  readonly group: number
  /** The words that it covers. */
  readonly from: number
  readonly to: number
  /** How much of `text` was read from the request as it stands; 0 for what was spelled out. */
  readonly start: number
  readonly end: number
}

interface Reading {
  readonly words: readonly Word[]
  readonly text: string
  /** Words that chose the tool: they are no values. */
  readonly spent: ReadonlySet<Word>
}

/** Finds values from left to right. The words are those of one clause; `text` is what they were read from. */
export function readValues(reading: Reading): readonly Value[] {
  const { words } = reading
  const values: Value[] = []
  let cue = ''
  let before = ''
  let last: Value | undefined
  let listed: Value | undefined
  for (let at = 0; at < words.length; ) {
    const word = words[at] as Word
    const found = prepositions.has(word.lower) && word.kind === 'word' ? undefined : valueAt(reading, at)
    if (found) {
      const joins = listed !== undefined && (cue === '' || cue === listed.cue) && isAlike(listed, found)
      const value: Value = {
        ...found,
        cue: joins ? (listed?.cue ?? '') : cue,
        before: joins ? (listed?.before ?? '') : before,
        group: joins ? (listed?.group ?? at) : at,
      }
      values.push(value)
      listed = undefined
      last = value
      cue = ''
      before = ''
      at = found.to
      continue
    }
    if (isListMark(word)) {
      // Only what follows a list mark at once belongs to the list.
      listed = last
      cue = ''
    } else {
      if (prepositions.has(word.lower) || word.text === ':') cue = word.lower
      else if (word.kind === 'mark') cue = ''
      else if (!articles.has(word.lower) && !fillers.has(word.lower)) {
        before = word.stem
        cue = reading.spent.has(word) ? '' : cue
      }
      // "in Oslo and in Bergen" is a list too.
      const isRepeated = listed !== undefined && prepositions.has(word.lower) && word.lower === listed.cue
      if (!articles.has(word.lower) && !politeness.has(word.lower) && !isRepeated) {
        listed = undefined
        last = undefined
      }
    }
    values.push(...tailAt(reading, at))
    at += 1
  }
  return values
}

/** Everything after "saying", a colon or "(tell) Anna that", as it may be a text to pass on. Marked by a cue of its own. */
function tailAt(reading: Reading, mark: number): readonly Value[] {
  const { words } = reading
  const isMark =
    words[mark]?.text === ':' || words[mark]?.lower === 'saying' || (words[mark]?.lower === 'that' && isPerson(words[mark - 1]))
  const from = words[mark + 1]?.lower === 'that' ? mark + 2 : mark + 1
  if (!isMark || from >= words.length || words[from]?.kind === 'quote') return []
  return [{ ...covering(reading, 'phrase', [from, words.length]), cue: 'tail', before: '', group: from }]
}

const isPerson = (word: Word | undefined): boolean =>
  word?.kind === 'email' || isCapitalised(word) || /^(?:him|her|them|me)$/.test(word?.lower ?? '')

const isListMark = (word: Word): boolean => conjunctions.has(word.lower) || word.text === ','
const fillers = new Set(['is', 'are', 'be', 'of', 'equal', 'equals', '='])

type Found = Omit<Value, 'cue' | 'before' | 'group'>

/** Names are listed with names, anything else with its kind. */
const isAlike = (one: Found, other: Found): boolean => one.kind === other.kind && (one.name === undefined) === (other.name === undefined)

function valueAt(reading: Reading, at: number): Found | undefined {
  const { words } = reading
  const word = words[at] as Word
  const days = dateLength(words, at)
  if (days > 0) return covering(reading, 'date', [at, at + days])
  if (word.kind === 'quote' || word.kind === 'email' || word.kind === 'url' || word.kind === 'path' || word.kind === 'time')
    return { ...covering(reading, word.kind, [at, at + 1]), text: word.text }
  if (word.kind === 'date') return { ...covering(reading, 'date', [at, at + 1]), text: word.text }
  return numberAt(reading, at) ?? phraseAt(reading, at)
}

function numberAt(reading: Reading, at: number): Found | undefined {
  const { words } = reading
  const word = words[at] as Word
  const lowers = word.kind === 'word' ? words.slice(at, at + 8).map(({ lower }) => lower) : []
  const spelled = word.kind === 'number' ? undefined : spelledNumber(lowers, 0)
  const number = word.kind === 'number' ? Number(word.text.replaceAll(',', '').replace('−', '-')) : spelled?.value
  if (number === undefined || (spelled && word.lower === 'one' && isPronounOne(words[at - 1]))) return undefined
  const to = at + (spelled?.length ?? 1)
  const unit = unitAt(words, to)
  const found = { ...covering(reading, 'number', [at, to]), number }
  return unit === undefined ? found : { ...found, unit: unit.stem }
}

/** "this one", "that one": no number. */
const isPronounOne = (word: Word | undefined): boolean => word !== undefined && (articles.has(word.lower) || word.lower === 'which')

function unitAt(words: readonly Word[], at: number): Word | undefined {
  const next = words[at]
  if (next?.text === '°') return words[at + 1]
  if (next?.text === '€' || next?.text === '$' || next?.text === '%') return next
  const isUnit = next?.kind === 'word' && !prepositions.has(next.lower) && !conjunctions.has(next.lower) && !politeness.has(next.lower)
  return isUnit ? next : undefined
}

function phraseAt(reading: Reading, at: number): Found | undefined {
  const { words, spent } = reading
  let to = at
  while (to < words.length && continues(words, { at: to, from: at }, spent)) to += 1
  while (to > at && (words[to - 1]?.lower === 'of' || politeness.has(words[to - 1]?.lower ?? ''))) to -= 1
  if (to === at || (to === at + 1 && references.has(words[at]?.lower ?? ''))) return undefined
  const name = nameIn(reading, at, to)
  return { ...covering(reading, 'phrase', [at, to]), ...(name !== undefined && { name }) }
}

function continues(words: readonly Word[], { at, from }: { at: number; from: number }, spent: ReadonlySet<Word>): boolean {
  const word = words[at] as Word
  if (spent.has(word) || conjunctions.has(word.lower)) return false
  if (word.kind === 'number') return at > from
  if (word.kind !== 'word' || prepositions.has(word.lower) || dateLength(words, at) > 0) return false
  if (word.lower === 'new' && spent.has(words[at + 1] as Word)) return false
  if (at === from) return !small.has(word.lower) && !articles.has(word.lower) && !(at === 0 && greetings.has(word.lower))
  return !breaks.has(word.lower) && words[at - 1]?.startsLine !== undefined && !word.startsLine
}

/** Never the beginning of a value. */
const small = new Set(
  'up one ones i me we us you he she they it is are was were be been am do does did have has had can could will would shall should may might must what which who whom whose when where why how if whether there here not no yes please thanks thank then also too now just again so but of let lets get got want need like give tell show'.split(
    ' ',
  ),
)
const greetings = new Set(['hello', 'hi', 'hey', 'ok', 'okay'])
const breaks = new Set('is are was were will would please then but so which who that if whether when while because thanks'.split(' '))

function nameIn({ words, text }: Reading, from: number, to: number): string | undefined {
  let first = from
  while (first < to && !isCapitalised(words[first])) first += 1
  let last = first
  while (last < to && isCapitalised(words[last])) last += 1
  return last === first ? undefined : text.slice(words[first]?.start, words[last - 1]?.end)
}

const isCapitalised = (word: Word | undefined): boolean => word !== undefined && /^\p{Lu}/u.test(word.text)

function covering({ words, text }: Reading, kind: ValueKind, [from, to]: readonly [number, number]): Found {
  const start = words[from]?.start ?? 0
  const end = words[to - 1]?.end ?? start
  return { kind, text: text.slice(start, end), from, to, start, end }
}
