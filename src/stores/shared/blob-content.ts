import { createHash } from 'node:crypto'
import type { BlobId } from '../../contracts/index.ts'
import { bytesId, mediaTypeOf } from './bytes-id.ts'

// Blobs of durable stores are named by the hash of their content, so that a copy of a tree in another store has the same ids.

export interface BlobContent {
  readonly id: BlobId
  readonly content: Buffer
}

type Encoding = 'utf8' | 'utf16le'

/** UTF-8 cannot store lone surrogates; a text with one is stored as UTF-16. */
export function textContent(text: string): BlobContent {
  const encoding = text.isWellFormed() ? 'utf8' : 'utf16le'
  const content = Buffer.from(text, encoding)
  return { id: textId(content, encoding), content }
}

export function bytesContent(bytes: Uint8Array, mediaType: string): BlobContent {
  const content = Buffer.from(bytes)
  return { id: bytesId(hashOf(content), mediaType), content }
}

/** How a text with that id is stored. `undefined` for ids of bytes, and for what is no id. */
export function encodingOf(id: string): Encoding | undefined {
  if (!/^w?[0-9a-f]{32}$/.test(id)) return undefined
  return id.startsWith('w') ? 'utf16le' : 'utf8'
}

/** Whether this is the content that was stored under the id. */
export function isContentOf(id: string, content: Buffer): boolean {
  const [encoding, mediaType] = [encodingOf(id), mediaTypeOf(id)]
  if (encoding !== undefined) return textId(content, encoding) === id
  return mediaType !== undefined && bytesId(hashOf(content), mediaType) === id
}

const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 32)

const textId = (content: Buffer, encoding: Encoding): BlobId => (encoding === 'utf8' ? hashOf(content) : `w${hashOf(content)}`) as BlobId
