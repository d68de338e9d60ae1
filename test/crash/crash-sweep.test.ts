import { expect, it } from 'vitest'
import { oneSession } from './crash-sweep.ts'
import { everyNth, everyPoint, expectNothingLost, faultless, isFull, pointsOf, sweep, unknownIn } from './sweep.ts'

// Invariants 4 and 10. TROUPE_FULL kills at every point, and twice at many; the short form samples the points evenly.

it('one session: nothing is lost or repeated, wherever the process is killed', async () => {
  const [calm] = await sweep(oneSession, [[]])
  expect(calm?.verdict).toEqual(faultless)
  const everywhere = everyPoint(pointsOf(calm))
  expect(everywhere.length).toBeGreaterThan(40)
  expect(
    pointsOf(calm)
      .flat()
      .filter((point) => point.includes(' blob ')),
  ).toHaveLength(6)

  const singles = await sweep(oneSession, isFull ? everywhere : everyNth(everywhere, 6))
  expectNothingLost('single', singles)
  expect(singles.every(({ kills }) => kills === 1)).toBe(true)
  expect(unknownIn(singles)).toBeGreaterThan(0)
  // A second life has fewer points than the first; a point beyond its end is a life without a crash.
  const twice = (_: unknown, index: number) => [1 + ((index * 7) % everywhere.length), 1 + ((index * 11) % 25)]
  expectNothingLost('double', await sweep(oneSession, Array.from({ length: isFull ? 400 : 4 }, twice)))
  for (const [index, how] of (['close', 'term'] as const).entries())
    expectNothingLost(how, await sweep(oneSession, isFull ? everywhere : everyNth(everywhere, 20, 1 + index * 5), how))
}, 600_000)
