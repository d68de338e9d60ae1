import { expect, it } from 'vitest'
import {
  everyNth,
  everyPoint,
  expectNothingLost,
  faultless,
  isFull,
  type Plan,
  pointsOf,
  type Run,
  type Subject,
  sweep,
  unknownIn,
} from './sweep.ts'
import { judgeTree, paths } from './tree-verdict.ts'

// A tree in which processes are killed: parent, two children at once, a grandchild, an approval that another process
// answers. TROUPE_FULL kills at every point, and twice at many; the short form samples the points evenly.

const tree: Subject = { file: 'tree-subject.mjs', mostFurtherLives: 3, judge: judgeTree }

it('a tree: nothing is lost or repeated, and every child is found again, wherever a process is killed', async () => {
  const [calm] = await sweep(tree, [[]])
  expect(calm?.verdict).toEqual(faultless)
  // The first process comes to rest by itself; the second answers.
  const lives = pointsOf(calm)
  expect(lives).toHaveLength(2)
  checkCoverage(lives.flat())

  const everywhere = everyPoint(lives)
  const singles = await sweep(tree, isFull ? everywhere : everyNth(everywhere, 16))
  expectNothingLost('tree, single', singles)
  expect(unknownIn(singles)).toBeGreaterThan(0)
  expectNothingLost('tree, double', await sweep(tree, isFull ? secondKills(singles, 3) : secondKills(everyNth(singles, 5), 1)))
  for (const [index, how] of (['close', 'term'] as const).entries())
    expectNothingLost(`tree, ${how}`, await sweep(tree, isFull ? everywhere : everyNth(everywhere.slice(index * 9), 36), how))
}, 1_200_000)

/** No kind of point may go missing unnoticed: appends of each session, effects and replies of each agent, on both sides. */
function checkCoverage(points: readonly string[]): void {
  const count = (start: string) => points.filter((point) => point.startsWith(start)).length
  for (const side of ['before', 'after']) {
    for (const path of paths) expect(count(`${side} append by ${path}:`), `${side} ${path}`).toBeGreaterThan(4)
    for (const [agent, effects, replies] of [
      ['boss', 5, 4],
      ['scout', 5, 3],
      ['helper', 4, 3],
      ['clerk', 9, 8],
    ] as const) {
      expect(count(`${side} effect ${agent}-`), `${side} effects of ${agent}`).toBe(effects)
      expect(count(`${side} reply ${agent} `), `${side} replies of ${agent}`).toBe(replies)
    }
    expect(count(`${side} message approval`)).toBe(1)
  }
}

/** Plans that kill the process which goes on after the first kill too, evenly over what it does. */
function secondKills(singles: readonly Run[], each: number): readonly Plan[] {
  return singles.flatMap(({ plan, lives }, index) => {
    const next = lives[plan.length]
    const points = next?.kind === 'ended' ? next.points.length : 0
    // Shifted from run to run, so that few of them still meet all that a second process does.
    const share = (nth: number) => 1 + Math.floor((((nth + (index % 7) / 7) / each) % 1) * points)
    return points === 0 ? [] : Array.from({ length: each }, (_, nth) => [...plan, share(nth)])
  })
}
