import { describe, expect, it } from 'vitest'
import { clockTime, dateLength, isoDate, spelledNumber } from './numbers-and-dates.ts'
import { readWords } from './words.ts'

describe('numbers in words', () => {
  it.each([
    ['two nights', 2, 1],
    ['twenty five', 25, 2],
    ['twenty-five people', 25, 1],
    ['two hundred and five', 205, 4],
    ['three thousand two hundred', 3200, 4],
    ['a dozen', undefined, 0],
    ['dozen', 12, 1],
    ['two three', 2, 1],
    ['hundred', undefined, 0],
    ['two hundred and more', 200, 2],
  ])('%s', (text, value, length) => {
    expect(spelledNumber(text.split(' '), 0)).toEqual(value === undefined ? undefined : { value, length })
  })
})

describe('dates in words', () => {
  it.each([
    ['tomorrow morning then', 2],
    ['next Friday', 2],
    ['3rd of March 2026', 5],
    ['3 March', 2],
    ['March 3, 2026', 4],
    ['May 2026', 2],
    ['2026-05-01', 1],
    ['may I', 0],
    ['32 March', 0],
    ['next to', 0],
  ])('%s takes %i words', (text, length) => {
    expect(dateLength(readWords(text), 0)).toBe(length)
  })

  it.each([
    ['3rd of March 2026', '2026-03-03'],
    ['March 13, 2026', '2026-03-13'],
    ['2026-05-01T10:00', '2026-05-01'],
    ['tomorrow', undefined],
    ['3 March', undefined],
  ])('%s is %s', (text, date) => {
    expect(isoDate(text)).toBe(date)
  })

  it.each([
    ['3pm', '15:00'],
    ['12 am', '00:00'],
    ['12:30pm', '12:30'],
    ['9:05', '09:05'],
    ['soon', undefined],
  ])('%s is %s', (text, time) => {
    expect(clockTime(text)).toBe(time)
  })
})
