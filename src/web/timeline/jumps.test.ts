import { expect, test } from 'vitest'
import { Story } from '../../../test/fixtures/run-story.ts'
import { applyEvent, emptyTree } from '../../view/index.ts'
import { jumpsOf } from './jumps.ts'
import { allRows } from './rows.ts'

const jumps = ({ events }: Story) => {
  const tree = emptyTree({ keepsContent: true })
  for (const event of events) applyEvent(tree, event)
  return jumpsOf(allRows(tree))
}

test('the slowest and the dearest of several, and what failed', () => {
  const run = new Story().begins().asks(0, 1).fails(100, 1, { delayMs: 400 }).asks(500, 1, { attempt: 2 })
  run.answers(1_000, 1, { cost: 0.01, latencyMs: 500 }).calls(1_000, 1, { id: '1', tool: 'book' })
  run.ends(3_000, 1, { id: '1', latencyMs: 2_000, error: { class: 'network', message: 'No.' } })
  run.asks(3_000, 2).answers(3_200, 2, { cost: 0.03, latencyMs: 200 })
  expect(jumps(run)).toEqual({
    slowest: { id: 'root/t1.s1.1', ms: 2_000 },
    dearest: { id: 'root/t1.s2', cost: 0.03 },
    failed: ['root/t1.s1~1~fast', 'root/t1.s1.1'],
  })
})

test('one step is neither', () => {
  expect(jumps(new Story().begins().asks(0, 1).answers(1_000, 1))).toEqual({ failed: [] })
})
