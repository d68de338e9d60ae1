import type { FilePart, ImagePart, OutputPart, StoredPart } from '../../contracts/index.ts'

// Texts for models about parts that they do not read.

/** `[image/png, 34 KB, handle b3f….image.png]` */
export const storedPartText = ({ mediaType, bytes, blob, name }: StoredPart, note = ''): string =>
  `[${named(name)}${mediaType}, ${sizeText(bytes)}, handle ${blob}${note}]`

export const linkText = ({ uri, name, mediaType }: Extract<OutputPart, { type: 'link' }>): string =>
  `[link, ${named(name)}${mediaType === undefined ? '' : `${mediaType}, `}${uri}]`

/** For an input part whose bytes are not in a request. */
export function inputPartText(part: ImagePart | FilePart): string {
  const size = part.bytes === undefined ? '' : `, ${sizeText(part.bytes)}`
  const place = /^(?:https?|blob):/i.test(part.data) ? `, ${part.data.replace(/^blob:/, 'handle ')}` : ''
  return `[${named(part.type === 'file' ? part.name : undefined)}${part.mediaType}${size}${place}]`
}

const named = (name: string | undefined): string => (name === undefined ? '' : `${JSON.stringify(name)}, `)

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  return bytes < 1024 ** 2 ? `${Math.round(bytes / 1024)} KB` : `${Math.round((bytes / 1024 ** 2) * 10) / 10} MB`
}
