import { describe, expect, it } from 'vitest'
import { type Plan, sweep, type TreeRun } from './tree-sweep.ts'
import { paths } from './tree-verdict.ts'

// A tree in which processes are killed: parent, two children at once, a grandchild, an approval that is put off and
// answered in another process. The short form samples the points evenly; TROUPE_FULL kills at each, and twice at many.

const isFull = Boolean(process.env.TROUPE_FULL)

describe('crash sweep, a tree', () => {
  it('loses and repeats nothing, and finds every child again, wherever a process is killed', async () => {
    const [calm] = await sweep([[]])
    expect(calm?.verdict).toEqual({ repeated: [], lost: [], unknown: [], wrong: [] })
    const [untilAsked, sinceAnswered] = (calm?.lives ?? []).map((life) => (life.kind === 'ended' ? life.points : []))
    expect(calm?.lives).toHaveLength(2)
    checkCoverage([...(untilAsked ?? []), ...(sinceAnswered ?? [])])

    const everywhere: Plan[] = [
      ...(untilAsked ?? []).map((_, index) => [index + 1]),
      // The first process comes to rest by itself; the one that answers is killed.
      ...(sinceAnswered ?? []).map((_, index) => [0, index + 1]),
    ]
    const singles = await sweep(isFull ? everywhere : everyNth(everywhere, 4))
    report('single', singles)
    expect(singles.reduce((sum, { verdict }) => sum + verdict.unknown.length, 0)).toBeGreaterThan(0)

    const doubles = await sweep(isFull ? secondKills(singles, 3) : secondKills(everyNth(singles, 5), 1))
    report('double', doubles)

    for (const [index, how] of (['close', 'term'] as const).entries()) {
      const stops = await sweep(isFull ? everywhere : everyNth(everywhere.slice(index * 2), 8), how)
      report(how, stops)
    }
  }, 1_200_000)
})

const everyNth = <T>(list: readonly T[], nth: number): readonly T[] => list.filter((_, index) => index % nth === 0)

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
function secondKills(singles: readonly TreeRun[], each: number): readonly Plan[] {
  return singles.flatMap(({ plan, lives }, index) => {
    const next = lives[plan.length]
    const points = next?.kind === 'ended' ? next.points.length : 0
    // Shifted from run to run, so that few of them still meet all that a second process does.
    const share = (nth: number) => 1 + Math.floor((((nth + (index % 7) / 7) / each) % 1) * points)
    return points === 0 ? [] : Array.from({ length: each }, (_, nth) => [...plan, share(nth)])
  })
}

function report(name: string, runs: readonly TreeRun[]): void {
  const count = (key: keyof TreeRun['verdict']) => runs.reduce((sum, { verdict }) => sum + verdict[key].length, 0)
  const kills = runs.reduce((sum, run) => sum + run.kills, 0)
  console.log(
    `crash sweep of a tree (${name}): ${runs.length} runs, ${kills} kills, ${count('repeated')} repeated, ${count('lost')} lost, ${count('unknown')} unknown, all flagged`,
  )
  // Batches differ a little from life to life, so that one may end just before the last points of another.
  const wanted = runs.reduce((sum, { plan }) => sum + plan.filter((killAt) => killAt > 0).length, 0)
  // A clean stop comes too late for a tree that comes to rest meanwhile.
  expect(kills).toBeGreaterThan(wanted * (name === 'close' || name === 'term' ? 0.5 : 0.9))
  const bad = runs.filter(({ verdict: { repeated, lost, wrong } }) => repeated.length + lost.length + wrong.length > 0)
  expect(bad.map(({ plan, verdict }) => ({ plan, ...verdict }))).toEqual([])
}
