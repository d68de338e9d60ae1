export interface DiffRow {
  readonly kind: 'added' | 'removed' | 'same' | 'hunk' | 'file'
  readonly text: string
  /** The line number after the change; before it, if the line was removed. */
  readonly line?: number
}

interface Hunk {
  before: number
  after: number
  removed: number
  added: number
}

/** The lines of a `git diff`, with one for each file. Its hunks say how long they are: a removed line `-- x` is no file header. */
export function diffRows(diff: string): readonly DiffRow[] {
  const hunk: Hunk = { before: 0, after: 0, removed: 0, added: 0 }
  const rows = diff
    .replace(/\n$/, '')
    .split('\n')
    .map((text) => rowOf(text, hunk))
  return rows.flatMap((row, at) => {
    const [before, next, third] = [rows[at - 1], rows[at + 1], rows[at + 2]]
    const names = namesOf(next, third)
    if (namesOf(before, row) || (names && row.text === `diff --git ${names.join(' ')}`)) return []
    const [from, to] = namesOf(row, next) ?? []
    return [from === undefined || to === undefined ? row : { kind: 'file', text: fileText(from, to) }]
  })
}

/** The names of a file before and after, which are two lines of a diff. */
function namesOf(first: DiffRow | undefined, second: DiffRow | undefined): readonly [string, string] | undefined {
  if (first?.kind !== 'file' || second?.kind !== 'file') return undefined
  return first.text.startsWith('--- ') && second.text.startsWith('+++ ') ? [first.text.slice(4), second.text.slice(4)] : undefined
}

function fileText(from: string, to: string): string {
  const [before, after] = [from.replace(/^a\//, ''), to.replace(/^b\//, '')]
  if (from === '/dev/null') return `${after} (new)`
  if (to === '/dev/null') return `${before} (deleted)`
  return before === after ? after : `${before} → ${after}`
}

function rowOf(text: string, hunk: Hunk): DiffRow {
  if (hunk.removed > 0 || hunk.added > 0) {
    if (text.startsWith('\\')) return { kind: 'same', text }
    if (text.startsWith('+')) {
      hunk.added--
      return { kind: 'added', text, line: hunk.after++ }
    }
    hunk.removed--
    if (text.startsWith('-')) return { kind: 'removed', text, line: hunk.before++ }
    hunk.added--
    hunk.before++
    return { kind: 'same', text, line: hunk.after++ }
  }
  const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text)
  if (!head) return { kind: /^(?:diff|index|---|\+\+\+) /.test(text) ? 'file' : plainKind(text), text }
  Object.assign(hunk, { before: Number(head[1]), removed: Number(head[2] ?? 1), after: Number(head[3]), added: Number(head[4] ?? 1) })
  return { kind: 'hunk', text }
}

function plainKind(text: string): DiffRow['kind'] {
  if (text.startsWith('+')) return 'added'
  return text.startsWith('-') ? 'removed' : 'same'
}
