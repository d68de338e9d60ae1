import { expect, test } from 'vitest'
import { Story } from '../../../../test/fixtures/run-story.ts'
import type { CallIntent, CallRecord, EventBody, InteractionEvent, Plan } from '../../../contracts/index.ts'
import { applyEvent, emptyTree } from '../../../view/index.ts'
import { plainPaint } from '../../terminal/paint.ts'
import { widthOf } from '../../terminal/text-width.ts'
import { logLine } from '../json-log.ts'
import { liveFrame } from '../live-frame.ts'
import { PlainProgress } from '../plain-progress.ts'
import { planLines } from './leaf-rows.ts'
import { renderTree } from './render-tree.ts'

// What an agent that acts in the world looks like. Pictures are kept here so that a change of them is looked at.

const carried = { bundles: [], lines: [], summary: 'So far, so good.', length: 1 }
const started = (id: string, more: Partial<CallIntent>): EventBody => ({
  type: 'interaction.item.started',
  item: {
    kind: 'call',
    id: id as CallIntent['id'],
    type: 'tool_call',
    tool: 'shell',
    namespace: '',
    title: more.tool ?? 'shell',
    providerCallId: id,
    input: {},
    effect: 'write',
    lane: { kind: 'exclusive' },
    ...more,
  },
})
const ended = (id: string, more: Partial<CallRecord>): EventBody => ({
  type: 'interaction.item.completed',
  item: {
    kind: 'call',
    id: id as CallRecord['id'],
    type: 'tool_call',
    status: 'completed',
    content: '',
    latencyMs: 100,
    bytesIn: 1,
    bytesOut: 2,
    ...more,
  },
})
const plan = (...statuses: readonly Plan['steps'][number]['status'][]): Plan => ({
  steps: statuses.map((status, index) => ({
    step: ['Read the tests', 'Mend the parser', 'Run everything'][index] ?? `Step ${index + 1}`,
    status,
  })),
})
const change = (path: string, more: object) => ({ path, kind: 'update', added: 0, removed: 0, diff: '', ...more })
const diff = '--- a/src/parse.ts\n+++ b/src/parse.ts\n@@ -1,2 +1,3 @@\n-const a = 1\n+const a = 2\n+const b\u001b = 3\n export { a }\n'

function acting(): Story {
  const story = new Story().begins().asks(0, 1).answers(500, 1)
  return story
    .is(
      510,
      {
        type: 'interaction.item.started',
        item: { kind: 'plan', id: 't1.plan' as never, type: 'todo_list', plan: plan('in_progress', 'pending', 'pending') },
      },
      1,
    )
    .is(
      600,
      started('t1.s1.1', {
        type: 'command_execution',
        details: { command: 'npm test -- --run src/parse', cwd: '.' },
        approved: { by: 'allow shell(npm test*) (the command line)' },
      }),
      1,
    )
}
function more(story: Story): Story {
  return story
    .is(
      2600,
      ended('t1.s1.1', {
        type: 'command_execution',
        latencyMs: 2000,
        content: 'Exit code 1 after 2.0 s.\nrunning\n1 failed\n',
        value: { exitCode: 1 },
      }),
      1,
    )
    .is(2610, { type: 'interaction.item.updated', update: { kind: 'plan', plan: plan('completed', 'in_progress', 'pending') } }, 1)
    .asks(2700, 2)
    .answers(3200, 2)
    .is(
      3200,
      started('t1.s2.1', {
        type: 'file_change',
        tool: 'edit_file',
        title: 'The first line was wrong',
        details: { changes: [{ path: 'src/parse.ts', kind: 'update' }] },
        approved: { by: 'person at the terminal' },
      }),
      2,
    )
    .is(3300, ended('t1.s2.1', { type: 'file_change', value: { changes: [change('src/parse.ts', { added: 2, removed: 1, diff })] } }), 2)
    .is(
      3300,
      started('t1.s2.2', {
        type: 'file_change',
        tool: 'apply_patch',
        details: { changes: [{ path: 'a.ts' }, { path: 'b.ts' }] },
        approved: { by: 'granted for this session' },
      }),
      2,
    )
    .is(
      3400,
      ended('t1.s2.2', {
        type: 'file_change',
        value: {
          changes: [
            change('a.ts', { added: 12 }),
            change('b.ts', { kind: 'move', to: 'c.ts' }),
            change('d.ts', { kind: 'delete', removed: 4 }),
          ],
        },
      }),
      2,
    )
    .is(3400, started('t1.s2.3', { tool: 'ask_user', title: 'Which colour?', input: { question: 'Which colour?' }, answer: 'blue' }), 2)
    .is(3400, ended('t1.s2.3', {}), 2)
    .is(3500, { type: 'interaction.context.compacted', messages: [], kept: 2, carried, tokensBefore: 9000, tokensAfter: 2100 }, 2)
    .asks(3600, 3)
    .answers(4000, 3)
}

