import { describe, expect, it } from 'vitest'
import { diffRows } from './diff-rows.ts'

describe('diffRows', () => {
  it('numbers lines, and takes content that looks like a header for content', () => {
    const diff = '--- a/x\n+++ b/x\n@@ -4,3 +4,3 @@ name\n same\n--- a comment\n+++ b\n last\n\\ No newline at end of file\n'
    expect(diffRows(diff)).toEqual([
      { kind: 'file', text: 'x' },
      { kind: 'hunk', text: '@@ -4,3 +4,3 @@ name' },
      { kind: 'same', text: ' same', line: 4 },
      { kind: 'removed', text: '--- a comment', line: 5 },
      { kind: 'added', text: '+++ b', line: 5 },
      { kind: 'same', text: ' last', line: 6 },
      { kind: 'same', text: '\\ No newline at end of file' },
    ])
  })
  it('has one line for the names of a file, and hides nothing else', () => {
    const texts = (diff: string) => diffRows(diff).map(({ text }) => text)
    expect(texts('diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b')).toEqual(['x', '@@ -1 +1 @@', '-a', '+b'])
    expect(texts('--- /dev/null\n+++ b/y')).toEqual(['y (new)'])
    expect(texts('diff --git a/z b/x\n--- a/x\n+++ b/y')).toEqual(['diff --git a/z b/x', 'x → y'])
    expect(texts('+++ b/x\n--- a/x\nnew file mode 100755')).toEqual(['+++ b/x', '--- a/x', 'new file mode 100755'])
  })
  it('reads several files, a new file, and a text without hunks', () => {
    expect(
      diffRows('@@ -0,0 +1 @@\n+one\ndiff --git a/b b/b\n--- a/b\n@@ -1 +0,0 @@\n-gone').map(({ kind, line }) => `${kind} ${line}`),
    ).toEqual(['hunk undefined', 'added 1', 'file undefined', 'file undefined', 'hunk undefined', 'removed 1'])
    expect(diffRows('+a\n-b\nc').map(({ kind }) => kind)).toEqual(['added', 'removed', 'same'])
  })
})
