import { describe, expect, it } from 'vitest'
import { putFiles, scene } from './scene.ts'

// What whoever is asked is told of a change, before anything is changed.

const { tool, root, read } = scene({ 'a.txt': 'one\ntwo\n', 'picture.png': '\u0089PNG\u0000\u0001', '.env': 'KEY=secret\n' })
const wish = (name: string, input: object) => tool(name).approval?.({ ...input })

describe('the question about a change', () => {
  it('distinguishes a new file from an overwritten one, and shows the change', async () => {
    expect(await wish('write_file', { path: 'b.txt', content: 'x' })).toMatchObject({ summary: 'Write b.txt, a new file' })
    expect(await wish('write_file', { path: 'b.txt', content: 'x' })).not.toHaveProperty('diff')
    expect(await wish('write_file', { path: './a.txt', content: 'one\nthree\n' })).toMatchObject({
      summary: 'Overwrite a.txt',
      diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n',
    })
    expect(await wish('write_file', { path: 'a.txt', content: 'one\ntwo\n' })).not.toHaveProperty('diff')
    expect(read('a.txt')).toBe('one\ntwo\n')
  })

  it('says instead why there is no diff, and shows nothing of a protected file', async () => {
    expect(await wish('write_file', { path: 'picture.png', content: 'x' })).toMatchObject({
      summary: 'Overwrite picture.png',
      diff: expect.stringMatching(/^no diff: it was a .*, 1 byte\n$/),
    })
    const kept = await wish('write_file', { path: '.env', content: 'KEY=other\n' })
    expect(kept).toMatchObject({ summary: 'Overwrite .env' })
    expect(JSON.stringify(kept)).not.toContain('secret')
  })

  it('shows what an edit would do, where it fits', async () => {
    expect(await wish('edit_file', { path: 'a.txt', old: 'two', new: '2' })).toMatchObject({
      summary: 'Edit a.txt',
      diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n',
    })
    for (const input of [{ old: 'nowhere' }, { path: 'missing.txt' }, { path: 'picture.png' }])
      expect(await wish('edit_file', { path: 'a.txt', old: 'two', new: '2', ...input })).not.toHaveProperty('diff')
  })

  it('is as long as a question may be', async () => {
    putFiles(root, { 'long.txt': 'line\n'.repeat(20_000) })
    const { diff = '' } = (await wish('write_file', { path: 'long.txt', content: 'x' })) ?? {}
    expect(diff.length).toBeLessThan(17_000)
    expect(diff).toMatch(/… the diff is cut: [\d,]+ more lines\n$/)
  })

  it('shows what a patch adds, deletes and moves', async () => {
    const patch = [
      '*** Begin Patch',
      '*** Update File: a.txt',
      '@@',
      '-two',
      '+2',
      '*** Add File: src/new.ts',
      '+x',
      '*** Delete File: old.ts',
      '*** Update File: from.ts',
      '*** Move to: to.ts',
      '*** End Patch',
    ].join('\n')
    expect(await wish('apply_patch', { patch })).toMatchObject({
      summary: 'Change a.txt, add src/new.ts, delete old.ts, move from.ts to to.ts',
    })
    const update = '*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** End Patch'
    expect(await wish('apply_patch', { patch: update })).toMatchObject({ summary: 'Patch a.txt' })
  })
})
