import { expect, test } from 'vitest'
import { colourPaint, paintFor, plainPaint } from '../paint.ts'
import { type Progress, type ProgressWishes, progressFor, showsTree } from './progress.ts'

test.each<[ProgressWishes, Progress, Progress]>([
  [{}, 'live', 'plain'],
  [{ verbose: true }, 'verbose', 'verbose'],
  [{ logFormat: 'json' }, 'json', 'json'],
  [{ logFormat: 'json', verbose: true }, 'json', 'json'],
  [{ quiet: true }, 'none', 'none'],
  [{ quiet: true, logFormat: 'json' }, 'none', 'none'],
])('%j: on a terminal %s, elsewhere %s', (wishes, onTerminal, elsewhere) => {
  expect(progressFor({ paint: colourPaint }, wishes)).toBe(onTerminal)
  expect(progressFor({ paint: plainPaint }, wishes)).toBe(elsewhere)
})

test.each([[{ NO_COLOR: '1' }], [{ TERM: 'dumb' }]])('a terminal with %j gets no escape', (env) => {
  expect(progressFor({ paint: paintFor({ isTTY: true }, env) }, {})).toBe('plain')
})

test('a tree stands below what people read', () => {
  expect((['live', 'plain', 'verbose', 'json', 'none'] as const).filter(showsTree)).toEqual(['live', 'plain', 'verbose'])
})
