import { dateLength, spelledNumber } from './numbers-and-dates.ts'
import { articles, conjunctions, politeness, prepositions, references } from './vocabulary.ts'
import type { Word } from './words.ts'

const literalKinds = ['quote', 'email', 'url', 'path', 'date', 'time'] as const

export type ValueKind = (typeof literalKinds)[number] | 'number' | 'phrase'

/** A part of a request that may become an argument. */
export interface Value {
  readonly kind: ValueKind
  readonly text: string
  /** The proper name in a phrase. */
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
}

interface Reading {
  readonly words: readonly Word[]
  readonly text: string
  /** Words that chose the tool: they are not values. */
  readonly spent: ReadonlySet<Word>
}

/** Finds values from left to right. The words are those of one clause; they were read from `text`. */
export function readValues(reading: Reading): readonly Value[] {
  const { words } = reading
  const values: Value[] = []
  let [cue, before] = ['', '']
  let last: Value | undefined
  let listed: Value | undefined
  for (let at = 0; at < words.length; ) {
    const word = words[at] as Word
    const isPreposition = prepositions.has(word.lower)
    const found = isPreposition && word.kind === 'word' ? undefined : valueAt(reading, at)
    if (found) {
      const joined = listed && (cue === '' || cue === listed.cue) && isAlike(listed, found) ? listed : { cue, before, group: at }
      last = { ...found, cue: joined.cue, before: joined.before, group: joined.group }
      values.push(last)
      listed = undefined
      cue = ''
      before = ''
      at = found.to
      continue
    }
    if (conjunctions.has(word.lower) || word.text === ',') {
      // Only a value that directly follows belongs to the list.
      listed = last
      cue = ''
    } else {
      if (isPreposition || word.text === ':') cue = word.lower
      else if (word.kind === 'mark') cue = ''
      else if (!articles.has(word.lower) && !fillers.has(word.lower)) {
        before = word.stem
        cue = reading.spent.has(word) ? '' : cue
      }
      // "in Oslo and in Bergen" is a list too.
      const isRepeated = isPreposition && word.lower === listed?.cue
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

/** Everything after "saying", a colon or "(tell) Anna that": it may be a text to pass on. It has a cue of its own. */
function tailAt(reading: Reading, mark: number): readonly Value[] {
  const { words } = reading
  const { text, lower } = words[mark] as Word
  const from = words[mark + 1]?.lower === 'that' ? mark + 2 : mark + 1
  const isMark = text === ':' || lower === 'saying' || (lower === 'that' && isPerson(words[mark - 1]))
  if (!isMark || from >= words.length || words[from]?.kind === 'quote') return []
  return [{ ...covering(reading, 'phrase', [from, words.length]), cue: 'tail', before: '', group: from }]
}

const isPerson = (word: Word | undefined): boolean =>
  word?.kind === 'email' || isCapitalised(word) || /^(?:him|her|them|me)$/.test(word?.lower ?? '')

const fillers = new Set(['is', 'are', 'be', 'of', 'equal', 'equals', '='])

type Found = Omit<Value, 'cue' | 'before' | 'group'>

/** Names are listed with names, anything else with its kind. */
const isAlike = (one: Found, other: Found): boolean => one.kind === other.kind && (one.name === undefined) === (other.name === undefined)

function valueAt(reading: Reading, at: number): Found | undefined {
  const { words } = reading
  const days = dateLength(words, at)
  if (days > 0) return covering(reading, 'date', [at, at + days])
  const { kind, text } = words[at] as Word
  const literal = literalKinds.find((each) => each === kind)
  if (literal) return { ...covering(reading, literal, [at, at + 1]), text }
  return numberAt(reading, at) ?? phraseAt(reading, at)
}

function numberAt(reading: Reading, at: number): Found | undefined {
  const { words } = reading
  const word = words[at] as Word
  const lowers = word.kind === 'word' ? words.slice(at, at + 8).map(({ lower }) => lower) : []
  const spelled = word.kind === 'number' ? undefined : spelledNumber(lowers, 0)
  const number = word.kind === 'number' ? Number(word.text.replaceAll(',', '').replace('−', '-')) : spelled?.value
  const before = words[at - 1]?.lower ?? ''
  // "this one", "which one": no number.
  if (number === undefined || (word.lower === 'one' && (articles.has(before) || before === 'which'))) return undefined
  const to = at + (spelled?.length ?? 1)
  const unit = unitAt(words, to)
  return { ...covering(reading, 'number', [at, to]), number, ...(unit && { unit: unit.stem }) }
}

function unitAt(words: readonly Word[], at: number): Word | undefined {
  const next = words[at]
  if (next?.text === '°') return words[at + 1]
  if (next?.text === '€' || next?.text === '$' || next?.text === '%') return next
  const isUnit = next?.kind === 'word' && !prepositions.has(next.lower) && !conjunctions.has(next.lower) && !politeness.has(next.lower)
  return isUnit ? next : undefined
}

function phraseAt(reading: Reading, at: number): Found | undefined {
  const { words, text } = reading
  let to = at
  while (to < words.length && continues(reading, at, to)) to += 1
  while (to > at && (words[to - 1]?.lower === 'of' || politeness.has(words[to - 1]?.lower ?? ''))) to -= 1
  if (to === at || (to === at + 1 && references.has(words[at]?.lower ?? ''))) return undefined
  const named = words.slice(at, to)
  const names = named.slice(Math.max(0, named.findIndex(isCapitalised)))
  const end = names.findIndex((word) => !isCapitalised(word))
  const name = text.slice(names[0]?.start, names.at((end < 0 ? names.length : end) - 1)?.end)
  return { ...covering(reading, 'phrase', [at, to]), ...(end !== 0 && { name }) }
}

function continues({ words, spent }: Reading, from: number, at: number): boolean {
  const { kind, lower, startsLine } = words[at] as Word
  if (spent.has(words[at] as Word) || conjunctions.has(lower)) return false
  if (kind === 'number') return at > from
  if (kind !== 'word' || prepositions.has(lower) || dateLength(words, at) > 0) return false
  if (lower === 'new' && spent.has(words[at + 1] as Word)) return false
  if (at > from) return !breaks.has(lower) && !startsLine
  return !notFirst.has(lower) && !articles.has(lower) && !(at === 0 && greetings.has(lower))
}

/** Never the first word of a value. */
const notFirst = new Set(
  `up one ones i me we us you he she they it is are was were be been am do does did have has had can could will would shall should may might
  must what which who whom whose when where why how if whether there here not no yes please thanks thank then also too now just again so but
  of let lets get got want need like give tell show`.split(/\s+/),
)
const greetings = new Set(['hello', 'hi', 'hey', 'ok', 'okay'])
const breaks = new Set('is are was were will would please then but so which who that if whether when while because thanks'.split(' '))

const isCapitalised = (word: Word | undefined): boolean => word !== undefined && /^\p{Lu}/u.test(word.text)

function covering({ words, text }: Reading, kind: ValueKind, [from, to]: readonly [number, number]): Found {
  return { kind, text: text.slice(words[from]?.start, words[to - 1]?.end), from, to }
}
