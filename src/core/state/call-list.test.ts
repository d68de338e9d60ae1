import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CallList, callList, filterCalls, findCall, haveAllEnded, indexOfCall, replaceCall } from './call-list.ts'

interface Call {
  readonly itemId: string
  readonly kind: 'started' | 'ended'
  readonly version: number
}

const started = (place: number): Call => ({ itemId: `i${place}`, kind: 'started', version: 0 })
const startedCalls = (length: number): Call[] => Array.from({ length }, (_, place) => started(place))
const isEnded = (call: Call): call is Call & { kind: 'ended' } => call.kind === 'ended'

/** What every reader may ask, compared with a plain array. */
function expectSame(list: CallList<Call>, plain: readonly Call[]): void {
  expect([...list]).toEqual(plain)
  expect(list.length).toBe(plain.length)
  expect(JSON.stringify(list)).toBe(JSON.stringify(plain))
  expect(list.map(({ version }) => version)).toEqual(plain.map(({ version }) => version))
  expect(list.flatMap((call) => (call.version > 0 ? [call] : []))).toEqual(plain.filter(({ version }) => version > 0))
  expect(filterCalls(list, isEnded)).toEqual(plain.filter(isEnded))
  expect(list.some(isEnded)).toBe(plain.some(isEnded))
  expect(haveAllEnded(list)).toBe(plain.every(isEnded))
  expect(list.at(plain.length)).toBe(undefined)
}

describe('the calls of a step', () => {
  it('are like a plain array, however many there are and whichever are replaced', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), fc.array(fc.tuple(fc.nat(), fc.boolean()), { maxLength: 30 }), (length, changes) => {
        let plain = startedCalls(length)
        let list = callList<Call>(plain)
        for (const [version, [nat, isEnd]] of changes.entries()) {
          const place = nat % length
          const before = { list, plain }
          const changed: Call = { itemId: `i${place}`, kind: isEnd ? 'ended' : 'started', version: version + 1 }
          plain = plain.with(place, changed)
          list = replaceCall(list, changed)
          expect(findCall(list, `i${place}`)).toBe(changed)
          expect(indexOfCall(list, `i${place}`)).toBe(place)
          expect(list.at(place)).toBe(changed)
          expectSame(before.list, before.plain)
        }
        expectSame(list, plain)
      }),
      { numRuns: 60 },
    )
  })

  it('have all ended once the last of many has', () => {
    let list = callList<Call>(startedCalls(300))
    for (let place = 0; place < 300; place++) {
      expect(haveAllEnded(list)).toBe(false)
      list = replaceCall(list, { itemId: `i${place}`, kind: 'ended', version: 1 })
    }
    expect(haveAllEnded(list)).toBe(true)
  })

  it('contain no call that was not requested', () => {
    for (const length of [2, 300]) {
      const list = callList<Call>(startedCalls(length))
      expect(findCall(list, 'other')).toBe(undefined)
      expect(findCall(list, undefined)).toBe(undefined)
      expect(indexOfCall(list, 'other')).toBe(-1)
      expectSame(replaceCall(list, { itemId: 'other', kind: 'ended', version: 1 }), startedCalls(length))
    }
  })

  it('are the array itself where they are few: nothing is made that a reader would have to pay for', () => {
    const few = startedCalls(4)
    expect(callList<Call>(few)).toBe(few)
    expect(filterCalls<Call, Call>(few, (_call): _call is Call => true)).toBe(few)
    expect(Array.isArray(replaceCall<Call>(few, started(2)))).toBe(true)
  })
})
