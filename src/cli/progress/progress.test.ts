import { expect, test } from 'vitest'
import type { DisplayOptions } from '../options/parse-arguments.ts'
import { type Progress, progressFor, showsTree } from './progress.ts'

test.each<[Pick<DisplayOptions, 'detail' | 'logFormat'>, Progress, Progress]>([
  [{ detail: 'normal', logFormat: 'text' }, 'live', 'plain'],
  [{ detail: 'verbose', logFormat: 'text' }, 'verbose', 'verbose'],
  [{ detail: 'normal', logFormat: 'json' }, 'json', 'json'],
  [{ detail: 'verbose', logFormat: 'json' }, 'json', 'json'],
  [{ detail: 'quiet', logFormat: 'text' }, 'none', 'none'],
  [{ detail: 'quiet', logFormat: 'json' }, 'none', 'none'],
])('%j: on a terminal %s, elsewhere %s', (display, onTerminal, elsewhere) => {
  expect([progressFor('terminal', display), progressFor('plain', display)]).toEqual([onTerminal, elsewhere])
})

test('a tree stands below what people read', () => {
  expect((['live', 'plain', 'verbose', 'json', 'none'] as const).filter(showsTree)).toEqual(['live', 'plain', 'verbose'])
})
