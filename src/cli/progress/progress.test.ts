import { expect, test } from 'vitest'
import type { Wishes } from '../options/parse-arguments.ts'
import { type Progress, progressFor, showsTree } from './progress.ts'

test.each<[Pick<Wishes, 'detail' | 'logFormat'>, Progress, Progress]>([
  [{ detail: 'normal', logFormat: 'text' }, 'live', 'plain'],
  [{ detail: 'verbose', logFormat: 'text' }, 'verbose', 'verbose'],
  [{ detail: 'normal', logFormat: 'json' }, 'json', 'json'],
  [{ detail: 'verbose', logFormat: 'json' }, 'json', 'json'],
  [{ detail: 'quiet', logFormat: 'text' }, 'none', 'none'],
  [{ detail: 'quiet', logFormat: 'json' }, 'none', 'none'],
])('%j: on a terminal %s, elsewhere %s', (wishes, onTerminal, elsewhere) => {
  expect([progressFor('terminal', wishes), progressFor('plain', wishes)]).toEqual([onTerminal, elsewhere])
})

test('a tree stands below what people read', () => {
  expect((['live', 'plain', 'verbose', 'json', 'none'] as const).filter(showsTree)).toEqual(['live', 'plain', 'verbose'])
})
