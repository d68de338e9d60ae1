import { parseEnvelope } from './parse-envelope.ts'
import { parseUnified } from './parse-unified.ts'
import { type ParsedPatch, PatchError, PatchLines } from './patch-types.ts'

/** Parses either format. */
export function parsePatch(patch: string): ParsedPatch {
  const lines = linesOf(patch)
  try {
    const files = lines.some((line) => /^\*\*\* Begin Patch\s*$/.test(line)) ? parseEnvelope(new PatchLines(lines)) : unified(lines)
    if (files.length > 0) return { ok: true, files }
    return { ok: false, line: undefined, message: 'The patch changes no file.', remedy: form }
  } catch (error) {
    if (!(error instanceof PatchError)) throw error
    return { ok: false, line: error.line, message: error.message, remedy: error.remedy }
  }
}

function unified(lines: readonly string[]): ReturnType<typeof parseUnified> {
  if (lines.some((line, index) => /^diff --git /.test(line) || (/^--- /.test(line) && /^\+\+\+ /.test(lines[index + 1] ?? '')))) {
    return parseUnified(new PatchLines(lines))
  }
  if (lines.some((line) => /^\*\*\* (?:Update|Add|Delete) File: /.test(line)))
    throw new PatchError(1, 'The patch does not begin with "*** Begin Patch".', form)
  throw new PatchError(undefined, 'This is neither a patch from "*** Begin Patch" to "*** End Patch" nor a unified diff.', form)
}

/** If all headers end with CRLF, the transport added it; otherwise carriage returns belong to the file. */
function linesOf(patch: string): readonly string[] {
  const lines = patch.split('\n')
  const isHeader = (line: string): boolean => /^(?:\*\*\* |--- |\+\+\+ |@@)/.test(line)
  const headers = lines.filter(isHeader)
  return headers.length > 0 && headers.every((line) => line.endsWith('\r')) ? lines.map((line) => line.replace(/\r$/, '')) : lines
}

const form = 'Write: *** Begin Patch, *** Update File: path, @@, lines that begin with " ", "-" or "+", and *** End Patch.'
