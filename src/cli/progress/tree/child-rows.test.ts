import { expect, test } from 'vitest'
import { Story } from '../../../../test/fixtures/run-story.ts'
import { type InteractionEvent, noUsage, type StreamEvent } from '../../../contracts/index.ts'
import { applyEvent, emptyTree, summaryOf, treeSummary } from '../../../view/index.ts'
import { plainPaint } from '../../terminal/paint.ts'
import { logLine } from '../json-log.ts'
import { liveFrame } from '../live-frame.ts'
import { PlainProgress } from '../plain-progress.ts'
import { renderSummary } from './render-summary.ts'
import { renderTree } from './render-tree.ts'

// Children are named by their task, say what failed inside, and show work and waiting as two numbers.

const network = { class: 'network', message: 'No answer.' } as const

/** A child that asks a person for 49 s, and of which a grandchild had a failure. */
function story(isOver = true): readonly StreamEvent[] {
  const events: StreamEvent[] = []
  const root = new Story('root', events).begins().asks(0, 1).answers(100, 1)
  root.calls(100, 1, { id: '1', tool: 'agent__researcher', type: 'subagent_call' })
  const child = new Story('root/researcher#1', events).begins(100, {}, { of: 'root', call: 't1.s1.1' }).asks(100, 1).answers(300, 1)
  root.is(100, started('root/researcher#1'), 1)
  child.calls(300, 1, { id: '1', tool: 'agent__archive', type: 'subagent_call' })
  const archive = new Story('root/researcher#1/archive#1', events).begins(300, {}, { of: 'root/researcher#1', call: 't1.s1.1' })
  archive.asks(300, 1).answers(400, 1).calls(400, 1, { id: '1' }).ends(500, 1, { id: '1', error: network }).over(500)
  child.ends(500, 1, { id: '1', latencyMs: 200 }).asks(500, 2).answers(600, 2).wants(600, 2, { call: '1' })
  if (!isOver) return events
  child.decides(49_600, 2, { call: '1' }).calls(49_600, 2, { id: '1', tool: 'write_file' }).ends(49_700, 2, { id: '1' }).over(49_800)
  root.is(49_800, { ...started('root/researcher#1'), ...completed }, 1)
  root.ends(49_800, 1, { id: '1', latencyMs: 49_700 }).asks(49_800, 2).answers(50_300, 2).over(50_300)
  return events
}
const started = (childId: string) =>
  ({ type: 'interaction.subagent.started', childId: childId as never, agent: 'researcher', childPath: childId }) as const
const totals = { usage: noUsage, cost: 0, steps: 2, calls: 2, durationMs: 49_700 } as const
const completed = { type: 'interaction.subagent.completed', status: 'completed', totals, paidUsd: 0, children: 1, idleMs: 49_000 } as const

const treeOf = (events: readonly StreamEvent[]) => {
  const tree = emptyTree()
  for (const event of events) applyEvent(tree, event)
  return tree
}

test('in the tree of a run that is over', () => {
  expect(`\n${renderTree(story() as InteractionEvent[], { paint: plainPaint, width: 89 }).join('\n')}\n`).toMatchInlineSnapshot(`
    "
    root  completed · 1 step · 49 s waiting                                 0 → 0     1.30 s
    ├─ step 1  fast                                                      100 → 20     500 ms
    │  └─ ✓ researcher  Oslo · 1 failed inside · 49 s waiting               0 → 0     700 ms
    │     ├─ step 1  fast                                                100 → 20     500 ms
    │     │  └─ ✓ archive     Oslo · 1 failed inside · 1 step               0 → 0     200 ms
    │     │     └─ step 1  fast                                          100 → 20     500 ms
    │     │        └─ ✗ look_up  Oslo                                                 100 ms
    │     │             network: No answer.
    │     └─ step 2                                                      100 → 20     500 ms
    │        └─ ✓ write_file  Oslo                                                    100 ms
    └─ step 2                                                            100 → 20     500 ms
    "
  `)
})

