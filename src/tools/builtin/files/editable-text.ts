import { FileError, type Snapshot, type WorkspacePath } from '../../workspace/index.ts'
import { type Decoded, decodeFile } from './file-kind.ts'
import { countOf } from './text-helpers.ts'

/** An edit holds the whole file in memory several times. */
export const largestEditable = 16 * 1024 * 1024

/** The text of a file that is edited. */
export function textOfSnapshot(
  { bytes, size }: Extract<Snapshot, { readonly kind: 'file' }>,
  { relative }: WorkspacePath,
): Extract<Decoded, { readonly kind: 'text' }> {
  if (bytes === undefined) {
    throw new FileError(
      'invalid_input',
      `${relative} is too large to edit: ${countOf(size, 'byte')}.`,
      `At most ${countOf(largestEditable, 'byte')} are allowed. Use a shell command.`,
    )
  }
  const decoded = decodeFile(bytes)
  if (decoded.kind === 'text') return decoded
  throw new FileError(
    'invalid_input',
    `${relative} is not UTF-8 text: ${decoded.what}, ${countOf(size, 'byte')}.`,
    'Only text files can be edited.',
  )
}
