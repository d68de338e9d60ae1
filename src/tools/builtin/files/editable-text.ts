import { FileFault, type Place, type Snapshot } from '../../workspace/index.ts'
import { type Decoded, decodeFile } from './file-kind.ts'
import { counted } from './wording.ts'

/** Larger files are not changed in parts: all of one is in memory several times over while that goes on. */
export const largestEditable = 16 * 1024 * 1024

/** The text of a file that is to be changed in part. */
export function textOfSnapshot(
  { bytes, size }: Extract<Snapshot, { readonly kind: 'file' }>,
  { relative }: Place,
): Extract<Decoded, { readonly kind: 'text' }> {
  if (bytes === undefined) {
    throw new FileFault(
      'invalid_input',
      `${relative} is too large to be changed in part: ${counted(size, 'byte')}.`,
      `At most ${counted(largestEditable, 'byte')} are possible; use a command.`,
    )
  }
  const decoded = decodeFile(bytes)
  if (decoded.kind === 'text') return decoded
  throw new FileFault(
    'invalid_input',
    `${relative} is no UTF-8 text: ${decoded.what}, ${counted(size, 'byte')}.`,
    'Only texts can be changed in part.',
  )
}