const frame = (story: Story, now: number, size = { width: 80, height: 30 }): string => {
  const tree = emptyTree()
  for (const event of story.events) applyEvent(tree, event)
  return `\n${liveFrame(tree, { ...size, now, paint: plainPaint }).join('\n')}\n`
}
const tree = (story: Story, width: number): readonly string[] =>
  renderTree(story.events as InteractionEvent[], { paint: plainPaint, width })

test('a command at work: the plan above, and the end of what it prints below', () => {
  const story = acting()
    .says(1, 'collecting\n\nrunning 12 tests\n  ✓ one\n  ✓ tw', { kind: 'output', item: '1' })
    .says(1, 'o\u001b[31m\n', { kind: 'output', item: '1' })
  expect(frame(story, 1600)).toMatchInlineSnapshot(`
    "
    ⠋ root  step 1 of 10 · 1 call · $0.0020                     100 → 20      1.6 s
    ├─ ☰ plan  0 of 3 done
    │    ▸ Read the tests
    │    · Mend the parser
    │    · Run everything
    └─ step 1  fast                                             100 → 20     500 ms
       └─ ⠋ shell  npm test -- --run src/parse · allowed: shell(npm tes…      1.0 s
            running 12 tests
            ✓ one
            ✓ two
    "
  `)
})

test('what comes out of it is bounded, however much it prints', () => {
  const story = acting()
  for (let i = 0; i < 100; i++) story.says(1, `${'x'.repeat(1000)}\n`, { kind: 'output', item: '1' })
  const drawn = emptyTree()
  for (const event of story.events) applyEvent(drawn, event)
  expect(drawn.sessions.get('root' as never)?.calls.get('t1.s1.1')?.output?.length).toBeLessThan(10_000)
})

test('when it is over: what was done to files, how commands ended, who approved, and that the history became shorter', () => {
  expect(`\n${tree(more(acting()).over(4000), 100).join('\n')}\n`).toMatchInlineSnapshot(`
    "
    root  completed · 1 step                                     0 → 0     4.00 s  ▏──────────────────▕
    ├─ ☰ plan  1 of 3 done
    │    ✓ Read the tests
    │    ▸ Mend the parser
    │    · Run everything
    ├─ step 1  fast                                           100 → 20     500 ms  ▏▒▒                ▕
    │  └─ ≠ shell        npm test -- --run src/parse · exit code 1 · …     2.00 s  ▏  ██████████      ▕
    ├─ step 2                                                 100 → 20     500 ms  ▏            ▒▒    ▕
    │  ├─ ✓ edit_file    src/parse.ts · +2 -1 · “The first line was w…     100 ms  ▏              █   ▕
    │  ├─ ✓ apply_patch  a.ts, b.ts · granted for this session         ∥   100 ms  ▏              █   ▕
    │  │    a.ts +12
    │  │    b.ts → c.ts
    │  │    d.ts deleted -4
    │  ├─ ✓ ask_user     Which colour? · answered: blue                ∥   100 ms  ▏              █   ▕
    │  └─ ⇣ history compacted  9,000 → 2,100 tokens
    └─ step 3                                                 100 → 20     500 ms  ▏                ▒▒▕
    "
  `)
})

