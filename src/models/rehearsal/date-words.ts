import type { Word } from './words.ts'

const days = new Set('monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight yesterday'.split(' '))
const months = 'january february march april may june july august september october november december'.split(' ')
const spans = new Set('week weekend month year morning afternoon evening night quarter'.split(' '))
const before = new Set(['next', 'this', 'last', 'coming'])
const ordinal = /^(?:st|nd|rd|th)$/

/** How many words from `start` on name a day: "next Friday", "3rd March 2026", "tomorrow morning". 0 if they do not. */
export function dateLength(words: readonly Word[], start: number): number {
  const lower = (offset: number): string => words[start + offset]?.lower ?? ''
  const isNumber = (offset: number): boolean => words[start + offset]?.kind === 'number'
  if (words[start]?.kind === 'date') return 1
  if (before.has(lower(0)) && (days.has(lower(1)) || spans.has(lower(1)))) return 2
  if (days.has(lower(0))) return spans.has(lower(1)) ? 2 : 1
  const length = isNumber(0) ? dayFirst(lower, isNumber) : monthFirst(lower, isNumber)
  return length
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

const isMonth = (word: string): boolean => word.length >= 3 && months.some((month) => month === word || month.slice(0, 3) === word)

/** A day in the form 2026-03-01, where the words name one: without a calendar "tomorrow" does not. */
export function isoDate(text: string): string | undefined {
  const iso = /^\d{4}-\d{2}-\d{2}/.exec(text)
  if (iso) return iso[0]
  const year = /\b\d{4}\b/.exec(text)?.[0]
  const day = /\b(\d{1,2})(?:st|nd|rd|th)?\b/i.exec(text.replace(year ?? '', ''))?.[1]
  const month = months.findIndex((name) => new RegExp(`\\b${name.slice(0, 3)}`, 'i').test(text))
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
