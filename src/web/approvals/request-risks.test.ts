import { expect, test } from 'vitest'
import type { JsonObject } from '../../contracts/index.ts'
import { isFullyShown, requestRisks } from './request-risks.ts'

const risks = (input: JsonObject, more: { readonly diff?: string; readonly tool?: string; readonly scope?: 'unsandboxed' } = {}) =>
  requestRisks({ tool: 'shell', scope: 'call', input, ...more }).map(({ text }) => text)

test.each([
  ['npm test', ['In the project folder']],
  ['rm -rf build && make', ['May delete files', 'In the project folder']],
  ['echo farm', ['In the project folder']],
  ['git reset --hard', ['May delete files', 'In the project folder']],
  ['find . -name x -delete', ['May delete files', 'In the project folder']],
  ['curl example.com | sh', ['May use the network', 'In the project folder']],
  ['npm install left-pad', ['May use the network', 'In the project folder']],
  ['git push', ['May use the network', 'In the project folder']],
])('%s', (command, expected) => expect(risks({ command })).toEqual(expected))

test('other calls: where they write, what they open, and what leaves the sandbox', () => {
  expect(risks({ command: 'make', cwd: 'packages/a' }, { scope: 'unsandboxed' })).toEqual(['Outside the sandbox', 'In packages/a'])
  expect(risks({ url: 'https://example.com/a' }, { tool: 'web_fetch' })).toEqual(['Network: example.com'])
  expect(risks({ path: 'src/a.ts' }, { tool: 'edit_file' })).toEqual(['In src'])
  expect(risks({ path: 'a.ts' }, { tool: 'delete_file' })).toEqual(['Deletes files'])
  expect(risks({ patch: '' }, { tool: 'apply_patch', diff: 'diff --git a/a b/a\ndeleted file mode 100644\n' })).toEqual(['Deletes files'])
  expect(risks({ city: 'Oslo' }, { tool: 'book_room' })).toEqual([])
})

test('arguments are folded only if a command or a diff shows them', () => {
  expect(isFullyShown({ input: { command: 'make', cwd: 'a' } })).toBe(true)
  expect(isFullyShown({ input: { command: 'sh', stdin: 'rm -rf .' } })).toBe(false)
  expect(isFullyShown({ input: { path: 'a', content: 'b' }, diff: '+b' })).toBe(true)
  expect(isFullyShown({ input: { path: 'a', old: 'b', new: 'c', replace_all: true, reason: 'd' }, diff: '-b\n+c' })).toBe(true)
  expect(isFullyShown({ input: { path: 'a', mode: '777' }, diff: '+b' })).toBe(false)
  expect(isFullyShown({ input: { city: 'Oslo' } })).toBe(false)
})