test.each([24, 40, 60, 80, 120])('nothing is wider than a window of %d columns', (width) => {
  for (const line of tree(more(acting()).over(4000), width)) expect(widthOf(line), line).toBeLessThan(width)
})

test('in a window that is too low, the plan is the last thing to go', () => {
  const lines = frame(more(acting()).asks(4100, 4), 4200, { width: 80, height: 9 }).trim().split('\n')
  expect(lines.map((line) => line.replace(/(?<=\w) {3,}.*/, ''))).toEqual([
    '⠹ root  step 4 of 10 · 4 calls · $0.0060',
    '├─ ⋯ 2 steps · 4 calls',
    '├─ ☰ plan  1 of 3 done',
    '│    ✓ Read the tests',
    '│    ▸ Mend the parser',
    '│    · Run everything',
    '├─ step 3',
    '└─ ⠹ step 4',
  ])
})

test('in lines', () => {
  const plain = new PlainProgress(plainPaint)
  expect(
    `\n${more(acting())
      .events.flatMap((event) => plain.lines(event))
      .join('\n')}\n`,
  ).toMatchInlineSnapshot(`
    "
    step 1 fast
      ☰ plan · 0 of 3 done · now: Read the tests
      → shell · npm test -- --run src/parse · allowed: shell(npm test*) (the command line)
      ≠ shell exit code 1 2.00 s
        running
        1 failed
      ☰ plan · 1 of 3 done · now: Mend the parser
    step 2
      → edit_file · src/parse.ts · “The first line was wrong”
      ✓ edit_file 100 ms
        src/parse.ts +2 -1
      → apply_patch · a.ts, b.ts · granted for this session
      ✓ apply_patch 100 ms
        a.ts +12
        b.ts → c.ts
        d.ts deleted -4
      → ask_user · Which colour?
      ✓ ask_user 100 ms
      ⇣ history compacted: 9,000 → 2,100 tokens
    step 3
    "
  `)
})

test('in lines, with full details: diffs, up to their limit', () => {
  const verbose = new PlainProgress(plainPaint, 'verbose')
  const lines = more(acting()).events.flatMap((event) => verbose.lines(event))
  expect(`\n${lines.slice(lines.findIndex((line) => line.includes('→ edit_file'))).join('\n')}\n`).toMatchInlineSnapshot(`
    "
      → edit_file · src/parse.ts · “The first line was wrong”
        {}
      ✓ edit_file 100 ms
        src/parse.ts +2 -1
        @@ -1,2 +1,3 @@
        -const a = 1
        +const a = 2
        +const b<U+001B> = 3
         export { a }
      → apply_patch · a.ts, b.ts · granted for this session
        {}
      ✓ apply_patch 100 ms
        a.ts +12
        b.ts → c.ts
        d.ts deleted -4
      → ask_user · Which colour?
        {"question":"Which colour?"}
      ✓ ask_user 100 ms
      ⇣ history compacted: 9,000 → 2,100 tokens
    step 3
      = 100 → 20 tokens · $0.0020 · 500 ms · stop
    "
  `)
  const long = `@@ -0,0 +1,100 @@\n${Array.from({ length: 100 }, (_, i) => `+${'y'.repeat(300)}${i}`).join('\n')}\n`
  const story = acting().is(
    700,
    ended('t1.s1.1', { type: 'file_change', value: { changes: [change('long.ts', { added: 100, diff: long })] } }),
    1,
  )
  const bounded = story.events.flatMap((event) => verbose.lines(event)).slice(-42)
  expect(bounded.at(-1)).toBe('    … 61 more lines')
  for (const line of bounded) expect(widthOf(line)).toBeLessThanOrEqual(210)
})

