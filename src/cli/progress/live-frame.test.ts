import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Story } from '../../../test/fixtures/run-story.ts'
import type { StreamEvent } from '../../contracts/index.ts'
import { applyEvent, emptyTree, type RunTree } from '../../view/index.ts'
import { colourPaint, plainPaint } from '../terminal/paint.ts'
import { widthOf } from '../terminal/text-width.ts'
import { isAnimated, liveFrame } from './live-frame.ts'

const styles = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g')
const network = { class: 'network', message: 'The hotel does not answer.', remedy: 'Try again later.' } as const

function treeOf(events: readonly StreamEvent[]): RunTree {
  const tree = emptyTree()
  for (const event of events) applyEvent(tree, event)
  return tree
}
const frame = ({ events }: Story, now: number, { width = 72, height = 24 } = {}): string =>
  liveFrame(treeOf(events), { width, height, now, paint: plainPaint }).join('\n')

/** Two steps that are over, one call of which failed. */
function twoSteps(): Story {
  return new Story()
    .begins()
    .asks(0, 1)
    .answers(500, 1)
    .calls(500, 1, { id: '1', tool: 'look_up_weather', title: 'Will it rain?' })
    .calls(500, 1, { id: '2', tool: 'look_up_trains', title: 'Which trains run?' })
    .ends(700, 1, { id: '1', latencyMs: 200 })
    .ends(800, 1, { id: '2', latencyMs: 300 })
    .asks(800, 2)
    .answers(1000, 2)
    .calls(1000, 2, { id: '1', tool: 'book_room', title: 'Two nights' })
    .ends(1200, 2, { id: '1', error: network })
}

