/** `image/png` of `Image/PNG; q=1`. What is not a media type becomes `application/octet-stream`. */
export function plainMediaType(declared: string): string {
  const [type = ''] = declared.toLowerCase().split(';', 1)
  return /^[a-z0-9-]{1,20}\/[a-z0-9](?:[a-z0-9.+_-]{0,78}[a-z0-9])?$/.test(type.trim()) ? type.trim() : unknownType
}

const unknownType = 'application/octet-stream'

/** Media types that models read, by the first bytes of a file. `..` is any byte. */
const signatures: readonly (readonly [hex: string, mediaType: string])[] = [
  ['89504e470d0a1a0a', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['474946383761', 'image/gif'],
  ['474946383961', 'image/gif'],
  ['52494646........57454250', 'image/webp'],
  ['255044462d', 'application/pdf'],
]
const signedTypes: readonly string[] = signatures.map(([, mediaType]) => mediaType)

/**
 * The media type of bytes. Providers refuse a request with an image that is of another type than declared, and the image would
 * stay in the history: so the bytes decide about the types that models read.
 */
export function detectMediaType(bytes: Uint8Array, declared: string): string {
  const found = signatures.find(([hex]) => bytes.length * 2 >= hex.length && startsWith(bytes, hex))?.[1]
  if (found !== undefined) return found
  const type = plainMediaType(declared)
  return signedTypes.includes(type) ? unknownType : type
}

function startsWith(bytes: Uint8Array, hex: string): boolean {
  for (let index = 0; index < hex.length / 2; index++) {
    const expected = hex.slice(index * 2, index * 2 + 2)
    if (expected !== '..' && bytes[index] !== Number.parseInt(expected, 16)) return false
  }
  return true
}

/** Whether a model that reads images can read this type. */
export const isReadableImage = (mediaType: string): boolean => mediaType.startsWith('image/') && signedTypes.includes(mediaType)

/** A file whose content is text. */
export const isTextType = (mediaType: string): boolean =>
  /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|ya?ml|toml|javascript|x-ya?ml|x-sh)\b/i.test(mediaType)
