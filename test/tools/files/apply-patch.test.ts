import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyHunks } from '../../../src/tools/builtin/files/patch/apply-hunks.ts'
import { parsePatch } from '../../../src/tools/builtin/files/patch/parse-patch.ts'
import { descriptorFiles, FileError, type HostFiles } from '../../../src/tools/workspace/index.ts'
import { type Scene, scene } from './scene.ts'

const envelope = (...lines: readonly string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
const numbers = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('')

async function patchedText(before: string, ...lines: readonly string[]): Promise<string> {
  const { say, read } = scene({ 'a.txt': before })
  await say('apply_patch', { patch: envelope('*** Update File: a.txt', ...lines) })
  return read('a.txt')
}

describe('a patch between Begin and End', () => {
  it('updates, adds, deletes and moves, and reports each', async () => {
    const { call, paths, read } = scene({ 'a.ts': 'one\ntwo\nthree\n', 'b.ts': 'b\n', 'sub/c.ts': 'c\nd\n' })
    const patch = envelope(
      '*** Update File: a.ts',
      '@@',
      ' one',
      '-two',
      '+2',
      ' three',
      '*** Add File: new/d.ts',
      '+d',
      '+',
      '*** Delete File: b.ts',
      '*** Update File: sub/c.ts',
      '*** Move to: sub/e.ts',
      '@@',
      ' c',
      '+C',
      ' d',
    )
    const output = await call('apply_patch', { patch })
    expect(output).toEqual({
      ok: true,
      content: 'Updated a.ts: +1 -1\nAdded new/d.ts: +2\nDeleted b.ts: -1\nMoved sub/c.ts to sub/e.ts: +1',
      value: {
        changes: [
          { path: 'a.ts', kind: 'update', diff: '--- a/a.ts\n+++ b/a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n', added: 1, removed: 1 },
          { path: 'new/d.ts', kind: 'add', diff: '--- /dev/null\n+++ b/new/d.ts\n@@ -0,0 +1,2 @@\n+d\n+\n', added: 2, removed: 0 },
          { path: 'b.ts', kind: 'delete', diff: '--- a/b.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n', added: 0, removed: 1 },
          {
            path: 'sub/c.ts',
            kind: 'move',
            to: 'sub/e.ts',
            diff: '--- a/sub/c.ts\n+++ b/sub/e.ts\n@@ -1,2 +1,3 @@\n c\n+C\n d\n',
            added: 1,
            removed: 0,
          },
        ],
      },
    })
    expect([paths(), read('a.ts'), read('new/d.ts'), read('sub/e.ts')]).toEqual([
      ['a.ts', 'new', 'new/d.ts', 'sub', 'sub/e.ts'],
      'one\n2\nthree\n',
      'd\n\n',
      'c\nC\nd\n',
    ])
  })

  it('finds its place by anchors, in order, and at the end of the file', async () => {
    const methods = 'class A\n  run\n    x\nclass B\n  run\n    x\n'
    expect(await patchedText(methods, '@@ class B', '   run', '-    x', '+    y')).toBe('class A\n  run\n    x\nclass B\n  run\n    y\n')
    expect(await patchedText(methods, '@@ class B', '@@   run', '-    x', '+    y')).toBe('class A\n  run\n    x\nclass B\n  run\n    y\n')
    expect(await patchedText(methods, '@@ class B', '+  first')).toBe('class A\n  run\n    x\nclass B\n  first\n  run\n    x\n')
    expect(await patchedText(methods, '@@', '   run', '-    x', '+    1', '@@', '   run', '-    x', '+    2')).toBe(
      'class A\n  run\n    1\nclass B\n  run\n    2\n',
    )
    expect(await patchedText(methods, '@@', '-    x', '+    y', '*** End of File')).toBe('class A\n  run\n    x\nclass B\n  run\n    y\n')
    expect(await patchedText('a\n', '@@', '+b')).toBe('a\nb\n')
    expect(await patchedText('', '@@', '+b')).toBe('b\n')
    expect(await patchedText(methods, '@@ -4,3 +4,3 @@', '   run', '-    x', '+    y')).toBe(
      'class A\n  run\n    x\nclass B\n  run\n    y\n',
    )
  })

  it('tolerates blanks, other quotes and lost spaces, and keeps the lines of the file', async () => {
    expect(await patchedText('a  \n\tb\nc\n', '@@', ' a', '-b', '+B', ' c')).toBe('a  \nB\nc\n')
    expect(await patchedText('say “hi” – now\nnext\n', '@@', ' say "hi" - now', '-next', '+last')).toBe('say “hi” – now\nlast\n')
    expect(await patchedText('a\n\nb\n', '@@', ' a', '', '-b', '+c')).toBe('a\n\nc\n')
    // Context that is wrong at the edge, where the rest stands only once.
    expect(await patchedText(numbers, '@@', ' wrong', ' line 6', '-line 7', '+seven', ' line 8', ' wrong')).toBe(
      numbers.replace('line 7', 'seven'),
    )
  })

  it('keeps CRLF, the mark at the beginning, and a missing line end', async () => {
    expect(await patchedText('\uFEFFa\r\nb\r\nc', '@@', ' a', '+x', ' b')).toBe('\uFEFFa\r\nx\r\nb\r\nc')
    expect(await patchedText('a\r\nb', '@@', ' b', '+c')).toBe('a\r\nb\r\nc')
    expect(await patchedText('a\nb', '@@', ' a', '-b', '+c')).toBe('a\nc')
    expect(await patchedText('mixed\r\nlines\nhere\r\nand\r\n', '@@', ' lines', '+more')).toBe('mixed\r\nlines\nmore\r\nhere\r\nand\r\n')
  })

  it('may be in a fence or a here-document, with its own CRLF', async () => {
    const { say, read } = scene({ 'a.txt': 'a\n' })
    const inner = envelope('*** Update File: a.txt', '@@', '-a', '+b', '').replaceAll('\n', '\r\n')
    await say('apply_patch', { patch: `\`\`\`\r\napply_patch <<'EOF'\r\n${inner}\r\nEOF\r\n\`\`\`` })
    expect(read('a.txt')).toBe('b\n')
  })

  it('sees what its own parts did before: deleted and added anew, changed twice', async () => {
    const { call, read } = scene({ 'a.txt': 'a\nb\n' })
    const patch = envelope('*** Delete File: a.txt', '*** Add File: a.txt', '+x', '*** Update File: a.txt', '@@', ' x', '+y')
    expect(await call('apply_patch', { patch })).toMatchObject({ content: 'Updated a.txt: +2 -2' })
    expect(read('a.txt')).toBe('x\ny\n')
    expect(await call('apply_patch', { patch })).toEqual({
      ok: true,
      content: 'The files already match the patch; nothing was changed.',
      value: { changes: [] },
    })
  })
})

describe('a unified diff', () => {
  it('is taken from git, with new, gone and renamed files and modes', async () => {
    const { root, say, paths, read } = scene({ 'a.txt': numbers, 'gone.txt': 'x\n', 'old name.txt': 'same\n', 'run.sh': '#!/bin/sh\n' })
    const patch = [
      'diff --git a/a.txt b/a.txt',
      'index 123..456 100644',
      '--- a/a.txt',
      '+++ b/a.txt',
      '@@ -2,3 +2,4 @@ section',
      ' line 2',
      '-line 3',
      '+three',
      '+and more',
      ' line 4',
      'diff --git a/gone.txt b/gone.txt',
      'deleted file mode 100644',
      '--- a/gone.txt',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-x',
      'diff --git a/old name.txt b/new name.txt',
      'similarity index 100%',
      'rename from old name.txt',
      'rename to new name.txt',
      'diff --git "a/\\303\\244.sh" "b/\\303\\244.sh"',
      'new file mode 100755',
      '--- /dev/null',
      '+++ "b/\\303\\244.sh"',
      '@@ -0,0 +1 @@',
      '+echo',
      '\\ No newline at end of file',
      'diff --git a/run.sh b/run.sh',
      'old mode 100644',
      'new mode 100755',
      '',
    ].join('\n')
    expect(await say('apply_patch', { patch })).toBe(
      'Updated a.txt: +2 -1\nDeleted gone.txt: -1\nMoved old name.txt to new name.txt\nAdded ä.sh: +1\nUpdated run.sh',
    )
    expect(paths()).toEqual(['a.txt', 'new name.txt', 'run.sh', 'ä.sh'])
    expect([read('a.txt').split('\n').slice(1, 5), read('ä.sh')]).toEqual([['line 2', 'three', 'and more', 'line 4'], 'echo'])
    expect([statSync(join(root, 'ä.sh')).mode & 0o777, statSync(join(root, 'run.sh')).mode & 0o777]).toEqual([0o755, 0o755])
  })

  it('tolerates wrong counts, moved lines, and times after the names', async () => {
    const { say, read } = scene({ 'a.txt': `moved\ndown\n${numbers}` })
    const patch = [
      '--- a.txt\t2024-01-01 00:00:00',
      '+++ a.txt\t2024-01-02 00:00:00',
      '@@ -4,9 +4,7 @@',
      ' line 4',
      '-line 5',
      '+five',
      '@@ -15,1 +15,1 @@',
      ' line 15',
      '+fifteen and a half',
      ' line 16',
      '',
      '',
    ].join('\n')
    await say('apply_patch', { patch })
    expect(read('a.txt')).toBe(
      `moved\ndown\n${numbers}`.replace('line 5\n', 'five\n').replace('line 15\n', 'line 15\nfifteen and a half\n'),
    )
  })

  it('takes the nearest of several places', async () => {
    const { say, read } = scene({ 'a.txt': 'x\n'.repeat(9) })
    await say('apply_patch', { patch: '--- a/a.txt\n+++ b/a.txt\n@@ -5 +5 @@\n-x\n+y\n' })
    expect(read('a.txt')).toBe(`${'x\n'.repeat(4)}y\n${'x\n'.repeat(4)}`)
  })
})

describe('a patch that does not fit', () => {
  const files = { 'a.txt': numbers, 'b.txt': 'b\n', 'bin.dat': new Uint8Array([0, 1, 2]) }
  const refusal = async (patch: string, more: (there: Scene) => void = () => {}): Promise<string> => {
    const there = scene(files)
    more(there)
    const before = there.paths()
    const said = await there.fail('apply_patch', { patch })
    expect([there.paths(), there.read('a.txt'), there.read('b.txt')]).toEqual([before, files['a.txt'], files['b.txt']])
    return said
  }

  it('changes nothing, and reports which hunk failed, where, and the actual text', async () => {
    const said = await refusal(
      envelope(
        '*** Update File: b.txt',
        '@@',
        '-b',
        '+c',
        '*** Update File: a.txt',
        '@@',
        '-line 2',
        '+two',
        '@@',
        ' line 7',
        '-line eight',
        '+8',
        ' line 9',
      ),
    )
    expect(said).toBe(
      [
        'invalid_input: The patch does not apply; nothing was changed.',
        'Hunk 2 of 2 for a.txt (line 10 of the patch) does not apply. It expects:',
        '  line 7',
        '  line eight',
        '  line 9',
        'Line 7 has:',
        '     7\tline 7',
        '     8\tline 8',
        '     9\tline 9',
        '    10\tline 10',
        ' Read these places again, then send a patch that matches the lines exactly.',
      ].join('\n'),
    )
  })

  it('reports all problems together', async () => {
    const said = await refusal(
      envelope(
        '*** Update File: missing.txt',
        '@@',
        '+x',
        '*** Add File: b.txt',
        '+x',
        '*** Delete File: c/d.txt',
        '*** Update File: bin.dat',
        '@@',
        '+x',
        '*** Update File: a.txt',
        '*** Move to: b.txt',
      ),
    )
    for (const part of [
      'missing.txt does not exist.',
      'b.txt cannot be added: it exists already',
      'c/d.txt does not exist',
      'bin.dat cannot be patched',
      'a.txt cannot be moved: b.txt exists',
    ]) {
      expect(said).toContain(part)
    }
  })

  it.each([
    ['no patch at all', 'hello', 'neither a patch'],
    ['without an end', '*** Begin Patch\n*** Update File: a.txt\n@@\n-line 1\n+x', 'no "*** End Patch": it may be truncated'],
    ['without a beginning', '*** Update File: a.txt\n@@\n-line 1\n+x\n*** End Patch', 'does not begin with'],
    [
      'a line without a mark',
      envelope('*** Update File: a.txt', '@@', '-line 1', 'x'),
      'Line 5 of the patch: The line "x" does not begin with " ", "-" or "+".',
    ],
    ['an update without changes', envelope('*** Update File: a.txt'), 'changes nothing'],
    ['a hunk without changes', envelope('*** Update File: a.txt', '@@', ' line 1'), 'no line that begins with "-" or "+"'],
    ['a new file with a bare line', envelope('*** Add File: c.txt', 'x'), 'does not begin with "+"'],
    ['a heading that is none', envelope('*** Rename File: c.txt'), 'is not expected here'],
    ['a binary patch', 'diff --git a/x b/x\nGIT binary patch\nliteral 1\n', 'cannot be applied'],
    [
      'a link',
      'diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n',
      'mode 120000 cannot be created',
    ],
    ['a hunk without a file', 'diff --git a/x b/y\n@@ -1 +1 @@\n-a\n+b\n', 'no name'],
    ['a file that holds more', '--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n', 'holds more than the patch takes out'],
    [
      'overlapping hunks',
      '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-line 1\n+x\n line 2\n@@ -1,2 +1,2 @@\n-line 1\n+y\n line 2\n',
      'overlaps an earlier hunk',
    ],
    ['an empty patch', envelope(), 'changes no file'],
    ['outside', envelope('*** Update File: b.txt', '@@', '-b', '+c', '*** Add File: ../x', '+x'), 'denied: "../x" is outside'],
  ])('is refused: %s', async (_, patch, said) => {
    expect(await refusal(patch)).toContain(said)
  })

  it('is refused where a part is a link', async () => {
    const said = await refusal(
      envelope('*** Update File: b.txt', '@@', '-b', '+c', '*** Update File: link.txt', '@@', '-line 1', '+x'),
      ({ root }) => symlinkSync('a.txt', join(root, 'link.txt')),
    )
    expect(said).toContain('link.txt is a symbolic link to a.txt')
  })
})

describe('all or nothing', () => {
  const patch = envelope(
    '*** Update File: a.txt',
    '@@',
    '-a',
    '+A',
    '*** Delete File: b.txt',
    '*** Add File: new/c.txt',
    '+c',
    '*** Update File: d.txt',
    '@@',
    '-d',
    '+D',
  )
  const files = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'd.txt': 'd\n' }

  it.each([1, 2, 3])('holds where writing the content of file %d fails', async (fails) => {
    let made = 0
    const failing: HostFiles = {
      ...descriptorFiles,
      open(path, flags, mode) {
        if (path.endsWith('.tmp') && ++made === fails) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
        return descriptorFiles.open(path, flags, mode)
      },
    }
    const there = scene(files, { host: failing })
    expect(await there.fail('apply_patch', { patch })).toContain('there is no space left on the disk')
    expect([there.paths(), there.read('a.txt')]).toEqual([['a.txt', 'b.txt', 'd.txt'], 'a\n'])
  })

  it('holds where a file was changed by somebody else in between', async () => {
    let change: (() => void) | undefined
    const meddling: HostFiles = {
      ...descriptorFiles,
      open(path, flags, mode) {
        if (path.endsWith('.tmp')) change?.()
        return descriptorFiles.open(path, flags, mode)
      },
    }
    const there = scene(files, { host: meddling })
    change = () => writeFileSync(join(there.root, 'd.txt'), 'somebody else\n')
    expect(await there.fail('apply_patch', { patch })).toContain('d.txt was changed by another process; nothing was written.')
    expect([there.paths(), there.read('a.txt'), there.read('b.txt'), there.read('d.txt')]).toEqual([
      ['a.txt', 'b.txt', 'd.txt'],
      'a\n',
      'b\n',
      'somebody else\n',
    ])
  })

  it('holds where a new file has come up in between', async () => {
    let change: (() => void) | undefined
    const meddling: HostFiles = {
      ...descriptorFiles,
      open(path, flags, mode) {
        if (path.endsWith('.tmp')) change?.()
        return descriptorFiles.open(path, flags, mode)
      },
    }
    const there = scene(files, { host: meddling })
    change = () => {
      mkdirSync(join(there.root, 'new'), { recursive: true })
      writeFileSync(join(there.root, 'new/c.txt'), 'first\n')
    }
    expect(await there.fail('apply_patch', { patch })).toContain('new/c.txt was changed by another process')
    expect([there.read('new/c.txt'), there.read('a.txt'), there.read('b.txt')]).toEqual(['first\n', 'a\n', 'b\n'])
  })

  it('keeps modes of what it changes and moves', async () => {
    const there = scene({ 'run.sh': 'a\n', 'tool.sh': 'a\n' })
    for (const name of ['run.sh', 'tool.sh']) chmodSync(join(there.root, name), 0o754)
    await there.say('apply_patch', {
      patch: envelope('*** Update File: run.sh', '@@', '-a', '+b', '*** Update File: tool.sh', '*** Move to: bin/tool.sh'),
    })
    expect(['run.sh', 'bin/tool.sh'].map((name) => statSync(join(there.root, name)).mode & 0o777)).toEqual([0o754, 0o754])
  })
})

