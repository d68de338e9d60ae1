import { describe, expect, it } from 'vitest'
import type { ApprovalRule, JsonObject, ToolContext } from '../../../src/contracts/index.ts'
import { ruling } from '../../../src/steps/approval/rules.ts'
import { scene } from './scene.ts'

// Whoever may change a file and not read it learns whether a change fits, and nothing of what stands there.

const text = 'first line\nTOPSECRET value 42\nsecond TOPSECRET line\n'
const files = { 'secret/s.txt': text, 'open/s.txt': text }
const denied: ApprovalRule = { deny: 'read_file(secret/*)' }

const under = (tool: string, rule: ApprovalRule): Pick<ToolContext, 'mayUse'> => ({
  mayUse: (key, how) => {
    const verdict = ruling([{ rules: [rule] }], { names: [tool], keys: [key] })?.verdict
    return verdict !== 'deny' && (verdict !== 'ask' || how !== 'without asking')
  },
})

const patch = (path: string, ...lines: readonly string[]): JsonObject => ({
  patch: ['*** Begin Patch', `*** Update File: ${path}`, ...lines, '*** End Patch'].join('\n'),
})

describe('a change that does not fit a file that may not be read', () => {
  const there = scene(files)

  it.each<[string, string, (path: string) => JsonObject]>([
    ['is like a line', 'edit_file', (path) => ({ path, old: 'TOPSECRET valu 4', new: 'x' })],
    ['differs in spaces', 'edit_file', (path) => ({ path, old: 'TOPSECRET  value 42', new: 'x' })],
    ['stands there twice', 'edit_file', (path) => ({ path, old: 'TOPSECRET', new: 'x' })],
    ['was made already', 'edit_file', (path) => ({ path, old: 'nowhere', new: 'second TOPSECRET line' })],
    ['is a hunk', 'apply_patch', (path) => patch(path, '@@', ' first line', '-TOP', '+x')],
    ['is a hunk with a number', 'apply_patch', (path) => ({ patch: `--- a/${path}\n+++ b/${path}\n@@ -2,1 +2,1 @@\n-zzz\n+x\n` })],
  ])('%s: says so, and shows nothing', async (_, tool, inputFor) => {
    const shown = await there.fail(tool, inputFor('open/s.txt'), under(tool, denied))
    expect(shown).toMatch(/\d\t.*(?:TOPSECRET|line)|at line \d/)
    for (const rule of [denied, { deny: 'read_file' }, { ask: 'read_file(secret/*)' }, { deny: `read_file(${there.root}/secret/*)` }]) {
      const hidden = await there.fail(tool, inputFor('secret/s.txt'), under(tool, rule))
      expect(hidden).toMatch(/^invalid_input: .*secret\/s\.txt/s)
      expect(hidden).toContain('Rules deny reading')
      expect(hidden).not.toMatch(/\d\t|at line|value|second|Read the/)
    }
    expect(there.read('secret/s.txt')).toBe(text)
  })
})

it('a change that fits is made, even if the file may not be read', async () => {
  const there = scene(files)
  const edit = { path: 'secret/s.txt', old: 'TOPSECRET value 42', new: 'x' }
  expect(await there.say('edit_file', edit, under('edit_file', denied))).toBe('Updated secret/s.txt: +1 -1')
  const hunk = patch('secret/s.txt', '@@', ' first line', '-x', '+y')
  expect(await there.say('apply_patch', hunk, under('apply_patch', denied))).toBe('Updated secret/s.txt: +1 -1')
  expect(there.read('secret/s.txt')).toBe('first line\ny\nsecond TOPSECRET line\n')
})

describe('a patch that moves a file makes it readable elsewhere', () => {
  const there = scene(files)
  const verdict = async (rule: ApprovalRule, from: string, to: string) => {
    const wish = await there.tool('apply_patch').approval?.(patch(from, `*** Move to: ${to}`))
    return ruling([{ rules: [rule] }, { rules: [{ allow: 'apply_patch' }] }], { names: ['apply_patch'], keys: wish?.keys ?? [] })?.verdict
  }

  it('so what rules say of reading it holds', async () => {
    expect(await verdict(denied, 'secret/s.txt', 'out.txt')).toBe('deny')
    expect(await verdict(denied, './open/../secret/s.txt', 'out.txt')).toBe('deny')
    expect(await verdict({ ask: 'read_file(secret/*)' }, 'secret/s.txt', 'out.txt')).toBe('ask')
    expect(await verdict({ allow: 'read_file(secret/*)' }, 'secret/s.txt', 'out.txt')).toBe('allow')
  })

  it('and not for what is moved to a place that may not be read, or only changed there', async () => {
    expect(await verdict(denied, 'open/s.txt', 'secret/t.txt')).toBe('allow')
    const wish = await there.tool('apply_patch').approval?.(patch('secret/s.txt', '@@', '-a', '+b'))
    expect(wish?.keys).toEqual([expect.not.objectContaining({ tools: expect.anything() })])
  })
})
