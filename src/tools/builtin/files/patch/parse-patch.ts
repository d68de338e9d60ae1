import { FileError } from '../../../workspace/index.ts'
import { parseEnvelope } from './parse-envelope.ts'
import { parseUnified } from './parse-unified.ts'
import { type FilePatch, PatchLines, patchError } from './patch-types.ts'

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