test.each([60, 70, 80, 89, 90, 100])('at %i columns, the subject gives way to failures and waits', (width) => {
  const long = story().map((event) =>
    JSON.parse(JSON.stringify(event).replaceAll('Oslo', 'Find the best weekend in all of Norway, at once')),
  )
  const rows = renderTree(long as InteractionEvent[], { paint: plainPaint, width }).filter((line) => /researcher|archive|^root/.test(line))
  expect(rows).toEqual([
    expect.stringMatching(/^root {2}completed · (?:1 step · )?49 s waiting\b/),
    expect.stringMatching(/researcher.* {2}(?:Find.* · )?1 failed inside · 49 s waiting\b/),
    expect.stringMatching(/archive.* {2}(?:Find.* · )?1 failed inside\b/),
  ])
  for (const row of rows) expect(row.length).toBeLessThan(width)
})

test('in the tree of a run that waits: the time of work stands still', () => {
  const frame = (now: number) => liveFrame(treeOf(story(false)), { width: 89, height: 20, now, paint: plainPaint }).slice(0, 3)
  expect(`\n${[...frame(30_600), ...frame(40_600)].join('\n')}\n`).toMatchInlineSnapshot(`
    "
    ⠹ root  30 s waiting · step 1 of 10 · 1 call · $0.0080               400 → 80      0.6 s
    └─ step 1  fast                                                      100 → 20     500 ms
       └─ ⠹ researcher  Oslo · 1 failed inside · 30 s waiting            300 → 60      0.5 s
    ⠧ root  40 s waiting · step 1 of 10 · 1 call · $0.0080               400 → 80      0.6 s
    └─ step 1  fast                                                      100 → 20     500 ms
       └─ ⠧ researcher  Oslo · 1 failed inside · 40 s waiting            300 → 60      0.5 s
    "
  `)
})

test('in lines', () => {
  const plain = new PlainProgress(plainPaint)
  const lines = story().flatMap((event) => plain.lines(event))
  expect(lines.filter((line) => /researcher|failed/.test(line) && !line.includes('│ step'))).toMatchInlineSnapshot(`
    [
      "  → researcher · Oslo",
      "child:researcher │   → archive · Oslo",
      "child:researcher/archive │   → look_up · Oslo",
      "child:researcher/archive │   ✗ look_up network: No answer. 100 ms",
      "child:researcher │   ✓ archive · 1 failed inside · 200 ms",
      "child:researcher │   ? approval required: Write a.txt",
      "child:researcher │     approved at the terminal",
      "child:researcher │   → write_file · Oslo",
      "child:researcher │   ✓ write_file 100 ms",
      "  ✓ researcher · 1 failed inside · 700 ms work · 49 s waiting",
    ]
  `)
})

test('in the log, as the totals of the turn say it', () => {
  const [event] = new Story().begins().over(50_300).events.slice(-1)
  const [line = ''] = [logLine({ ...event, totals: { ...totals, waitedMs: 49_000 } } as StreamEvent, { now: 0 })]
  expect(JSON.parse(line)).toMatchObject({ msg: 'turn completed', durationMs: 49_700, waitedMs: 49_000 })
})

test('in the summary', () => {
  const [root] = treeOf(story()).roots
  expect(`\n${renderSummary(treeSummary(root!, 0), { paint: plainPaint, width: 89 }).join('\n')}\n`).toMatchInlineSnapshot(`
    "
                                   calls    time  waiting     tokens     cost      bytes
    agent root                         1  1.30 s     49 s  500 → 100    $0.01
    ├─ model fast                      2  1.00 s            200 → 40  $0.0040
    └─ agent researcher                1  700 ms     49 s   300 → 60  $0.0060  1 B → 2 B
       ├─ model fast                   2  1.00 s            200 → 40  $0.0040
       ├─ tool write_file              1  100 ms                               1 B → 2 B
       └─ agent archive                1  200 ms            100 → 20  $0.0020  1 B → 2 B
          ├─ model fast                1  500 ms            100 → 20  $0.0020
          └─ tool look_up  1 of 1 failed  100 ms                               1 B → 2 B
    "
  `)
})

test('a run without waits has no column for them', () => {
  const summary = summaryOf([], { callPath: 'root' })
  expect(renderSummary(summary, { paint: plainPaint, width: 89 })[0]).not.toContain('waiting')
})