describe('a picture of a run', () => {
  test('shows activity immediately', () => {
    expect(frame(new Story().begins(), 400)).toBe('⠴ root  starting                                                  0.4 s')
  })

  test('shows running and finished work, with durations', () => {
    const story = new Story()
      .begins()
      .asks(0, 1)
      .answers(500, 1)
      .calls(500, 1, { id: '1', tool: 'look_up_weather', title: 'Will it rain?' })
      .calls(500, 1, { id: '2', tool: 'look_up_trains', title: 'Which trains run?' })
      .ends(800, 1, { id: '1', latencyMs: 300 })
      .says(1, 'half way', { kind: 'progress', item: '2' })
    expect(frame(story, 1600)).toMatchInlineSnapshot(`
      "⠋ root  step 1 of 10 · 2 calls · $0.0020            100 → 20      1.6 s
      └─ step 1  fast                                     100 → 20     500 ms
         ├─ ✓ look_up_weather  Oslo · “Will it rain?”              ∥   300 ms
         └─ ⠋ look_up_trains   Oslo · “Which trains run?”          ∥    1.1 s
              half way"
    `)
  })

  test('shows who waits for which queue, and since when, until that is over', () => {
    const story = new Story().begins().waits('lab', 100)
    expect(frame(story, 1600)).toMatchInlineSnapshot(`
      "⠋ root  starting                                                  1.6 s
      └─ ◷ waiting for queue lab                                        1.5 s"
    `)
    expect(frame(story.waits('lab', 100, { how: 'left' }), 1600)).not.toContain('lab')
    const calling = new Story()
      .begins()
      .asks(0, 1)
      .answers(500, 1)
      .calls(500, 1, { id: '1', tool: 'look_up_weather', title: 'Will it rain?' })
      .calls(500, 1, { id: '2', tool: 'look_up_trains', title: 'Which trains run?' })
      .waits('rail', 600, { call: '2' })
    expect(frame(calling, 1600)).toMatchInlineSnapshot(`
      "⠋ root  step 1 of 10 · 2 calls · $0.0020            100 → 20      1.6 s
      └─ step 1  fast                                     100 → 20     500 ms
         ├─ ⠋ look_up_weather  Oslo · “Will it rain?”                   1.1 s
         └─ ◌ look_up_trains   Oslo · waiting for queue rail · “W…      1.0 s"
    `)
    expect(frame(calling.waits('rail', 600, { call: '2', how: 'left' }), 1600)).not.toContain('rail')
  })

  test('shows no wait for a queue any more once the next step has begun, or the turn is over', () => {
    expect(frame(new Story().begins().waits('lab', 100).asks(300, 1), 1600)).not.toContain('lab')
    expect(frame(new Story().begins().waits('lab', 100).over(300), 1600)).not.toContain('lab')
  })

  test('counts down to the next attempt, and then shows that one', () => {
    const story = twoSteps().asks(1200, 3, { model: 'slow' }).fails(1300, 3, { delayMs: 2000 })
    expect(frame(story, 2000).split('\n').slice(-3)).toEqual([
      '└─ step 3  slow',
      '   ├─ ↻ rate_limit  too many requests                            100 ms',
      '   └─ ◷ next attempt in 1.3 s',
    ])
    expect(frame(story, 3299)).toContain('next attempt in 0.1 s')
    story.asks(3300, 3, { model: 'slow', attempt: 2 })
    expect(frame(story, 3700).split('\n').slice(-2)).toEqual([
      '└─ ⠦ step 3  slow · attempt 2 of 4                  ~300 → 0      0.4 s',
      '   └─ ↻ rate_limit  too many requests                            100 ms',
    ])
  })

  test('shows the end of what the model says, and that it thinks', () => {
    const story = new Story()
      .begins()
      .asks(0, 1)
      .says(1, 'Weather and trains do not depend on each other, so I ask for both at once.', { kind: 'reasoning' })
    expect(frame(story, 0).split('\n').at(-1)).toBe('     thinking … ask for both at once.')
    story.says(1, `${'Let me look at the weather and the trains. '.repeat(3)}Then I`)
    expect(frame(story, 0).split('\n').slice(-2)).toEqual([
      '     weather and the trains. Let me look at the weather and the trains.',
      '     Then I',
    ])
    expect(frame(story.answers(100, 1), 200)).not.toContain('Then I')
  })

  test('an attempt that was given up has said nothing', () => {
    const story = new Story().begins().asks(0, 1).says(1, 'wrong').fails(10, 1).asks(1010, 1, { attempt: 2 }).says(1, 'late')
    expect(frame(story, 2000)).not.toMatch(/wrong|late/)
    expect(frame(story.says(1, 'right', { attempt: 2 }), 2000)).toContain('right')
  })

  test('a call that may not run yet waits', () => {
    const exclusive = { kind: 'exclusive' } as const
    const story = new Story()
      .begins()
      .asks(0, 1)
      .answers(0, 1)
      .calls(0, 1, { id: '1', tool: 'write', lane: exclusive })
      .calls(0, 1, { id: '2', tool: 'write', lane: exclusive })
      .calls(0, 1, { id: '3', tool: 'read' })
    const calls = (at: number): readonly string[] =>
      frame(story, at)
        .split('\n')
        .slice(2)
        .map((line) => line.replace(/\s+/g, ' ').trim())
    expect(calls(800)).toEqual(['├─ ⠋ write Oslo 0.8 s', '├─ ◌ write Oslo · waiting', '└─ ◌ read Oslo · waiting'])
    story.ends(800, 1, { id: '1', latencyMs: 800 })
    expect(calls(1600)).toEqual(['├─ ✓ write Oslo 800 ms', '├─ ⠋ write Oslo 0.8 s', '└─ ◌ read Oslo · waiting'])
  })

  test('no more calls run in parallel than allowed', () => {
    const story = new Story().begins(0, { parallelToolCalls: 2 }).asks(0, 1).answers(0, 1)
    for (const id of ['1', '2', '3']) story.calls(0, 1, { id })
    expect(frame(story, 0).match(/waiting/g)).toHaveLength(1)
    expect(frame(story.ends(10, 1, { id: '1' }), 10)).not.toContain('waiting')
  })

  test('shows a required approval, and notes', () => {
    const request = {
      id: 'a1',
      itemId: 't1.s1.1',
      tool: 'delete',
      summary: 'Delete all\nof it?',
      input: {},
      keys: [],
      scope: 'call',
    } as never
    const story = new Story()
      .begins()
      .notes(0, { code: 'tool_missing', severity: 'warning', message: 'There is no tool.', remedy: 'Add it.' })
      .asks(0, 1)
      .answers(0, 1)
      .is(0, { type: 'interaction.approval.requested', request }, 1)
      .notes(0, { code: 'model_notice', severity: 'info', message: 'No seed.' })
    expect(frame(story, 0).split('\n').slice(1)).toEqual([
      '├─ ! tool_missing  There is no tool.',
      '│    → Add it.',
      '└─ step 1  fast                                     100 → 20     500 ms',
      '   ├─ ? approval required  Delete all ⏎ of it?',
      '   └─ ! model_notice  No seed.',
    ])
    story.is(0, { type: 'interaction.approval.resolved', approvalId: 'a1' as never, decision: { kind: 'abort' }, by: 'me' }, 1)
    expect(frame(story, 0)).not.toContain('approval')
  })

  test('a requested early end is shown', () => {
    const story = twoSteps().is(1200, { type: 'interaction.cancel.requested', mode: 'interrupt', by: 'me' })
    expect(frame(story, 1200, { width: 80 })).toMatch(/^⠴ root {2}interrupting… · Ctrl-C again to exit now /)
    expect(frame(twoSteps().is(0, { type: 'interaction.cancel.requested', mode: 'stop', by: 'me' }), 0)).toMatch(
      /^⠋ root {2}stopping… · step 2/,
    )
  })

  test('a finished run does not change', () => {
    const story = twoSteps()
    expect(isAnimated(treeOf(story.events))).toBe(true)
    story.over(1300)
    expect(isAnimated(treeOf(story.events))).toBe(false)
    expect(frame(story, 5000)).toBe(frame(story, 9000))
  })
})