it('every change of lines that a model writes in this form gives the text that was meant', async () => {
  const word = fc.constantFrom('a', 'b', 'c', 'd', 'e', '', '  f')
  const edit = fc.record({ at: fc.nat(30), remove: fc.nat(3), add: fc.array(word, { maxLength: 3 }) })
  const there = scene()
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 4, maxLength: 30 }), edit, async (words, { at, remove, add }) => {
      // Numbered, so that each line is unlike the others and the place is beyond doubt.
      const lines = words.map((each, index) => `${index} ${each}`)
      const start = at % lines.length
      const end = Math.min(lines.length, start + remove)
      fc.pre(end > start || add.length > 0)
      writeFileSync(join(there.root, 'a.txt'), `${lines.join('\n')}\n`)
      const body = [
        ...lines.slice(Math.max(0, start - 3), start).map((line) => ` ${line}`),
        ...lines.slice(start, end).map((line) => `-${line}`),
        ...add.map((line) => `+${line}`),
        ...lines.slice(end, end + 3).map((line) => ` ${line}`),
      ]
      await there.say('apply_patch', { patch: envelope('*** Update File: a.txt', '@@', ...body) })
      expect(there.read('a.txt')).toBe([...lines.slice(0, start), ...add, ...lines.slice(end)].map((line) => `${line}\n`).join(''))
    }),
    { numRuns: 30 },
  )
})

