import { expect, test } from 'vitest'
import { plainPaint } from '../paint.ts'
import { PlainProgress } from '../progress/plain-progress.ts'
import { Story } from './fixtures/story.ts'
import { modelText } from './model-text.ts'

test.each([
  ['script/a.yaml', 'script/a.yaml'],
  ['openrouter/someone/a-model-with-a-very-long-name-indeed', 'openrouter/someone/a-model-with-a-very-long-name-indeed'],
  ['script//tmp/work/examples/07-three-levels/scouts/lead.yaml', 'script/…/scouts/lead.yaml'],
  ['script//tmp/work/07-three-levels-of-agents/research-lead.yaml', 'script/…/research-lead.yaml'],
])('%s', (model, text) => {
  expect(modelText(model)).toBe(text)
})

test('a failure that is a sentence goes on with the next attempt, without a full stop between', () => {
  const { events } = new Story().begins().asks(0, 1).fails(100, 1, { delayMs: 180, message: 'Nothing answers (ECONNREFUSED).' })
  const progress = new PlainProgress(plainPaint)
  expect(events.flatMap((event) => progress.lines(event)).at(-1)).toBe('  ↻ rate_limit: Nothing answers (ECONNREFUSED); next in 180 ms')
})