describe('agents below agents', () => {
  const events: StreamEvent[] = []
  new Story('root', events)
    .begins()
    .asks(0, 1)
    .answers(500, 1)
    .calls(500, 1, { id: '1', tool: 'agent__researcher', title: 'Find papers', type: 'subagent_call' })
    .calls(500, 1, { id: '2', tool: 'agent__writer', title: 'Write it up', type: 'subagent_call' })
  // Not in the order of the calls: each says itself which one has started it.
  new Story('root/writer#1', events).begins(520, {}, { of: 'root', call: 't1.s1.2' }).asks(520, 1).says(1, 'Once upon a time')
  new Story('root/researcher#1', events)
    .begins(530, {}, { of: 'root', call: 't1.s1.1' })
    .asks(530, 1)
    .answers(900, 1)
    .calls(900, 1, { id: '1', tool: 'search', title: 'Cats' })

  test('are below the calls that started them, and their tokens are added to all ancestors', () => {
    const lines = liveFrame(treeOf(events), { width: 72, height: 24, now: 1600, paint: plainPaint })
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "⠋ root  step 1 of 10 · 2 calls · $0.0040           ~300 → 44      1.6 s
      └─ step 1  fast                                     100 → 20     500 ms
         ├─ ⠋ researcher  Oslo · step 1 of 10 · 1 c…      100 → 20 ∥    1.0 s
         │  └─ step 1  fast                               100 → 20     500 ms
         │     └─ ⠋ search  Oslo · “Cats”                               0.7 s
         └─ ⠋ writer      Oslo · step 1 of 10 · “Wr…      ~100 → 4 ∥    1.0 s
            └─ ⠋ step 1  fast                             ~100 → 4      1.0 s
                 Once upon a time"
    `)
  })
})

test('a child that its parent ends is shown as such; the run continues', () => {
  const told: StreamEvent[] = []
  new Story('root', told).begins().asks(0, 1).answers(0, 1).calls(0, 1, { id: '1', tool: 'agent__scout', type: 'subagent_call' })
  new Story('root/scout#1', told)
    .begins(5, {}, { of: 'root', call: 't1.s1.1' })
    .asks(5, 1)
    .is(10, { type: 'interaction.cancel.requested', mode: 'interrupt', by: 'parent' })
  const shown = liveFrame(treeOf(told), { width: 80, height: 24, now: 400, paint: plainPaint })
  expect(shown[0]).toMatch(/^⠴ root {2}step 1 of 10/)
  expect(shown[2]).toMatch(/⠴ scout {2}Oslo · interrupting… · step 1 of 10/)
})

test('a child whose call was never heard of is a tree of its own', () => {
  const told: StreamEvent[] = []
  new Story('root', told).begins().asks(0, 1)
  new Story('root/scout#1', told).begins(5, {}, { of: 'root', call: 't9.s9.9' }).asks(5, 1)
  const shown = liveFrame(treeOf(told), { width: 80, height: 24, now: 400, paint: plainPaint })
  expect(shown.map((line) => line.replace(/(?<=\w) {2}.*/, ''))).toEqual(['⠴ root', '└─ ⠴ step 1', '⠴ scout', '└─ ⠴ step 1'])
})

test('a turn that waited for a person continues after the decision', () => {
  const story = new Story().begins().asks(0, 1).answers(0, 1)
  story.is(0, { type: 'interaction.turn.suspended', reason: 'approval', approvals: [] })
  expect(isAnimated(treeOf(story.events))).toBe(false)
  story.is(0, { type: 'interaction.approval.resolved', approvalId: 'a1' as never, decision: { kind: 'abort' }, by: 'me' }, 1)
  expect(isAnimated(treeOf(story.events))).toBe(true)
})

describe('a window that is too small', () => {
  test('older steps become one line', () => {
    expect(frame(twoSteps().asks(1200, 3), 1600, { height: 9 })).toMatchInlineSnapshot(`
      "⠋ root  step 3 of 10 · 3 calls · $0.0040           ~500 → 40      1.6 s
      ├─ ⋯ 1 step · 2 calls                               100 → 20
      ├─ step 2                                           100 → 20     500 ms
      │  └─ ✗ book_room        Oslo · “Two nights”                     100 ms
      │       network: The hotel does not answer.
      │       → Try again later.
      └─ ⠋ step 3                                         ~300 → 0      0.4 s"
    `)
    expect(frame(twoSteps().asks(1200, 3), 1600, { height: 5 }).split('\n')[1]).toMatch(/^├─ ⋯ 2 steps · 3 calls · 1 failed +200 → 40$/)
  })

  test('then calls that are over, then those that wait, then those that run', () => {
    const story = new Story().begins().asks(0, 1).answers(0, 1)
    for (let i = 1; i <= 20; i++) story.calls(0, 1, { id: String(i), title: `number ${i}` })
    for (let i = 1; i <= 6; i++) story.ends(10, 1, { id: String(i) })
    const rows = (height: number): readonly string[] => frame(story, 0, { height }).split('\n').slice(2)
    expect(rows(18)).toHaveLength(15)
    expect(rows(18)[0]).toBe('   ├─ ⋯ 6 calls')
    expect(rows(10).map((line) => line.replace(/ +∥.*/, '').trim())).toEqual([
      '├─ ⋯ 6 calls',
      '├─ ⠋ look_up  Oslo · “number 7”',
      '├─ ⠋ look_up  Oslo · “number 8”',
      '├─ ⠋ look_up  Oslo · “number 9”',
      '├─ ⠋ look_up  Oslo · “number 10”',
      '├─ ◌ look_up  Oslo · waiting · “number 11”',
      '└─ ⋯ 9 waiting',
    ])
    expect(rows(7).at(-1)).toBe('   └─ ⋯ 2 running · 10 waiting')
  })

  test('no line is as wide as the window, no picture as high, and no text steers it, whatever happens', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 })
    const steps = fc.array(fc.tuple(text, fc.array(fc.tuple(text, text, fc.boolean()), { maxLength: 6 }), fc.boolean()), { maxLength: 8 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 130 }), fc.integer({ min: 1, max: 30 }), (told, width, height) => {
        const story = new Story().begins()
        for (const [i, [said, calls, isFailing]] of told.entries()) {
          const step = i + 1
          story.asks(step, step, { model: said }).says(step, said)
          if (isFailing) story.fails(step, step, { message: said }).asks(step, step, { attempt: 2 })
          if (calls.length > 0) story.answers(step, step)
          for (const [n, [tool, title, isOver]] of calls.entries()) {
            story.calls(step, step, { id: String(n), tool, title })
            if (isOver) story.ends(step, step, { id: String(n), error: { class: 'failed', message: title } })
          }
        }
        const tree = treeOf(story.events)
        const lines = liveFrame(tree, { width, height, now: 1000, paint: plainPaint })
        expect(lines.length).toBeLessThan(height)
        for (const line of lines) {
          expect(widthOf(line)).toBeLessThan(width)
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
        }
        const coloured = liveFrame(tree, { width, height, now: 1000, paint: colourPaint })
        expect(coloured.map((line) => line.replaceAll(styles, ''))).toEqual(lines)
      }),
      { numRuns: process.env.TROUPE_FULL ? 1_000 : 100 },
    )
  })
})

test('a picture of a long run is cheap, and so is a token', () => {
  const story = new Story().begins(0, { maxToolTurns: 5000 })
  for (let step = 1; step <= 1000; step++) {
    story.asks(step, step).answers(step, step)
    for (const id of ['1', '2', '3']) story.calls(step, step, { id }).ends(step, step, { id })
  }
  const tree = treeOf(story.asks(2000, 1001).events)
  const view = { width: 80, height: 24, now: 3000, paint: colourPaint }
  liveFrame(tree, view)
  const beforePictures = performance.now()
  for (let i = 0; i < 10; i++) liveFrame(tree, view)
  expect((performance.now() - beforePictures) / 10).toBeLessThan(1_000)

  const [token] = new Story().says(1001, 'word ').events as [StreamEvent]
  const beforeTokens = performance.now()
  for (let i = 0; i < 100_000; i++) applyEvent(tree, token)
  expect((performance.now() - beforeTokens) / 100_000).toBeLessThan(0.2)
})

test('a picture of thousands of children is cheap, and so is each of them', () => {
  const events: StreamEvent[] = []
  const most = 1500
  const root = new Story('root', events).begins(0, { parallelToolCalls: most }).asks(0, 1).answers(0, 1)
  for (let i = 1; i <= most; i++) root.calls(0, 1, { id: String(i), tool: 'agent__scout', type: 'subagent_call' })
  for (let i = 1; i <= most - 4; i++) {
    new Story(`root/scout#${i}`, events)
      .begins(i, {}, { of: 'root', call: `t1.s1.${i}` })
      .asks(i, 1)
      .answers(i, 1)
      .over(i)
    root.ends(i, 1, { id: String(i) })
  }
  const beforeTree = performance.now()
  const tree = treeOf(events)
  expect((performance.now() - beforeTree) / events.length).toBeLessThan(5)
  const view = { width: 80, height: 24, now: 6000, paint: colourPaint }
  expect(liveFrame(tree, view).map((line) => line.replaceAll(styles, ''))).toContainEqual(
    expect.stringMatching(/⋯ 14\d\d children +14\d\.\dk →/),
  )
  const beforePictures = performance.now()
  for (let i = 0; i < 5; i++) liveFrame(tree, view)
  expect((performance.now() - beforePictures) / 5).toBeLessThan(2_000)
})
