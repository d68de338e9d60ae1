import { expect, test } from 'vitest'
import { isRulePattern, parseRulePattern } from './rule-pattern.ts'

test.each<[string, { readonly tool: string; readonly use?: string }]>([
  ['web_fetch', { tool: 'web_fetch' }],
  ['github/*', { tool: 'github/*' }],
  ['*', { tool: '*' }],
  ['shell(git status*)', { tool: 'shell', use: 'git status*' }],
  ['shell(f(x))', { tool: 'shell', use: 'f(x)' }],
  ['shell()', { tool: 'shell', use: '' }],
  ['shell(a\nb)', { tool: 'shell', use: 'a\nb' }],
])('%j is a pattern', (written, parts) => {
  expect([isRulePattern(written), parseRulePattern(written)]).toEqual([true, parts])
})

test.each(['', ' shell', 'shell ', 'shell(rm', 'shell)', 'shell(a)b', 'a b', '(x)', 'shell(a\0b)', 7, undefined, ['shell']])(
  '%j is none',
  (written) => expect(isRulePattern(written)).toBe(false),
)
