import type { Word } from './words.ts'

const units =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
const small = new Map(units.split(' ').map((word, value) => [word, value]))
const tens = new Map('twenty thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word, index) => [word, (index + 2) * 10]))
const scales = new Map(Object.entries({ hundred: 100, thousand: 1000, million: 1_000_000 }))
const others = new Map(Object.entries({ dozen: 12, couple: 2, single: 1, half: 0.5 }))

/** The number that the words from `start` on spell out, and how many of them do: "two hundred and five" is four. */
export function spelledNumber(words: readonly string[], start: number): { readonly value: number; readonly length: number } | undefined {
  let total = 0
  let current: number | undefined
  let at = start
  for (; at < words.length; at++) {
    const word = words[at] ?? ''
    const value = plainValue(word)
    const scale = scales.get(word)
    if (value !== undefined && (current === undefined || canFollow(current, value))) current = (current ?? 0) + value
    else if (scale === 100 && current !== undefined) current *= 100
    else if (scale !== undefined && current !== undefined) {
      total += current * scale
      current = undefined
    } else if (word === 'and' && current !== undefined && current >= 100 && plainValue(words[at + 1] ?? '') !== undefined) continue
    else break
  }
  if (current !== undefined || total > 0) return { value: total + (current ?? 0), length: at - start }
  const other = others.get(words[start] ?? '')
  return other === undefined ? undefined : { value: other, length: 1 }
}

function plainValue(word: string): number | undefined {
  const known = small.get(word) ?? tens.get(word)
  if (known !== undefined) return known
  const [ten, unit] = word.split('-')
  const high = tens.get(ten ?? '')
  const low = small.get(unit ?? '')
  return high !== undefined && low !== undefined && low > 0 && low < 10 ? high + low : undefined
}

/** "twenty five" goes on, "two three" does not. */
function canFollow(current: number, value: number): boolean {
  if (current >= 100) return current % 100 === 0 && value < 100
  return current >= 20 && current % 10 === 0 && value > 0 && value < 10
}

const dayWords = new Set('monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight yesterday'.split(' '))
const monthWords = 'january february march april may june july august september october november december'.split(' ')
const spans = new Set('week weekend month year morning afternoon evening night quarter'.split(' '))
const before = new Set(['next', 'this', 'last', 'coming'])
const ordinal = /^(?:st|nd|rd|th)$/

/** How many words from `start` on name a day: "next Friday", "3rd March 2026", "tomorrow morning". 0 if they do not. */
export function dateLength(words: readonly Word[], start: number): number {
  const lower = (offset: number): string => words[start + offset]?.lower ?? ''
  const isNumber = (offset: number): boolean => words[start + offset]?.kind === 'number'
  if (words[start]?.kind === 'date') return 1
  if (before.has(lower(0)) && (dayWords.has(lower(1)) || spans.has(lower(1)))) return 2
  if (dayWords.has(lower(0))) return spans.has(lower(1)) ? 2 : 1
  return isNumber(0) ? dayFirst(lower, isNumber) : monthFirst(lower, isNumber)
}

type At<T> = (offset: number) => T

function dayFirst(lower: At<string>, isNumber: At<boolean>): number {
  const day = Number(lower(0))
  if (!Number.isInteger(day) || day < 1 || day > 31) return 0
  const skip = ordinal.test(lower(1)) ? 2 : 1
  const month = lower(skip) === 'of' ? skip + 1 : skip
  if (!isMonth(lower(month))) return 0
  return isNumber(month + 1) && lower(month + 1).length === 4 ? month + 2 : month + 1
}

function monthFirst(lower: At<string>, isNumber: At<boolean>): number {
  // "may" and "march" alone are more often verbs.
  if (!isMonth(lower(0)) || !isNumber(1)) return 0
  if (lower(1).length === 4) return 2
  const day = ordinal.test(lower(2)) ? 3 : 2
  const year = lower(day) === ',' ? day + 1 : day
  return isNumber(year) && lower(year).length === 4 ? year + 1 : day
}

const isMonth = (word: string): boolean => word.length >= 3 && monthWords.some((month) => month === word || month.slice(0, 3) === word)

/** A day in the form 2026-03-01, where the words name one: without a calendar "tomorrow" does not. */
export function isoDate(text: string): string | undefined {
  const iso = /^\d{4}-\d{2}-\d{2}/.exec(text)
  if (iso) return iso[0]
  const year = /\b\d{4}\b/.exec(text)?.[0]
  const day = /\b(\d{1,2})(?:st|nd|rd|th)?\b/i.exec(text.replace(year ?? '', ''))?.[1]
  const month = monthWords.findIndex((name) => new RegExp(`\\b${name.slice(0, 3)}`, 'i').test(text))
  if (year === undefined || day === undefined || month < 0) return undefined
  return `${year}-${String(month + 1).padStart(2, '0')}-${day.padStart(2, '0')}`
}

/** A time in the form 14:30. */
export function clockTime(text: string): string | undefined {
  const match = /^(\d{1,2})(?::(\d{2}))?\s?([ap])?m?$/i.exec(text)
  if (!match) return undefined
  const half = match[3]?.toLowerCase()
  const hour = (Number(match[1]) % (half ? 12 : 24)) + (half === 'p' ? 12 : 0)
  return `${String(hour).padStart(2, '0')}:${match[2] ?? '00'}`
}
