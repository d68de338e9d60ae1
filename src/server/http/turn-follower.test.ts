import { expect, it } from 'vitest'
import { FakeClock } from '../../testing/index.ts'
import { isFollowed, turnFollower } from './turn-follower.ts'

const scene = () => {
  const clock = new FakeClock()
  const interrupted: string[] = []
  return { clock, interrupted, follow: (name: string) => turnFollower('s', clock, () => interrupted.push(name)) }
}

it('a client that does not come back interrupts its turn once', () => {
  const { clock, interrupted, follow } = scene()
  const only = follow('only')
  only.left()
  only.left()
  expect(interrupted).toEqual([])
  clock.advance(60_000)
  expect([interrupted, clock.pending]).toEqual([['only'], 0])
})

it('a client that comes back keeps its turn, also if its first connection ends later', () => {
  const { clock, interrupted, follow } = scene()
  const first = follow('first')
  first.left()
  const second = follow('second')
  first.left()
  clock.advance(60_000)
  expect([interrupted, clock.pending]).toEqual([[], 0])
  second.left()
  clock.advance(60_000)
  expect(interrupted).toEqual(['second'])
})

it('a turn is followed until its last request is over', () => {
  const { follow } = scene()
  const first = follow('first')
  first.left()
  const second = follow('second')
  expect(isFollowed('s')).toBe(true)
  second.done()
  expect(isFollowed('s')).toBe(false)
  const [third, fourth] = [follow('third'), follow('fourth')]
  fourth.done()
  expect(isFollowed('s')).toBe(true)
  third.left()
  expect(isFollowed('s')).toBe(false)
})

it('an answer that is complete interrupts nothing', () => {
  const { clock, interrupted, follow } = scene()
  const only = follow('only')
  only.left()
  only.done()
  only.left()
  clock.advance(60_000)
  expect(interrupted).toEqual([])
})
