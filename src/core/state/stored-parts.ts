import type { BlobId, CallRecord, InputPart, Message, ModelAbility, OutputPart, StoredPart } from '../../contracts/index.ts'
import { isReadableImage } from '../../util/media-type.ts'
import type { StoredContent } from './state.ts'

const scheme = 'blob:'

/** The address of a stored input part. */
export const blobAddress = (blob: BlobId): string => `${scheme}${blob}`

/** The stored bytes of an input part. */
export const blobOfInput = (part: InputPart): BlobId | undefined =>
  part.type !== 'text' && part.data.startsWith(scheme) ? (part.data.slice(scheme.length) as BlobId) : undefined

/** Whether the bytes of a part are in the blob store. */
export const isStoredPart = (part: InputPart | OutputPart): boolean =>
  'blob' in part || ('data' in part && part.data !== undefined && part.data.startsWith(scheme))

export const hasStoredParts = (message: Message): boolean =>
  message.role === 'tool'
    ? message.results.some(({ parts }) => parts?.some(isStoredPart) === true)
    : message.role === 'user' && message.parts.some(isStoredPart)

/** The ability that a model needs to read this part of a result. `undefined` if no model reads it: it stays a line of text. */
export function abilityFor(part: OutputPart): ModelAbility | undefined {
  if (!('blob' in part)) return undefined
  if (isReadableImage(part.mediaType)) return 'images'
  return part.mediaType === 'application/pdf' ? 'files' : undefined
}

export const isReadableBy = (part: OutputPart, abilities: readonly ModelAbility[]): part is StoredPart => {
  const ability = abilityFor(part)
  return ability !== undefined && abilities.includes(ability)
}

export const nothingStored: StoredContent = { output: false, parts: false, offers: [] }

export const withStoredOutput = (stored: StoredContent, { output, parts = [] }: CallRecord): StoredContent => ({
  ...stored,
  output: stored.output || output !== undefined || parts.some(({ type }) => type === 'file'),
  parts: stored.parts || parts.some(isStoredPart),
})
