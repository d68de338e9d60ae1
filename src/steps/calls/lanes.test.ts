import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Lane } from '../../contracts/index.ts'
import { Lanes } from './lanes.ts'

const shared: Lane = { kind: 'shared' }
const exclusive: Lane = { kind: 'exclusive' }
const key = (name: string): Lane => ({ kind: 'key', key: name })

const conflict = (one: Lane, other: Lane): boolean =>
  one.kind === 'exclusive' || other.kind === 'exclusive' || (one.kind === 'key' && other.kind === 'key' && one.key === other.key)

/** Works that end when the test says so. */
class Cranked {
  readonly started: number[] = []
  readonly running = new Map<number, Lane>()
  readonly lanes: Lanes
  readonly #ends = new Map<number, (failure?: Error) => void>()

  constructor(most: number) {
    this.lanes = new Lanes(most)
  }

  add(id: number, lane: Lane): Promise<number> {
    return this.lanes.run(lane, () => {
      this.started.push(id)
      this.running.set(id, lane)
      return new Promise<number>((resolve, reject) => {
        this.#ends.set(id, (failure) => (failure ? reject(failure) : resolve(id)))
      })
    })
  }

  async end(id: number, failure?: Error): Promise<void> {
    this.running.delete(id)
    this.#ends.get(id)?.(failure)
    // Lets the promises of the ended work run.
    for (let tick = 0; tick < 4; tick++) await undefined
  }
}

describe('Lanes', () => {
  it('starts immediately if nothing runs, and returns the result of the work', async () => {
    const lanes = new Lanes(1)
    let isStarted = false
    const answer = lanes.run(exclusive, () => {
      isStarted = true
      return 5
    })
    expect([isStarted, await answer]).toEqual([true, 5])
  })

  it('runs shared works and different keys together, up to the limit (1, 2)', async () => {
    const works = new Cranked(3)
    const all = [shared, key('a'), key('b'), shared].map((lane, id) => works.add(id, lane))
    expect(works.started).toEqual([0, 1, 2])
    await works.end(1)
    expect(works.started).toEqual([0, 1, 2, 3])
    await Promise.all([works.end(0), works.end(2), works.end(3)])
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3])
  })

  it('runs an exclusive work alone, after all before it and before all behind it (2, 3)', async () => {
    const works = new Cranked(9)
    for (const [id, lane] of [shared, exclusive, shared, key('a')].entries()) void works.add(id, lane)
    expect(works.started).toEqual([0])
    await works.end(0)
    expect(works.started).toEqual([0, 1])
    await works.end(1)
    expect(works.started).toEqual([0, 1, 2, 3])
  })

  it('lets a work pass a waiting one that it does not conflict with (3, 4)', async () => {
    const works = new Cranked(9)
    for (const [id, lane] of [key('a'), key('a'), key('b'), shared].entries()) void works.add(id, lane)
    expect(works.started).toEqual([0, 2, 3])
    await works.end(0)
    expect(works.started).toEqual([0, 2, 3, 1])
  })

  it('frees the lane of a work that rejects or throws (5)', async () => {
    const works = new Cranked(1)
    const failing = works.add(0, key('a'))
    const throwing = works.lanes.run(key('a'), () => {
      throw new Error('at once')
    })
    const last = works.add(2, exclusive)
    const settled = Promise.allSettled([failing, throwing, last])
    await works.end(0, new Error('later'))
    expect(works.started).toEqual([0, 2])
    await works.end(2)
    expect(await settled).toEqual([
      { status: 'rejected', reason: new Error('later') },
      { status: 'rejected', reason: new Error('at once') },
      { status: 'fulfilled', value: 2 },
    ])
  })

  it('takes works that a work adds', async () => {
    const lanes = new Lanes(1)
    const order: string[] = []
    const added: Promise<unknown>[] = []
    await lanes.run(exclusive, () => {
      added.push(lanes.run(exclusive, () => order.push('inner')))
      order.push('outer')
    })
    await Promise.all(added)
    expect(order).toEqual(['outer', 'inner'])
  })

  it('does not overflow on ten thousand works that end together', async () => {
    const works = new Cranked(1)
    void works.add(0, exclusive)
    const all = Array.from({ length: 10_000 }, (_, index) => works.lanes.run(exclusive, () => index))
    await works.end(0)
    expect((await Promise.all(all)).at(-1)).toBe(9_999)
  })

  it.each([0, -1, Number.NaN])('refuses room for %d', (most) => {
    expect(() => new Lanes(most)).toThrow(`lanes need room for at least one task, got ${most}`)
  })

  const lane = fc.oneof(fc.constant(shared), fc.constant(exclusive), fc.constantFrom('a', 'b', 'c').map(key))

  it('keeps the rules whatever comes and in whatever order works end (1-5)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(lane, { maxLength: 14 }),
        fc.integer({ min: 1, max: 4 }),
        fc.infiniteStream(fc.nat()),
        async (list, most, choices) => {
          const works = new Cranked(most)
          const results: Promise<unknown>[] = []
          const next = (): number => choices.next().value ?? 0
          while (results.length < list.length || works.running.size > 0) {
            if (results.length < list.length && (works.running.size === 0 || next() % 2 === 0)) {
              const id = results.length
              results.push(works.add(id, list[id]!).catch((error: Error) => error.message))
            } else {
              const ids = [...works.running.keys()]
              await works.end(ids[next() % ids.length]!, next() % 3 === 0 ? new Error('failed') : undefined)
            }
            checkRules(works, list.slice(0, results.length), most)
          }
          expect((await Promise.all(results)).length).toBe(list.length)
        },
      ),
      { numRuns: 500 },
    )
  })
})

function checkRules(works: Cranked, list: readonly Lane[], most: number): void {
  const running = [...works.running]
  expect(running.length).toBeLessThanOrEqual(most)
  for (const [id, one] of running) for (const [other, lane] of running) if (id < other) expect(conflict(one, lane)).toBe(false)
  const waiting = list.map((lane, id) => ({ lane, id })).filter(({ id }) => !works.started.includes(id))
  // If two conflict, the earlier one has started first.
  for (const [position, id] of works.started.entries()) {
    for (const later of works.started.slice(position + 1)) if (later < id) expect(conflict(list[id]!, list[later]!)).toBe(false)
    for (const { lane, id: other } of waiting) if (other < id) expect(conflict(list[id]!, lane)).toBe(false)
  }
  // Nothing waits that could run.
  if (running.length < most) {
    for (const { lane, id } of waiting) {
      const inTheWay = [...running.map(([, each]) => each), ...waiting.filter((other) => other.id < id).map((other) => other.lane)]
      expect(inTheWay.some((other) => conflict(lane, other))).toBe(true)
    }
  }
}
