import { noNewline } from '../unified-diff.ts'
import {
  type FilePatch,
  type Hunk,
  type HunkHeader,
  hunkPosition,
  type PatchLine,
  type PatchLines,
  parseLine,
  patchError,
} from './patch-types.ts'

// Unified diffs, with or without git headers. Models often write wrong line counts, so these
// decide only if the lines are ambiguous.

export function parseUnified(lines: PatchLines): readonly FilePatch[] {
  const files: FilePatch[] = []
  while (!lines.isOver) {
    if (isFileHeader(lines)) files.push(parseFile(lines))
    else if (hunkPosition(lines.peek() ?? ''))
      throw patchError(lines.number, 'A hunk comes before the name of its file.', 'Write "--- a/path" and "+++ b/path" before it.')
    else lines.take()
  }
  return files
}

const isFileHeader = (lines: PatchLines): boolean => lines.peek()?.startsWith('diff --git ') === true || isNames(lines)
const isNames = (lines: PatchLines): boolean => lines.peek()?.startsWith('--- ') === true && lines.peek(1)?.startsWith('+++ ') === true

interface Facts {
  from?: string
  to?: string
  mode?: number
  isNew?: boolean
  isGone?: boolean
}

function parseFile(lines: PatchLines): FilePatch {
  const { number } = lines
  const facts = parseGitHeader(lines)
  if (isNames(lines)) {
    const [from, to] = strippedNames(nameIn(lines.take().slice(4)), nameIn(lines.take().slice(4)))
    if (from === undefined) facts.isNew = true
    else facts.from = from
    if (to === undefined) facts.isGone = true
    else facts.to = to
  }
  const hunks: Hunk[] = []
  while (hunkPosition(lines.peek() ?? '')) hunks.push(parseHunk(lines))
  return filePatch(facts, hunks, number)
}

function parseGitHeader(lines: PatchLines): Facts {
  const facts: Facts = {}
  if (!lines.peek()?.startsWith('diff --git ')) return facts
  const { number } = lines
  const names = gitNames(lines.take().slice('diff --git '.length))
  if (names !== undefined) Object.assign(facts, names)
  while (!lines.isOver && !isFileHeader(lines) && !hunkPosition(lines.peek() ?? '')) {
    const line = lines.take()
    const [, key, value = ''] =
      /^(new file mode|deleted file mode|old mode|new mode|rename from|rename to|copy from|GIT binary patch|Binary files)(?: (.*))?$/.exec(
        line,
      ) ?? []
    if (key === 'copy from' || key === 'GIT binary patch' || key === 'Binary files')
      throw patchError(number, `"${line}" cannot be applied.`, 'Only text files can be patched. Write copies with write_file.')
    if (key === 'new file mode') facts.isNew = true
    if (key === 'deleted file mode') facts.isGone = true
    if (key === 'new file mode' || key === 'new mode') facts.mode = modeOf(value, number)
    if (key === 'rename from') facts.from = nameIn(value)
    if (key === 'rename to') facts.to = nameIn(value)
  }
  return facts
}

function modeOf(value: string, number: number): number {
  if (!/^100\d{3}$/.test(value))
    throw patchError(number, `A file of mode ${value} cannot be created.`, 'Only regular files can be patched.')
  return Number.parseInt(value.slice(3), 8)
}

function filePatch({ from, to, mode, isNew, isGone }: Facts, hunks: readonly Hunk[], number: number): FilePatch {
  const moded = mode !== undefined && { mode }
  if (isNew && to !== undefined) return { kind: 'add', path: to, content: addedContent(hunks, number), ...moded }
  if (isGone && from !== undefined) return { kind: 'delete', path: from, hunks }
  if (from === undefined || to === undefined)
    throw patchError(number, 'A file of the patch has no name.', 'Write "--- a/path" and "+++ b/path".')
  if (hunks.length === 0 && from === to && mode === undefined)
    throw patchError(number, `The patch of ${to} has no hunks.`, 'Write "@@ -1,3 +1,4 @@" and the lines of the change.')
  return { kind: 'update', path: from, hunks, ...(from !== to && { to }), ...moded }
}

