import { FileError } from '../../../workspace/index.ts'
import { parseUnified } from './parse-unified.ts'
import { type FilePatch, type Hunk, hunkPosition, type PatchLine, PatchLines, parseLine, patchError } from './patch-types.ts'

/** Parses either format. @throws FileError with the line of the patch. */
export function parsePatch(patch: string): readonly FilePatch[] {
  const lines = linesOf(patch)
  const files = lines.some((line) => /^\*\*\* Begin Patch\s*$/.test(line)) ? parseEnvelope(new PatchLines(lines)) : unified(lines)
  if (files.length > 0) return files
  throw new FileError('invalid_input', 'The patch changes no file.', form)
}

function unified(lines: readonly string[]): readonly FilePatch[] {
  if (lines.some((line, index) => /^diff --git /.test(line) || (/^--- /.test(line) && /^\+\+\+ /.test(lines[index + 1] ?? ''))))
    return parseUnified(new PatchLines(lines))
  if (lines.some((line) => /^\*\*\* (?:Update|Add|Delete) File: /.test(line)))
    throw patchError(1, 'The patch does not begin with "*** Begin Patch".', form)
  const message = 'This is neither a patch from "*** Begin Patch" to "*** End Patch" nor a unified diff.'
  throw new FileError('invalid_input', message, form)
}

/** If all headers end with CRLF, the transport added it; otherwise carriage returns belong to the file. */
function linesOf(patch: string): readonly string[] {
  const lines = patch.split('\n')
  const isHeader = (line: string): boolean => /^(?:\*\*\* |--- |\+\+\+ |@@)/.test(line)
  const headers = lines.filter(isHeader)
  return headers.length > 0 && headers.every((line) => line.endsWith('\r')) ? lines.map((line) => line.replace(/\r$/, '')) : lines
}

const form = 'Write: *** Begin Patch, *** Update File: path, @@, lines that begin with " ", "-" or "+", and *** End Patch.'

// The format between *** Begin Patch and *** End Patch. Text around it is ignored: models put
// fences and here-documents there. Without the end marker it may be truncated, so it is rejected.

function parseEnvelope(lines: PatchLines): readonly FilePatch[] {
  const files: FilePatch[] = []
  while (!lines.isOver) {
    if (/^\*\*\* Begin Patch\s*$/.test(lines.take())) files.push(...parseFiles(lines))
  }
  return files
}

function parseFiles(lines: PatchLines): readonly FilePatch[] {
  const files: FilePatch[] = []
  while (!lines.isOver) {
    const { number } = lines
    const line = lines.take()
    if (/^\*\*\* End Patch\s*$/.test(line)) return files
    if (line.trim() === '') continue
    const [, verb, path = ''] = /^\*\*\* (Add|Delete|Update) File:(.*)$/.exec(line) ?? []
    if (verb !== undefined && path.trim() === '') throw patchError(number, `"${line}" names no file.`, `Write *** ${verb} File: path.`)
    if (verb === 'Add') files.push({ kind: 'add', path: path.trim(), content: parseContent(lines) })
    else if (verb === 'Delete') files.push({ kind: 'delete', path: path.trim(), hunks: [] })
    else if (verb === 'Update') files.push(parseUpdate(lines, path.trim()))
    else
      throw patchError(
        number,
        `"${line.slice(0, 80)}" is not expected here.`,
        'Expected: *** Add File, *** Delete File, *** Update File or *** End Patch.',
      )
  }
  throw patchError(lines.number, 'The patch has no "*** End Patch": it may be truncated.', 'Send the whole patch, or several smaller ones.')
}

const isHeader = (line: string): boolean => line.startsWith('*** ') && line.trim() !== endOfFile
const endOfFile = '*** End of File'

function parseContent(lines: PatchLines): string {
  let content = ''
  while (!lines.isOver && !isHeader(lines.peek() ?? '')) {
    if (lines.isBlankUntil(isHeader)) lines.take()
    else if (lines.peek()?.startsWith('+')) content += `${lines.take().slice(1)}\n`
    else throw patchError(lines.number, 'A line of a new file does not begin with "+".', 'Put "+" before every line, including empty ones.')
  }
  return content
}

function parseUpdate(lines: PatchLines, path: string): FilePatch {
  const { number } = lines
  const [, to] = /^\*\*\* Move to:(.*)$/.exec(lines.peek() ?? '') ?? []
  if (to !== undefined) lines.take()
  // Some models repeat the names, as in a unified diff.
  if (lines.peek()?.startsWith('--- ') && lines.peek(1)?.startsWith('+++ ')) {
    lines.take()
    lines.take()
  }
  const hunks: Hunk[] = []
  while (!lines.isOver && !isHeader(lines.peek() ?? '')) {
    if (lines.isBlankUntil(isHeader)) lines.take()
    else hunks.push(parseHunk(lines))
  }
  if (hunks.length === 0 && to === undefined)
    throw patchError(number, `The update of ${path} changes nothing.`, 'Add lines that begin with "-" or "+".')
  return { kind: 'update', path, hunks, ...(to !== undefined && { to: to.trim() }) }
}

function parseHunk(lines: PatchLines): Hunk {
  const { number } = lines
  const anchors: string[] = []
  let position: number | undefined
  while (lines.peek()?.startsWith('@@')) {
    const line = lines.take()
    const told = hunkPosition(line)
    const anchor = line.slice(2).trim()
    if (told) position = told.position
    else if (anchor !== '') anchors.push(anchor)
  }
  const body: PatchLine[] = []
  let isAtEnd = false
  for (let line = lines.peek(); line !== undefined && !line.startsWith('@@') && !isHeader(line); line = lines.peek()) {
    if (line.trim() === endOfFile) isAtEnd = true
    else if (!lines.isBlankUntil(isHeader)) body.push(parseLine(line, lines.number))
    lines.take()
    if (isAtEnd) break
  }
  if (!body.some(({ mark }) => mark !== ' '))
    throw patchError(number, 'A hunk has no line that begins with "-" or "+".', 'Remove the hunk, or add the change.')
  return { anchors, position, lines: body, isAtEnd, patchLine: number }
}
