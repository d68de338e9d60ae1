import type { Json } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import type { Parameter } from './parameters.ts'
import { conjunctions, means } from './vocabulary.ts'
import { nameWords, type Word } from './words.ts'

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
