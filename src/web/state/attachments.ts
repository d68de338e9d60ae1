import type { InputPart } from '../../contracts/index.ts'
import { toBase64 } from '../../util/encode-bytes.ts'
import { detectMediaType, isReadableImage } from '../../util/media-type.ts'
import type { Attachment } from './drafts.ts'

/** The server takes bodies of 20 MB. Base64 makes a third more of the bytes, and the text needs room, too. */
const maxEncoded = 20_100_000
/** The server takes 100 parts, one of them the text. */
const maxParts = 99
/** A longer text would make the page slow while it is edited: it is attached. */
export const maxTypedChars = 100_000

export type Attached =
  | { readonly ok: true; readonly attachments: readonly Attachment[] }
  /** A sentence for people. */
  | { readonly ok: false; readonly problem: string }

/** All of them, or none. */
export function attach(before: readonly Attachment[], added: readonly Attachment[]): Attached {
  const attachments = [...before, ...added]
  const empty = added.find(({ bytes }) => bytes === 0)
  if (empty) return { ok: false, problem: `${empty.name} is empty.` }
  if (attachments.length > maxParts) return { ok: false, problem: `A message can have ${maxParts} attachments.` }
  if (attachments.reduce((sum, { part }) => sum + encodedBytes(part), 0) > maxEncoded)
    return { ok: false, problem: 'Attachments of one message can have 15 MB together. Nothing was attached.' }
  return { ok: true, attachments }
}

const encodedBytes = (part: InputPart): number => (part.type === 'text' ? new Blob([JSON.stringify(part.text)]).size : part.data.length)

export const textAttachment = (text: string): Attachment => ({
  name: 'Pasted text',
  bytes: new Blob([text]).size,
  part: { type: 'text', text },
})

export async function fileAttachment(file: File): Promise<Attachment> {
  const bytes = file.size > maxEncoded ? new Uint8Array(maxEncoded + 1) : new Uint8Array(await file.arrayBuffer())
  const mediaType = detectMediaType(bytes, file.type)
  const data = toBase64(bytes)
  const name = file.name || 'file'
  return {
    name,
    bytes: file.size,
    part: isReadableImage(mediaType) ? { type: 'image', mediaType, data } : { type: 'file', mediaType, data, name },
  }
}
