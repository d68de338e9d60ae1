import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { liveThrough, type Verdict } from './crash-sweep.ts'
import type { Stop } from './wrong-ends.ts'

// Invariants 4 and 10. The short form kills at every point once and samples double crashes; TROUPE_FULL takes more of them.

const isFull = Boolean(process.env.TROUPE_FULL)
const doubles = isFull ? 400 : 12

describe('crash sweep, one session', () => {
  it('loses and repeats nothing, wherever the process is killed', async () => {
    const calm = await liveThrough([])
    expect(calm.verdict).toEqual({ repeated: [], lost: [], unknown: [], wrong: [] })
    const points = calm.lives[0]?.points ?? 0
    expect(points).toBeGreaterThan(40)

    const singles = await sweep(Array.from({ length: points }, (_, index) => [index + 1]))
    // A second life has fewer points than the first; a point beyond its end is a life without a crash.
    const pairs = await sweep(Array.from({ length: doubles }, (_, index) => [1 + ((index * 7) % points), 1 + ((index * 11) % 25)]))
    // Clean stops: everywhere in the long form, at every fifth point in the short one.
    const some = Array.from({ length: points }, (_, index) => [index + 1]).filter((_, index) => isFull || index % 5 === 0)
    const closes = await sweep(some, 'close')
    const terms = await sweep(isFull ? some : some.map(([at = 0]) => [at + 2]), 'term')
    for (const [name, results] of [
      ['single', singles],
      ['double', pairs],
      ['close', closes],
      ['SIGTERM', terms],
    ] as const) {
      const count = (key: 'repeated' | 'lost' | 'unknown' | 'wrong') => results.reduce((sum, { verdict }) => sum + verdict[key].length, 0)
      console.log(
        `crash sweep (${name}): ${results.length} runs, ${results.reduce((sum, { kills }) => sum + kills, 0)} kills, ${count('repeated')} repeated, ${count('lost')} lost, ${count('unknown')} unknown, all flagged`,
      )
      expect(results.filter(({ verdict }) => verdict.repeated.length + verdict.lost.length + verdict.wrong.length > 0)).toEqual([])
    }
    expect(closes.reduce((sum, { kills }) => sum + kills, 0)).toBeGreaterThan(closes.length / 2)
    expect(singles.every(({ kills }) => kills === 1)).toBe(true)
    expect(singles.reduce((sum, { verdict }) => sum + verdict.unknown.length, 0)).toBeGreaterThan(0)
  }, 600_000)
})

interface Result {
  readonly crashes: readonly number[]
  readonly kills: number
  readonly verdict: Verdict
}

async function sweep(plans: readonly (readonly number[])[], how: Stop = 'kill'): Promise<readonly Result[]> {
  const results: Result[] = []
  const left = [...plans.entries()]
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [index, crashes] = next
      const { lives, verdict } = await liveThrough(crashes, how)
      results[index] = { crashes, kills: lives.filter((life) => life.killed).length, verdict }
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker))
  return results
}
