import { describe, expect, it } from 'vitest'
import type { Message } from '../../contracts/index.ts'
import { charsOf, startOfNewest, startOfUnread, withShorterResults } from './fit-messages.ts'

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const calls = (id: string): Message => ({ role: 'assistant', parts: [{ type: 'call', id, name: 'look', input: '{}' }] })
const says = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] })
const came = (id: string, length: number): Message => ({
  role: 'tool',
  results: [{ id, name: 'look', ok: true, content: 'x'.repeat(length) }],
})

describe('the newest messages that fit', () => {
  const history = [user('go'), calls('1'), came('1', 1_000), calls('2'), came('2', 100), user('also')]

  it('never begin with results', () => {
    for (let room = 0; room < 3_000; room += 10) expect(history[startOfNewest(history, room)]?.role).not.toBe('tool')
    expect(startOfNewest(history, 400)).toBe(3)
    expect(startOfNewest(history, 150)).toBe(5)
    expect(startOfNewest(history, 5)).toBe(6)
  })

  it('are never all of them, nor any of those that always go', () => {
    expect(startOfNewest(history, 1e9)).toBe(1)
    expect(startOfNewest(history, 1e9, 3)).toBe(3)
    expect(startOfNewest(history, 1e9, 4)).toBe(5)
  })
})

describe('calls that the model has not seen the results of', () => {
  it('are the last ones, with whatever was said since', () => {
    expect(startOfUnread([user('go'), calls('1'), came('1', 5)])).toBe(1)
    expect(startOfUnread([user('go'), calls('1'), came('1', 5), user('also')])).toBe(1)
  })
  it('are none once it has spoken again, or where it called nothing', () => {
    expect(startOfUnread([user('go'), calls('1'), came('1', 5), says('seen'), user('and?')])).toBe(5)
    expect(startOfUnread([user('go')])).toBe(1)
    expect(startOfUnread([])).toBe(0)
  })
})

describe('results that are cut', () => {
  const cut = (content: string, most: number): string => content.slice(0, most)

  it('are left alone if there is room', () => {
    const history = [user('go'), came('1', 1_000)]
    expect(withShorterResults(history, 5_000, cut)).toBe(history)
  })
  it('lose as little as it takes, the long ones first', () => {
    const history = [came('1', 9_000), came('2', 300), user('go')]
    const shorter = withShorterResults(history, 6_000, cut)
    expect(charsOf(shorter)).toBeLessThanOrEqual(6_000)
    expect(charsOf(shorter)).toBeGreaterThan(3_000)
    expect(shorter[1]).toEqual(history[1])
    expect(shorter[2]).toBe(history[2])
  })
  it('are not cut to nothing', () => {
    const [shorter] = withShorterResults([came('1', 9_000)], 10, cut)
    expect(shorter?.role === 'tool' && shorter.results[0]?.content.length).toBeGreaterThan(500)
  })
})
