import { expect, test } from 'vitest'
import { matchItems } from './match-items.ts'

const items = [
  { group: 'Sessions', name: 'Weekend in Oslo', detail: 'trip' },
  { group: 'Sessions', name: 'Stop the build', detail: 'reviewer' },
  { group: 'Actions', name: 'New session' },
  { group: 'Actions', name: 'Stop' },
  { group: 'Agents', name: 'New session with book_room (beta)', detail: 'Books rooms in Oslo' },
]
const found = (text: string, limit = 10) => matchItems(items, text, limit).flatMap((each) => each.items.map(({ name }) => name))

test('without text, everything keeps its order', () => {
  expect(matchItems(items, ' ', 1)).toEqual([
    { group: 'Sessions', items: [items[0]] },
    { group: 'Actions', items: [items[2]] },
    { group: 'Agents', items: [items[4]] },
  ])
})

test('every word must occur, in any order and case', () => {
  expect(found('OSLO week')).toEqual(['Weekend in Oslo'])
  expect(found('oslo nothing')).toEqual([])
})

test('the beginning of a name goes before a word inside, and that before the detail', () => {
  expect(found('stop')).toEqual(['Stop the build', 'Stop'])
  expect(found('oslo')).toEqual(['Weekend in Oslo', 'New session with book_room (beta)'])
  expect(found('room')).toEqual(['New session with book_room (beta)'])
  expect(found('sess')).toEqual(['New session', 'New session with book_room (beta)'])
})

test('the text is no pattern', () => {
  expect(found('(beta)')).toEqual(['New session with book_room (beta)'])
  expect(found('.*')).toEqual([])
})
