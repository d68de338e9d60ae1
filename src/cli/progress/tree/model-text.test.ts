import { expect, test } from 'vitest'
import { Story } from '../../../../test/fixtures/run-story.ts'
import type { InteractionEvent } from '../../../contracts/index.ts'
import { plainPaint } from '../../terminal/paint.ts'
import { PlainProgress } from '../plain-progress.ts'
import { modelText } from './model-text.ts'
import { renderTree } from './render-tree.ts'

test.each([
  ['script/a.yaml', 'script/a.yaml'],
  ['openrouter/someone/a-model-with-a-very-long-name-indeed', 'openrouter/someone/a-model-with-a-very-long-name-indeed'],
  ['script//tmp/work/examples/07-three-levels/scouts/lead.yaml', 'script/…/scouts/lead.yaml'],
  ['script//tmp/work/07-three-levels-of-agents/research-lead.yaml', 'script/…/research-lead.yaml'],
])('%s', (model, text) => {
  expect(modelText(model)).toBe(text)
})

test('a failure that is a sentence is followed by the next attempt, without a full stop between', () => {
  const { events } = new Story().begins().asks(0, 1).fails(100, 1, { delayMs: 180, message: 'Nothing answers (ECONNREFUSED).' })
  const progress = new PlainProgress(plainPaint)
  expect(events.flatMap((event) => progress.lines(event)).at(-1)).toBe('  ↻ rate_limit: Nothing answers (ECONNREFUSED); next in 180 ms')
})

test('a call shows nothing that could control a terminal', () => {
  const call = { id: '1', tool: 'look\u001b[2J_up', title: 'why\u001b[31m\u0007\u202e' }
  const { events } = new Story().begins().asks(1, 1).answers(2, 1).calls(3, 1, call)
  const progress = new PlainProgress(plainPaint)
  for (const lines of [
    renderTree(events as InteractionEvent[], { paint: plainPaint, width: 100 }),
    events.flatMap((event) => progress.lines(event)),
  ]) {
    expect(lines.join('\n')).toContain('look_up')
    expect(lines.join('')).not.toMatch(/\p{Cc}|\p{Cf}/u)
  }
})
