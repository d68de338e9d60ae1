import { expect, it } from 'vitest'
import { approvals } from './approval-sweep.ts'
import { everyNth, everyPoint, expectNothingLost, faultless, isFull, pointsOf, sweep, unknownIn } from './sweep.ts'

// A session with a question, approvals, a grant, a plan, a call outside the sandbox and an MCP server that asks by returning.
// The process that drives it is killed, and another process answers. TROUPE_FULL kills at every point, and twice at many; the short form at some.

it('an open approval: nothing is lost or repeated, and every answer arrives once, wherever a process is killed', async () => {
  const [calm] = await sweep(approvals, [[]])
  expect(calm?.verdict).toEqual(faultless)
  // Until the first request, until the second, until the server asks, to the end.
  const lives = pointsOf(calm)
  expect(lives).toHaveLength(4)
  expect(lives.flat().filter((point) => point.startsWith('before append')).length).toBeGreaterThan(12)
  expect(lives.map((points) => points.some((point) => point.startsWith('before question')))).toEqual([false, false, true, false])

  const everywhere = everyPoint(lives)
  const singles = await sweep(approvals, isFull ? everywhere : everyNth(everywhere, 18))
  expectNothingLost('approval, single', singles)
  expect(unknownIn(singles)).toBeGreaterThan(0)
  const doubles = everyNth(everywhere, isFull ? 2 : 60, 1).map((plan, index) => [...plan, 1 + ((index * 5) % 13)])
  expectNothingLost('approval, double', await sweep(approvals, doubles))
  for (const [shift, how] of (['close', 'term'] as const).entries())
    expectNothingLost(`approval, ${how}`, await sweep(approvals, isFull ? everywhere : everyNth(everywhere, 32, 2 + shift), how))
}, 600_000)
