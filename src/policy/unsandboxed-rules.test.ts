import { expect, test } from 'vitest'
import { isImpossibleUnsandboxedRule } from './unsandboxed-rules.ts'

test.each([
  'unsandboxed',
  'unsandboxed(*)',
  'unsandboxed(shell*)',
  'unsandboxed(shell:*)',
  'unsandboxed(shell:{"command":"npm test*)',
  'unsandboxed(shell:{"command":"npm test"})',
  'unsandboxed(*"npm test"*)',
  'shell(unsandboxed)',
  'shell',
])('%s may fit something', (pattern) => {
  expect(isImpossibleUnsandboxedRule(pattern)).toBe(false)
})

test.each([
  'unsandboxed()',
  'unsandboxed(shell)',
  'unsandboxed(shell:)',
  'unsandboxed(shell:npm test)',
  'unsandboxed(shell:npm*)',
  'unsandboxed(npm test*)',
  'unsandboxed(*npm)',
])('%s fits nothing', (pattern) => {
  expect(isImpossibleUnsandboxedRule(pattern)).toBe(true)
})
