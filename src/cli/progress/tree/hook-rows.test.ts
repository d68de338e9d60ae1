import { expect, test } from 'vitest'
import { Story } from '../../../../test/fixtures/run-story.ts'
import { type CheckedOutput, type InteractionEvent, noUsage } from '../../../contracts/index.ts'
import { applyEvent, emptyTree } from '../../../view/index.ts'
import { plainPaint } from '../../terminal/paint.ts'
import { widthOf } from '../../terminal/text-width.ts'
import { logLine } from '../json-log.ts'
import { liveFrame } from '../live-frame.ts'
import { PlainProgress } from '../plain-progress.ts'
import { renderTree } from './render-tree.ts'

// Why there is another step. Pictures are kept here so that a change of them is looked at.

const wrong = (...problems: readonly string[]): CheckedOutput => ({ ok: false, problems, notice: '', remedy: '' })
const refuses = (story: Story, step: number, output: CheckedOutput): Story =>
  story
    .is(
      200 * step - 100,
      {
        type: 'interaction.item.completed',
        item: {
          kind: 'text',
          id: `t1.s${step}.w` as never,
          type: 'agent_message',
          status: 'completed',
          text: 'Bergen\u001b[2J is in Norway.',
        },
      },
      step,
    )
    .is(
      200 * step - 100,
      { type: 'interaction.step.completed', reply: [], finish: 'stop', usage: noUsage, cost: 0, latencyMs: 100, output },
      step,
    )

type Hooked = Omit<InteractionEvent<'interaction.hook.completed'>, 'type'>
const hook = (verdict: Hooked['verdict'], message: string, itemId?: string) =>
  ({
    type: 'interaction.hook.completed',
    hook: verdict === 'resumed' ? 'stop' : 'guard',
    verdict,
    message,
    ...(itemId && { itemId }),
  }) as never

const blocked = { class: 'blocked', message: 'The call was blocked: A person publishes.', remedy: 'Try another way.' } as const

function sentBack(): Story {
  const story = new Story().begins().asks(0, 1)
  refuses(story, 1, wrong('it is not JSON')).asks(200, 2)
  return refuses(story, 2, wrong('missing required "country" (string)', 'no `land`')).asks(400, 3)
}
const hooked = (): Story =>
  new Story()
    .begins()
    .asks(0, 1)
    .answers(100, 1)
    .is(110, hook('blocked', 'A person publishes.', 't1.s1.1'), 1)
    .calls(120, 1, { id: '1' })
    .ends(120, 1, { id: '1', latencyMs: 0, error: blocked })
    .is(130, hook('changed', 'a minute is enough', 't1.s1.2'), 1)
    .calls(140, 1, { id: '2' })
    .is(200, hook('context', 'Mind the\u001b[2J gap.', 't1.s1.2'), 1)
    .ends(240, 1, { id: '2' })
    .asks(250, 2)
    .answers(350, 2)
    .is(360, hook('resumed', 'Find out, do not guess.'), 2)
    .asks(400, 3)
    .answers(500, 3)

const eventsOf = ({ events }: Story) => events.filter((event): event is InteractionEvent => 'seq' in event)
const treeOf = (story: Story, width: number) =>
  renderTree(eventsOf(story), { paint: plainPaint, width }).map((line) => line.replace(/ {2,}[~\d].*$/, ''))
const plainOf = ({ events }: Story, detail: 'plain' | 'verbose' = 'plain') => {
  const progress = new PlainProgress(plainPaint, detail)
  return events.flatMap((event) => progress.lines(event))
}

test('an answer that was sent back is shown with its first problem; the last one is refused', () => {
  const story = sentBack()
  const failed = refuses(story, 3, wrong('it is not JSON'))
  failed.over(600, { status: 'failed', reason: 'invalid_output', message: 'No JSON.' })
  expect(treeOf(failed, 80).slice(1)).toEqual([
    '├─ step 1  fast',
    '│  └─ ↻ answer sent back  it is not JSON',
    '├─ step 2',
    '│  └─ ↻ answer sent back  missing required "country" (string) · and 1 more',
    '└─ step 3',
    '   └─ ✗ answer rejected  it is not JSON',
  ])
  expect(treeOf(failed, 40)[4]).toBe('│  └─ ↻ answer sent back  missing requ…')
  expect(plainOf(failed)).toEqual([
    'step 1 fast',
    '  ↻ answer sent back: it is not JSON',
    'step 2',
    '  ↻ answer sent back: missing required "country" (string) · and 1 more',
    'step 3',
    '  ✗ answer rejected: it is not JSON',
  ])
})

test('with more detail the answer is shown; a log has all its problems', () => {
  expect(plainOf(sentBack(), 'verbose').slice(1, 4)).toEqual([
    expect.stringContaining('  = '),
    '  ↻ answer sent back: it is not JSON',
    '    Bergen is in Norway.',
  ])
  const refused = eventsOf(sentBack()).findLast(({ type }) => type === 'interaction.step.completed')
  expect(JSON.parse(logLine(refused!, { now: 0 }) ?? '')).toMatchObject({
    level: 'warn',
    msg: 'model answered in 100 ms: missing required "country" (string)',
    problems: ['missing required "country" (string)', 'no `land`'],
  })
})

test('hooks: which one blocked, what was changed or added, why the model had to continue', () => {
  const story = hooked().over(600)
  expect(treeOf(story, 80).slice(1)).toEqual([
    '├─ step 1  fast',
    '│  ├─ ✗ look_up  Oslo',
    '│  │    blocked by hook guard: A person publishes.',
    '│  │    → Try another way.',
    '│  └─ ✓ look_up  Oslo',
    '│       ⚑ hook guard changed the arguments: a minute is enough',
    '│       ⚑ hook guard added: Mind the gap.',
    '├─ step 2',
    '│  └─ ⚑ hook stop  sent the answer back: Find out, do not guess.',
    '└─ step 3',
  ])
  expect(plainOf(story)).toEqual([
    'step 1 fast',
    '  → look_up · Oslo',
    '  ✗ look_up blocked by hook guard: A person publishes. 0 ms',
    '  → look_up · Oslo',
    '    ⚑ hook guard changed the arguments: a minute is enough',
    '    ⚑ hook guard added: Mind the gap.',
    '  ✓ look_up 100 ms',
    'step 2',
    '  ⚑ hook stop sent the answer back: Find out, do not guess.',
    'step 3',
  ])
})

test.each([40, 80, 140])('the live tree has them, too, and nothing is wider than %i columns', (width) => {
  for (const story of [sentBack(), hooked()]) {
    const tree = emptyTree()
    for (const event of story.events) applyEvent(tree, event)
    const frame = liveFrame(tree, { width, height: 40, now: 700, paint: plainPaint })
    expect(frame.filter((line) => /↻ answer sent back|⚑ hook stop|⚑ hook guard|blocked by hook guard/.test(line)).length).toBe(
      story.events.length > 15 ? 4 : 2,
    )
    for (const line of [...frame, ...treeOf(story, width)]) expect(widthOf(line)).toBeLessThan(width)
  }
})
