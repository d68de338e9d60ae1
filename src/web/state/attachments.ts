import { toBase64 } from '../../util/encode-bytes.ts'
import { detectMediaType, isReadableImage } from '../../util/media-type.ts'
import type { Attachment } from './drafts.ts'

/** The server takes bodies of 20 MB. Base64 makes a third more of the bytes, and the text needs room, too. */
const maxEncoded = 20_100_000
/** The server takes 100 parts, one of them the text. */
const maxParts = 99
/** A longer text would make the page slow while it is edited: it is attached. */
export const maxTypedChars = 100_000

/** Why files cannot be attached to those before: a sentence for people. All of them are attached, or none. */
export function attachProblem(before: readonly Attachment[], added: readonly Attachment[]): string | undefined {
  const all = [...before, ...added]
  const empty = added.find(({ bytes }) => bytes === 0)
  if (empty) return `${empty.name} is empty.`
  if (all.length > maxParts) return `A message can have ${maxParts} attachments.`
  const isTooLarge = all.reduce((sum, each) => sum + encodedBytes(each), 0) > maxEncoded
  return isTooLarge ? `${namesOf(added)} not attached: a message can have 15 MB.` : undefined
}

const namesOf = ([first, ...others]: readonly Attachment[]): string =>
  others.length > 0 ? `${others.length + 1} files were` : `${first?.name} was`

const encodedBytes = ({ part, bytes }: Attachment): number =>
  part.type === 'text' ? new Blob([JSON.stringify(part.text)]).size : (bytes / 3) * 4

export const textAttachment = (text: string): Attachment => ({
  name: 'Pasted text',
  bytes: new Blob([text]).size,
  part: { type: 'text', text },
})

export async function fileAttachment(file: File): Promise<Attachment> {
  // A file that is too large is refused by its size.
  const bytes = new Uint8Array(file.size > maxEncoded ? [] : await file.arrayBuffer())
  const mediaType = detectMediaType(bytes, file.type)
  const data = toBase64(bytes)
  const name = file.name || 'file'
  return {
    name,
    bytes: file.size,
    part: isReadableImage(mediaType) ? { type: 'image', mediaType, data } : { type: 'file', mediaType, data, name },
  }
}
