import { expect, test } from 'vitest'
import { Story } from '../../../test/fixtures/run-story.ts'
import { applyEvent, emptyTree, type TurnNode } from '../../view/index.ts'
import { callsMs, callsText, failedOf, turnParts } from './call-runs.ts'
import { isQuiet, rangeWith, shownSteps } from './conversation-items.ts'

const failed = { class: 'failed', message: 'No.' } as const

/** Steps with one call each, a text between them, and a step that still works. */
function turn(): TurnNode {
  const run = new Story().begins()
  for (let step = 1; step <= 12; step++) {
    run.asks(step * 100, step)
    if (step === 7) run.answersWith(step * 100 + 10, step, 'Now the other half.')
    else run.answers(step * 100 + 10, step)
    run.calls(step * 100 + 10, step, { id: '1', tool: step % 3 === 0 ? 'search_files' : 'read_file' })
    if (step < 12) run.ends(step * 100 + 50, step, { id: '1', latencyMs: 40, ...(step === 2 && { error: failed }) })
  }
  const tree = emptyTree({ keepsContent: true })
  for (const event of run.events) applyEvent(tree, event)
  return tree.roots[0]?.turns[0] as TurnNode
}

test('steps in which nothing but calls happened are one line, until something is said', () => {
  const { shown } = shownSteps(turn(), { limit: 40 })
  const parts = turnParts(shown, isQuiet)
  expect(parts.map((part) => (part.kind === 'run' ? part.calls.length : part.shown.step.number))).toEqual([6, 7, 4, 12])
  const [run] = parts
  const calls = run?.kind === 'run' ? run.calls : []
  expect([callsText(calls), failedOf(calls), callsMs(calls)]).toEqual(['Read 4 files, 2 searches', 1, 540])
})

test('few calls are shown themselves', () => {
  const { shown } = shownSteps(turn(), { limit: 40 })
  expect(turnParts(shown.slice(0, 3), isQuiet).map(({ kind }) => kind)).toEqual(['step', 'step', 'step'])
})

test('a folded step takes no room, and is found', () => {
  const long = turn()
  const { shown, earlier } = shownSteps(long, { limit: 3 })
  expect([shown.length, earlier]).toEqual([12, 0])
  const first = shownSteps(long, { limit: 1 })
  expect([first.shown.map(({ step: { number } }) => number), first.earlier]).toEqual([[8, 9, 10, 11, 12], 2])
  const found = rangeWith(long, { step: long.steps[0]!, call: long.steps[0]!.calls[0]! }, { limit: 1 })
  expect(shownSteps(long, found).shown.length).toBe(12)
})

test('tools without words of their own are counted by name, and rare ones together', () => {
  const calls = ['a', 'a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ tool: name, name }))
  expect(callsText(calls as never)).toBe('2 × a, b, c, d, 2 more')
})

test('a tool may have any name', () => {
  const calls = ['__proto__', 'toString', 'constructor'].map((name) => ({ tool: name, name }))
  expect(callsText(calls as never)).toBe('__proto__, toString, constructor')
})