it('a patch of any letters is taken or refused, never more', () => {
  const part = fc.constantFrom(
    '*** Begin Patch',
    '*** End Patch',
    '*** Update File: a',
    '*** Add File: b',
    '*** Delete File: c',
    '*** Move to: d',
    '*** End of File',
    '@@',
    '@@ x',
    '@@ -1,2 +1 @@',
    '--- a/a',
    '+++ b/a',
    '--- /dev/null',
    '+++ /dev/null',
    'diff --git a/a b/a',
    'new file mode 100644',
    'rename from a',
    '\\ No newline at end of file',
    ' x',
    '-x',
    '+x',
    '',
    'x',
    '-- x',
    '++ y',
    '"',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 14 }), fc.constantFrom('\n', '\r\n'), (parts, end) => {
      try {
        for (const file of parsePatch(parts.join(end))) {
          expect(file.path).not.toBe('')
          if (file.kind !== 'add') expect(typeof applyHunks('x\n', file.hunks).ok).toBe('boolean')
        }
      } catch (error) {
        if (!(error instanceof FileError)) throw error
        expect(error.failure.remedy).not.toBe('')
      }
    }),
    { numRuns: 3_000 },
  )
})

it('a thousand hunks in a long file take bounded time', async () => {
  const lines = Array.from({ length: 100_000 }, (_, index) => (index % 3 === 0 ? '' : `line ${index}`))
  const hunks = Array.from({ length: 1_000 }, (_, index) => ['@@', ' ', ` line ${index * 99 + 1}`, `-line ${index * 99 + 2}`, '+changed'])
  const started = performance.now()
  expect((await patchedText(`${lines.join('\n')}\n`, ...hunks.flat())).split('\n').filter((line) => line === 'changed')).toHaveLength(1_000)
  expect(performance.now() - started).toBeLessThan(20_000)
})
