import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scene } from './scene.ts'

describe('write_file', () => {
  it('makes files with their folders, and says what it added', async () => {
    const { call, read, paths } = scene()
    expect(await call('write_file', { path: 'a/b/ü 😀.txt', content: 'one\ntwo' })).toEqual({
      ok: true,
      content: 'Added a/b/ü 😀.txt: +2',
      value: {
        changes: [
          {
            path: 'a/b/ü 😀.txt',
            kind: 'add',
            diff: '--- /dev/null\n+++ b/a/b/ü 😀.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n',
            added: 2,
            removed: 0,
          },
        ],
      },
    })
    expect([read('a/b/ü 😀.txt'), paths()]).toEqual(['one\ntwo', ['a', 'a/b', 'a/b/ü 😀.txt']])
  })

  it('puts a new file in place of the former one in one step, with its mode', async () => {
    const { root, say, read } = scene({ 'run.sh': 'old\n' })
    chmodSync(join(root, 'run.sh'), 0o751)
    const before = statSync(join(root, 'run.sh')).ino
    expect(await say('write_file', { path: 'run.sh', content: 'new\n' })).toBe('Updated run.sh: +1 -1')
    const { ino, mode } = statSync(join(root, 'run.sh'))
    expect([read('run.sh'), mode & 0o777, ino === before, readdirSync(root)]).toEqual(['new\n', 0o751, false, ['run.sh']])
  })

  it('is atomic for concurrent readers', async () => {
    const { root, say, read } = scene({ 'a.txt': 'a'.repeat(100_000) })
    const seen = new Set<string>()
    for (const letter of 'bcdefgh') {
      const writing = say('write_file', { path: 'a.txt', content: letter.repeat(100_000) })
      let isOver = false
      const over = writing.then(() => {
        isOver = true
      })
      while (!isOver) {
        const text = read('a.txt')
        seen.add(`${text.length} ${new Set(text).size}`)
        await new Promise((resolve) => setImmediate(resolve))
      }
      await over
    }
    expect([[...seen], readdirSync(root)]).toEqual([['100000 1'], ['a.txt']])
  })

  it('writes nothing if the content is the same, and reports it', async () => {
    const { root, call } = scene({ 'a.txt': 'same\n' })
    const before = statSync(join(root, 'a.txt'))
    expect(await call('write_file', { path: 'a.txt', content: 'same\n' })).toEqual({
      ok: true,
      content: 'a.txt already has this content (5 bytes); nothing was written.',
      value: { changes: [] },
    })
    expect(statSync(join(root, 'a.txt'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
  })

  it('overwrites binary files without a diff', async () => {
    const { call } = scene({ 'a.bin': new Uint8Array([0, 1]) })
    expect(await call('write_file', { path: 'a.bin', content: 'text' })).toMatchObject({
      content: 'Updated a.bin (no diff: it was a binary file, 4 bytes)',
      value: { changes: [{ diff: 'no diff: it was a binary file, 4 bytes\n', added: 0, removed: 0 }] },
    })
  })

  it('cuts a diff so that the value is kept', async () => {
    const { call } = scene()
    const content = Array.from({ length: 20_000 }, (_, index) => `"line" ${index}\n`).join('')
    for (const maxOutputBytes of [4_000, 32_768, 1_000_000]) {
      const output = await call('write_file', { path: `${maxOutputBytes}.txt`, content }, { maxOutputBytes })
      const value = output.ok ? JSON.stringify(output.value) : ''
      expect(value).toContain('the diff is cut')
      expect(value.length).toBeLessThan(Math.min(maxOutputBytes, 66_000))
      expect(output).toMatchObject({ content: `Added ${maxOutputBytes}.txt: +20000` })
    }
  })
})

describe('edit_file', () => {
  it('replaces text that occurs once', async () => {
    const { call, read } = scene({ 'a.ts': 'one\ntwo\nthree\n' })
    expect(await call('edit_file', { path: 'a.ts', old: 'two\n', new: '2\nand\n' })).toEqual({
      ok: true,
      content: 'Updated a.ts: +2 -1',
      value: {
        changes: [
          {
            path: 'a.ts',
            kind: 'update',
            diff: '--- a/a.ts\n+++ b/a.ts\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+and\n three\n',
            added: 2,
            removed: 1,
          },
        ],
      },
    })
    expect(read('a.ts')).toBe('one\n2\nand\nthree\n')
  })

  it('lists the places of a text that occurs several times, and replaces all on request', async () => {
    const { fail, say, read } = scene({ 'a.ts': 'x = 1\ny\nx = 1\nx = 1;x = 1\n' })
    expect(await fail('edit_file', { path: 'a.ts', old: 'x = 1', new: '$& z' })).toBe(
      [
        'invalid_input: The old text is in a.ts 4 times, at lines 1, 3, 4, 4:',
        '     1\tx = 1',
        '     3\tx = 1',
        '     4\tx = 1;x = 1',
        '     4\tx = 1;x = 1',
        ' Add surrounding lines until it is unique, or set replace_all.',
      ].join('\n'),
    )
    await say('edit_file', { path: 'a.ts', old: 'x = 1', new: '$& z', replace_all: true })
    expect(read('a.ts')).toBe('$& z\ny\n$& z\n$& z;$& z\n')
  })

  it('shows the nearest lines where the text is not there', async () => {
    const code = 'function first() {\n  return 1\n}\n\nfunction second(value) {\n\treturn value + 1\n}\n'
    const { fail } = scene({ 'a.ts': code })
    expect(await fail('edit_file', { path: 'a.ts', old: 'function second(value) {\n  return value + 1\n}', new: 'x' })).toBe(
      [
        'invalid_input: The old text is not in a.ts. Only whitespace differs:',
        '     5\tfunction second(value) {',
        '     6\t\treturn value + 1',
        '     7\t}',
        '     8\t',
        ' Copy the text exactly, without the line number and the tab.',
      ].join('\n'),
    )
    expect(await fail('edit_file', { path: 'a.ts', old: 'function secnd(valu) {', new: 'x' })).toContain(
      'The most similar lines are:\n     5\tfunction second(value) {',
    )
    expect(await fail('edit_file', { path: 'a.ts', old: 'zzz qqq', new: 'x' })).toContain('and nothing similar is')
    expect(await fail('edit_file', { path: 'a.ts', old: 'absent', new: '  return 1\n}' })).toContain('but the new one is, at line 2')
  })

  it('keeps CRLF, the mark at the beginning and the end of the file', async () => {
    const { say, read } = scene({ 'crlf.txt': '\uFEFFa\r\nb\r\nc', 'mixed.txt': 'a\r\nb\nc\r\nd\n\n' })
    await say('edit_file', { path: 'crlf.txt', old: 'a\nb', new: 'a\nx\nb' })
    expect(read('crlf.txt')).toBe('\uFEFFa\r\nx\r\nb\r\nc')
    await say('edit_file', { path: 'crlf.txt', old: 'c', new: 'c\nd' })
    expect(read('crlf.txt')).toBe('\uFEFFa\r\nx\r\nb\r\nc\r\nd')
    await say('edit_file', { path: 'mixed.txt', old: 'b\nc\nd', new: 'q' })
    expect(read('mixed.txt')).toBe('a\r\nq\n\n')
  })

  it('leaves alone what it cannot write back as it was', async () => {
    const { fail } = scene({ 'latin.txt': Buffer.from('caf\xe9', 'latin1'), 'a.bin': new Uint8Array([65, 0]), 'a.txt': 'a' })
    expect(await fail('edit_file', { path: 'latin.txt', old: 'caf', new: 'x' })).toContain(
      'is not UTF-8 text: text in another encoding than UTF-8',
    )
    expect(await fail('edit_file', { path: 'a.bin', old: 'A', new: 'x' })).toContain('binary file, 2 bytes')
    expect(await fail('edit_file', { path: 'a.txt', old: 'a', new: 'a' })).toContain('are the same; nothing was changed')
    expect(await fail('edit_file', { path: 'b.txt', old: 'a', new: 'b' })).toContain('b.txt does not exist. Did you mean a.txt')
  })

  it('refuses to change more places than it can hold', async () => {
    const { fail } = scene({ 'a.txt': 'a'.repeat(300_000), 'b.txt': 'b'.repeat(90_000) })
    for (const replace_all of [true, false])
      expect(await fail('edit_file', { path: 'a.txt', old: 'a', new: 'x', replace_all })).toContain('too many places')
    expect(await fail('edit_file', { path: 'b.txt', old: 'b', new: 'x'.repeat(1_000), replace_all: true })).toContain('too many places')
  })

  it('refuses a file that is too large to hold', async () => {
    const { root, fail } = scene({ 'a.txt': '' })
    writeFileSync(join(root, 'a.txt'), Buffer.alloc(16 * 1024 * 1024 + 1, 'a'))
    expect(await fail('edit_file', { path: 'a.txt', old: 'b', new: 'c' })).toContain('too large to edit: 16,777,217 bytes')
  })

  it('replaces exactly the text, whatever texts there are', async () => {
    const there = scene()
    const letters = fc.array(fc.constantFrom('a', 'b', '\n', '\r\n', '$1', 'ä', '😀'), { maxLength: 12 }).map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(fc.tuple(letters, letters, letters), letters, async ([before, old, after], fresh) => {
        // Line ends of the fresh text are those of the file, so here it has none.
        const plain = fresh.replaceAll(/\r?\n/g, '')
        const text = before + old + after
        // Where it overlaps itself, there are two places that could be meant.
        fc.pre(old !== '' && old !== plain && text.indexOf(old) === text.lastIndexOf(old))
        writeFileSync(join(there.root, 'a.txt'), text)
        await there.say('edit_file', { path: 'a.txt', old, new: plain })
        expect(there.read('a.txt')).toBe(before + plain + after)
      }),
      { numRuns: 60 },
    )
  })
})
