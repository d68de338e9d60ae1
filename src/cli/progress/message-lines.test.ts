import { describe, expect, test } from 'vitest'
import { Story } from '../../../test/fixtures/run-story.ts'
import { Window } from '../../../test/fixtures/terminal-window.ts'
import type { InteractionEvent, Plan } from '../../contracts/index.ts'
import { FakeClock } from '../../testing/index.ts'
import { runTree } from '../../view/index.ts'
import { replyLines } from '../terminal/markdown/render-markdown.ts'
import { plainPaint } from '../terminal/paint.ts'
import { widthOf } from '../terminal/text-width.ts'
import { LiveProgress } from './live-progress.ts'
import { MessageLines } from './message-lines.ts'
import { PlainProgress } from './plain-progress.ts'

const plan = (...statuses: readonly Plan['steps'][number]['status'][]): never =>
  ({
    type: 'interaction.item.updated',
    update: { kind: 'plan', plan: { steps: statuses.map((status) => ({ step: status, status })) } },
  }) as never

const asked = (): Story =>
  new Story()
    .begins()
    .asks(0, 1)
    .answersWith(500, 1, 'I look first.')
    .calls(500, 1, { id: '1', tool: 'read_file' })
    .ends(600, 1, { id: '1' })
    .is(600, plan('in_progress', 'pending'), 1)
    .asks(600, 2)
    .answersWith(1000, 2, 'It is missing.\n\nSo I write it now.')
    .wants(1000, 2, { call: '1' })
const aside = (lines: MessageLines, { events }: Story, width = 60): readonly string[] =>
  lines.next(runTree(events as InteractionEvent[]), { paint: plainPaint, width })

describe('above a question', () => {
  test('are the steps since the last one, the plan, and the text of the model', () => {
    expect(`\n${aside(new MessageLines(), asked()).join('\n')}\n`).toMatchInlineSnapshot(`
      "
      step 1  fast                             100 → 20     500 ms
      │  I look first.
      └─ ✓ read_file  Oslo                                  100 ms
      ☰ plan  0 of 2 done · now: in_progress
      step 2                                   100 → 20     500 ms
      │  It is missing.
      │
      │  So I write it now.
      "
    `)
  })

  test('no line is repeated, however many questions a run asks', () => {
    const window = new Window({ width: 60, height: 30 })
    const live = new LiveProgress({ terminal: window, clock: new FakeClock(), paint: plainPaint })
    const story = asked()
    let shown = 0
    const question = (): string => {
      for (const event of story.events.slice(shown)) live.show(event)
      shown = story.events.length
      window.written.length = 0
      live.pause()
      const text = window.written.join('')
      live.resume()
      return text
    }
    expect(question()).toContain('So I write it now.\r\n')
    expect(question()).not.toContain('write it')
    story.decides(1100, 2, { call: '1' }).calls(1100, 2, { id: '1', tool: 'write_file' }).ends(1200, 2, { id: '1' })
    story.asks(1200, 3).answersWith(1300, 3, 'One more.').wants(1300, 3, { call: '3' })
    const next = question()
    expect(next).toContain('One more.')
    expect(next).not.toMatch(/I look|write it|plan/)
    story
      .decides(1400, 3, { call: '3' })
      .is(1500, plan('completed', 'in_progress'), 3)
      .asks(1500, 4)
      .answers(1600, 4)
      .wants(1600, 4, { call: '4' })
    expect(question()).toContain('plan  1 of 2 done · now: in_progress')
    live.close('erase')
  })

  test('each line of a child begins with its name; agents that do not ask are omitted', () => {
    const events: Story['events'] = []
    new Story('root', events)
      .begins()
      .asks(0, 1)
      .answersWith(1, 1, 'Go, scout.')
      .calls(1, 1, { id: '1', tool: 'agent__scout', type: 'subagent_call' })
    const child = new Story('root/scout#1', events).begins(5, {}, { of: 'root', call: 't1.s1.1' }).asks(5, 1)
    const lines = aside(new MessageLines(), child.answersWith(6, 1, 'I need this.').wants(7, 1, { call: '1' }))
    expect(lines).toEqual([expect.stringMatching(/^child:scout │ step 1 {2}fast/), 'child:scout │ │  I need this.'])
  })

  test('long runs and long speeches are bounded, and nothing is wider than the window', () => {
    const story = new Story().begins()
    for (let step = 1; step < 30; step++)
      story
        .asks(step, step)
        .answers(step, step)
        .calls(step, step, { id: '1', title: 'x'.repeat(99) })
        .ends(step, step, { id: '1' })
    story
      .asks(90, 30)
      .answersWith(91, 30, `\u001b[2J${'word '.repeat(500)}${'y'.repeat(200)}`)
      .wants(92, 30, { call: '1' })
    for (const width of [12, 39, 79, 139]) {
      const lines = aside(new MessageLines(), story, width)
      expect(lines.length).toBeLessThan(30)
      expect(lines[0]).toBe('⋯')
      expect(lines.join('')).not.toContain('\u001b')
      for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(width)
    }
  })
})

test('in lines: text beside calls is printed above them; the answer is not', () => {
  const plain = new PlainProgress(plainPaint)
  const text = { kind: 'text', id: 't1.s3.w', type: 'agent_message', status: 'completed', text: 'Done.' } as never
  const story = asked().asks(1100, 3).is(1200, { type: 'interaction.item.completed', item: text }, 3).answers(1200, 3)
  expect(story.events.flatMap((event) => plain.lines(event))).toEqual([
    'step 1 fast',
    '  │ I look first.',
    '  → read_file · Oslo',
    '  ✓ read_file 100 ms',
    '  ☰ plan · 0 of 2 done · now: in_progress',
    'step 2',
    '  │ It is missing.',
    '  │',
    '  │ So I write it now.',
    '  ? approval required: Write a.txt',
    'step 3',
  ])
})

test('text wraps between words, keeps its indentation, and breaks words that are too long', () => {
  expect(replyLines('one two  three\n\n\tfour fivesixseven', { width: 9, maxLines: 20 })).toEqual([
    'one two',
    'three',
    '',
    '    four',
    '    fives',
    '    ixsev',
    '    en',
  ])
  expect(replyLines('a\nb\nc\nd', { width: 20, maxLines: 2 })).toEqual(['a', 'b', '… 2 more lines'])
  expect(replyLines('a\nb\nc', { width: 9, maxLines: 2 })).toEqual(['a', 'b', '… 1 more…'])
})