function addedContent(hunks: readonly Hunk[], number: number): string {
  const lines = hunks.flatMap((hunk) => hunk.lines)
  if (lines.some(({ mark }) => mark !== '+'))
    throw patchError(number, 'All lines of a new file must begin with "+".', 'To change an existing file, name it on both sides.')
  return lines.map(({ text, isUnended }) => (isUnended ? text : `${text}\n`)).join('')
}

function parseHunk(lines: PatchLines): Hunk {
  const patchLine = lines.number
  const header = hunkPosition(lines.take()) as HunkHeader
  const body: PatchLine[] = []
  const counts = { old: 0, new: 0 }
  while (!lines.isOver && !isHunkOver(lines, header, counts)) {
    const line = lines.take()
    if (line.trimEnd() === noNewline) markUnended(body)
    else {
      const parsed = parseLine(line, lines.number - 1)
      body.push(parsed)
      if (parsed.mark !== '+') counts.old++
      if (parsed.mark !== '-') counts.new++
    }
  }
  if (!body.some(({ mark }) => mark !== ' '))
    throw patchError(patchLine, 'A hunk changes nothing.', 'Remove it, or add lines that begin with "-" or "+".')
  return { anchors: [], position: header.position, lines: body, isAtEnd: false, patchLine }
}

function isHunkOver(lines: PatchLines, header: HunkHeader, counts: { readonly old: number; readonly new: number }): boolean {
  const line = lines.peek() ?? ''
  if (line.startsWith('\\')) return false
  if (hunkPosition(line) || line.startsWith('diff --git ') || line.startsWith('```')) return true
  const isComplete = counts.old >= header.oldCount && counts.new >= header.newCount
  if (isNames(lines)) {
    // Or a removed line "-- x" and an added line "++ y" just before another hunk.
    const completes = counts.old + 1 === header.oldCount && counts.new + 1 === header.newCount
    return isComplete || (hunkPosition(lines.peek(2) ?? '') !== undefined && !completes)
  }
  // Blank lines after a hunk, or the signature of a mailed patch.
  if (isComplete) return !/^[ +-]/.test(line) || line === '-- '
  return line === '' && lines.isBlankUntil((next) => /^(?:diff --git |--- |@@ -)/.test(next))
}

function markUnended(body: PatchLine[]): void {
  const last = body.pop()
  if (last) body.push({ ...last, isUnended: true })
}

/** `a/` and `b/` come from git; without the pair they are folders. */
function strippedNames(from: string, to: string): readonly [from: string | undefined, to: string | undefined] {
  const isPair = (from === nowhere || from.startsWith('a/')) && (to === nowhere || to.startsWith('b/'))
  const name = (path: string): string | undefined => (path === nowhere ? undefined : isPair ? path.slice(2) : path)
  return [name(from), name(to)]
}

const nowhere = '/dev/null'

/** Without the time that some programs add after a tab. */
function nameIn(text: string): string {
  const plain = text.trimEnd()
  return plain.startsWith('"') ? unquoted(plain) : (plain.split('\t')[0] ?? '').trim()
}

/** Git writes non-ASCII bytes as octal escapes. */
function unquoted(text: string): string {
  const inner = /^"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text
  const bytes: number[] = []
  for (const [asInteger, octal, letter] of inner.matchAll(/\\([0-7]{3})|\\(u[0-9a-fA-F]{4}|.)|[^\\]+/g)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8))
    else if (letter !== undefined)
      bytes.push(
        ...Buffer.from(letter.length > 1 ? String.fromCharCode(Number.parseInt(letter.slice(1), 16)) : (escapes[letter] ?? letter)),
      )
    else bytes.push(...Buffer.from(asInteger))
  }
  return Buffer.from(bytes).toString('utf8')
}

const escapes: { readonly [letter: string]: string } = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\u0007' }

/** Used if there are no other names, as for a change of mode. Both are the same. */
function gitNames(text: string): { readonly from: string; readonly to: string } | undefined {
  const quoted = /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")$/.exec(text)
  const half = (text.length - 1) / 2
  const [from, to] = quoted ? [unquoted(quoted[1] ?? ''), unquoted(quoted[2] ?? '')] : [text.slice(0, half), text.slice(half + 1)]
  if (!from.startsWith('a/') || !to.startsWith('b/') || from.slice(2) !== to.slice(2)) return undefined
  return { from: from.slice(2), to: to.slice(2) }
}
