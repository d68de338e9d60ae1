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

test('every word must occur, in any order and case; names go before details', () => {
  expect(found('OSLO week')).toEqual(['Weekend in Oslo'])
  expect(found('oslo nothing')).toEqual([])
  expect(found('oslo')).toEqual(['Weekend in Oslo', 'New session with book_room (beta)'])
  expect(found('book_room')).toEqual(['New session with book_room (beta)'])
  expect(found('(beta) .*')).toEqual([])
})

test('without text, everything keeps its order', () => {
  expect(matchItems(items, ' ', 1).map(({ group, items: [first] }) => [group, first?.name])).toEqual([
    ['Sessions', 'Weekend in Oslo'],
    ['Actions', 'New session'],
    ['Agents', 'New session with book_room (beta)'],
  ])
})
