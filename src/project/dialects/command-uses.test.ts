import { expect, test } from 'vitest'
import { claudeUses, commandUses } from './command-rules.ts'

test.each<[pattern: string, uses: readonly string[] | undefined]>([
  ['npm test', ['npm test']],
  ['git status:*', ['git status', 'git status *']],
  ['git status *', ['git status', 'git status *']],
  ['  git   status:* ', ['git status', 'git status *']],
  ['ls*', ['ls*']],
  ['git * main', ['git * main']],
  ['git * main *', ['git * main *']],
  ['npm run test:unit', ['npm run test:unit']],
  ['* --version', undefined],
  [':*', undefined],
  ['git *:*', undefined],
  ['git log, git diff', undefined],
  ['git log && git diff', undefined],
  ['git log; ls', undefined],
  ['git log | head:*', undefined],
  ['echo $HOME', undefined],
  ['echo `id`', undefined],
  ['echo "a b"', undefined],
  ["echo 'a'", undefined],
  ['echo \\*', undefined],
  ['A=1 make', undefined],
  ['~/bin/x:*', undefined],
  ['time make', undefined],
  ['make > log', undefined],
  ['git\nlog', undefined],
  ['(in docs) make', undefined],
  ['', undefined],
  [`make ${'x'.repeat(200)}`, undefined],
])('of Claude: %j', (pattern, uses) => {
  expect(claudeUses(pattern)).toEqual(uses)
})

test('what tightens fits at least what it fits elsewhere, what may do either exactly that', () => {
  const all = (pattern: string) => (['loosens', 'tightens', 'both'] as const).map((purpose) => commandUses(pattern, purpose))
  expect(all('git *')).toEqual([
    ['git', 'git *'],
    ['git', 'git *'],
    ['git', 'git *'],
  ])
  expect(all('git * *')).toEqual([['git * *'], ['git *', 'git * *'], undefined])
  expect(all('*rm*')).toEqual([undefined, ['*rm*'], undefined])
})