test('who answered, in lines', () => {
  const plain = new PlainProgress(plainPaint)
  const resolved = (decision: object, by: string): EventBody =>
    ({ type: 'interaction.approval.resolved', approvalId: 'a', decision, by }) as never
  const story = new Story().begins().asks(0, 1).answers(1, 1)
  for (const [decision, by] of [
    [{ kind: 'approve', breadth: 'once' }, 'person at the terminal'],
    [{ kind: 'approve', breadth: 'project' }, 'somebody'],
    [{ kind: 'answer', text: 'blue' }, 'person at the terminal'],
    [{ kind: 'deny' }, 'approvals.onUnavailable'],
    [{ kind: 'abort' }, 'person at the terminal'],
  ] as const)
    story.is(2, resolved(decision, by), 1)
  expect(story.events.flatMap((event) => plain.lines(event)).slice(1)).toEqual([
    '    approved at the terminal',
    '    approved by somebody for the project',
    '    answered at the terminal',
    '    declined by approvals.onUnavailable',
    '    declined at the terminal',
  ])
})

test('as a log: figures and names, no diff and no output', () => {
  const entries = more(acting()).events.flatMap((event) => {
    const line = logLine(event, { now: 0 })
    return line === undefined ? [] : [JSON.parse(line) as { msg: string; [field: string]: unknown }]
  })
  const about = (msg: string) => entries.find((entry) => entry.msg.startsWith(msg))
  expect(about('plan created')).toMatchObject({ steps: [{ step: 'Read the tests', status: 'in_progress' }, {}, {}] })
  expect(about('plan changed')).toMatchObject({ steps: [{ status: 'completed' }, {}, {}] })
  expect(about('call started: shell')).toMatchObject({
    about: 'npm test -- --run src/parse',
    approvedBy: 'allow shell(npm test*) (the command line)',
  })
  expect(entries.find(({ exitCode }) => exitCode === 1)).toBeDefined()
  expect(entries.find(({ changes }) => changes !== undefined)).toMatchObject({
    changes: [{ path: 'src/parse.ts', kind: 'update', added: 2, removed: 1 }],
  })
  expect(about('history compacted')).toMatchObject({ tokensBefore: 9000, tokensAfter: 2100 })
  expect(JSON.stringify(entries)).not.toContain('const a')
})

test('a long plan shows its current step', () => {
  const long = plan(...Array.from({ length: 20 }, (_, i) => (i < 11 ? 'completed' : i === 11 ? 'in_progress' : 'pending') as 'pending'))
  expect(planLines(long)).toEqual([
    '✓ 10 more',
    '✓ Step 11',
    '▸ Step 12',
    '· Step 13',
    '· Step 14',
    '· Step 15',
    '· Step 16',
    '· Step 17',
    '· Step 18',
    '· 2 more',
  ])
  expect(planLines(plan('completed', 'completed', 'completed'))).toEqual(['✓ Read the tests', '✓ Mend the parser', '✓ Run everything'])
})

test('a foreign tool with other values is shown without them', () => {
  const story = new Story()
    .begins()
    .asks(0, 1)
    .answers(1, 1)
    .is(2, started('t1.s1.1', { type: 'file_change', tool: 'odd', details: { changes: [7, { path: 8 }] } }), 1)
    .is(3, ended('t1.s1.1', { type: 'file_change', value: { changes: [null, { path: 'x' }, { path: 1, added: 1, removed: 1 }] } }), 1)
    .is(4, started('t1.s1.2', { type: 'command_execution', tool: 'odd', details: { command: 5 } }), 1)
    .is(5, ended('t1.s1.2', { type: 'command_execution', value: 'done' }), 1)
    .over(6)
  expect(
    tree(story, 60)
      .filter((line) => line.includes('odd'))
      .map((line) => line.trim().replace(/[ ∥]+/g, ' ')),
  ).toEqual(['├─ ✓ odd 100 ms', '└─ ✓ odd 100 ms'])
})
