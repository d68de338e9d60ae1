import {
  type FilePart,
  type ImagePart,
  type InputPart,
  type MaybePromise,
  type StoredPart,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { blobAddress } from '../../core/index.ts'
import { parseDataUrl } from '../../util/data-url.ts'
import { detectMediaType, isTextType, plainMediaType } from '../../util/media-type.ts'
import type { Redactor } from '../../util/redact.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'

type MediaPart = Pick<ImagePart | FilePart, 'type' | 'mediaType' | 'data'>

/** As much as one request can have. */
export const maxInputPartBytes = 20 * 1024 ** 2

/**
 * Moves the bytes of images and files to the blob store: journal and inbox contain no base64. Addresses stay addresses.
 *
 * @throws TroupeError `usage` for a part that is too large, or empty: the provider would refuse it in every later step, too.
 */
export function storeInput(
  parts: RuntimeParts,
  { treeId, what = 'the input' }: { readonly treeId: TreeId; readonly what?: string },
  input: readonly InputPart[],
): MaybePromise<readonly InputPart[]> {
  if (!input.some(hasBytes)) return input
  return Promise.all(
    input.map(async (part, index) => {
      const stored = hasBytes(part) ? await storeBytes(parts, treeId, { part, place: `Part ${index + 1} of ${what}` }) : undefined
      return stored && part.type !== 'text'
        ? { ...part, mediaType: stored.mediaType, data: blobAddress(stored.blob), bytes: stored.bytes }
        : part
    }),
  )
}

/** `undefined` if the part has no readable data. */
export async function storeBytes(
  parts: RuntimeParts,
  treeId: TreeId,
  { part, place }: { readonly part: MediaPart; readonly place: string },
): Promise<Pick<StoredPart, 'mediaType' | 'blob' | 'bytes'> | undefined> {
  const found = bytesOf(part, parts.overlays.of(treeId).redactor)
  if (!found) return undefined
  const { mediaType, bytes } = found
  if (bytes.length === 0) throw empty(place)
  if (bytes.length > maxInputPartBytes) throw tooLarge(place, bytes.length)
  const blob = await parts.options.store.blobs.putBytes(treeId, bytes, plainMediaType(mediaType))
  return { mediaType, blob, bytes: bytes.length }
}

/** Base64 contains no colon. */
export const hasBytes = (part: InputPart): part is ImagePart | FilePart =>
  part.type !== 'text' && (isDataUrl(part.data) || !/^[a-z][a-z0-9+.-]*:/i.test(part.data))

const isDataUrl = (data: string): boolean => /^data:/i.test(data)

/** `undefined` for a `data:` URL without readable data: the model adapter reports it. */
function bytesOf(part: MediaPart, redactor: Redactor): { readonly mediaType: string; readonly bytes: Buffer } | undefined {
  const read = isDataUrl(part.data) ? readDataUrl(part.data) : { declared: '', bytes: Buffer.from(part.data, 'base64') }
  if (!read) return undefined
  // The media type in the address wins.
  const mediaType = read.declared === '' ? part.mediaType : read.declared
  if (part.type === 'image' || !isTextType(mediaType)) return { mediaType: typeOf(read.bytes, mediaType), bytes: read.bytes }
  return { mediaType, bytes: Buffer.from(redactor.text(read.bytes.toString('utf8'))) }
}

/** What is not recognized keeps its type. */
function typeOf(bytes: Uint8Array, declared: string): string {
  const detected = detectMediaType(bytes, '')
  return detected === plainMediaType('') ? declared : detected
}

function readDataUrl(url: string): { readonly declared: string; readonly bytes: Buffer } | undefined {
  const parsed = parseDataUrl(url)
  if (!parsed) return undefined
  const { mediaType: declared, isBase64, body } = parsed
  try {
    return { declared, bytes: isBase64 ? Buffer.from(body, 'base64') : Buffer.from(decodeURIComponent(body)) }
  } catch {
    return undefined
  }
}

const empty = (place: string): TroupeError =>
  new TroupeError('usage', `${place} has no bytes: its data is empty or not base64.`, {
    remedy: 'Pass the bytes in base64, or an https: address that the provider can read.',
  })

const tooLarge = (place: string, bytes: number): TroupeError =>
  new TroupeError('usage', `${place} has ${(bytes / 1024 ** 2).toFixed(1)} MB; a part may have 20 MB.`, {
    remedy: 'Pass a smaller file, or an https: address that the provider can read.',
  })
