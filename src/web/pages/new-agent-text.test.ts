import { expect, test } from 'vitest'
import { freeName, isAgentName, newAgentText } from './new-agent-text.ts'

const template = '---\ndescription: Plans\ntoolName: planner\n# displayName: x\nmodels: [a/b]\n---'

test('a file with the settings and the prompt, without the name that callers know', () => {
  expect(newAgentText({ template, prompt: 'Plan it.\n' })).toBe('---\ndescription: Plans\n# displayName: x\nmodels: [a/b]\n---\nPlan it.\n')
})

test('braces of a prompt stay as they are, and an unknown prompt is to be written', () => {
  expect(newAgentText({ template, prompt: 'Say {{ name }}.' })).toContain('\n{% raw %}Say {{ name }}.{% endraw %}\n')
  expect(newAgentText({ template, prompt: undefined })).toContain('\nYou are …\n')
})

test('the suggested name is free, and a name of a file', () => {
  expect(freeName('trip', ['trip'])).toBe('trip-copy')
  expect(freeName('trip', ['trip-copy', 'trip-copy-2'])).toBe('trip-copy-3')
  for (const name of ['trip planner/é', 'x'.repeat(80)]) expect(isAgentName(freeName(name, []))).toBe(true)
  for (const name of ['', '../x', 'a b', '-x', 'x.ai']) expect(isAgentName(name)).toBe(false)
})
