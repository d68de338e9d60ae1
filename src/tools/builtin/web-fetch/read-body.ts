import type { IncomingMessage } from 'node:http'
import { type Duplex, PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib'

export interface Body {
  readonly bytes: Uint8Array
  readonly isCut: boolean
}

/** Reads and decompresses a body up to `mostBytes` of its text; the compressed side has a bound, too. */
export async function readBody(message: IncomingMessage, mostBytes: number, onProgress: () => void): Promise<Body> {
  const unpacked = decoderOf(message.headers['content-encoding'])
  if (!unpacked) throw new Error('the response has an unsupported content encoding')
  const chunks: Uint8Array[] = []
  let length = 0
  const take = async (source: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of source) {
      chunks.push(chunk)
      length += chunk.length
      if (length > mostBytes) return
    }
  }
  try {
    await pipeline(message, counter(2 * mostBytes + 65_536, onProgress), unpacked, take)
  } catch (error) {
    // The reader stopped because it has enough.
    if (length <= mostBytes) throw error
  } finally {
    message.destroy()
  }
  return { bytes: new Uint8Array(Buffer.concat(chunks).subarray(0, mostBytes)), isCut: length > mostBytes }
}

function counter(most: number, onProgress: () => void): (source: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array> {
  return async function* (source) {
    let packed = 0
    for await (const chunk of source) {
      onProgress()
      packed += chunk.length
      if (packed > most) throw new Error('the compressed response is too long')
      yield chunk
    }
  }
}

/** The limit of HTTP; the format allows gigabytes. */
const largestWindowLog = 23

function decoderOf(encoding = 'identity'): Duplex | undefined {
  switch (encoding.trim().toLowerCase()) {
    case 'identity':
    case '':
      return new PassThrough()
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: largestWindowLog } })
    default:
      return undefined
  }
}

export interface ContentType {
  /** Without parameters, in lower case; empty if the header is missing. */
  readonly type: string
  readonly charset?: string
}

export function readContentType(header: string | undefined): ContentType {
  const [type = '', ...parameters] = (header ?? '').slice(0, 500).split(';')
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([\w.:-]+)"?\s*$/i.exec(parameter)?.[1])
    .find((found) => found !== undefined)
  return { type: type.trim().toLowerCase(), ...(charset !== undefined && { charset }) }
}

const texts =
  /^(?:text\/.*|application\/(?:json|xml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|sql|graphql|x-sh|x-ndjson|jsonl|x-www-form-urlencoded)|.+\+(?:json|xml|yaml))$/

export function kindOf({ type }: ContentType): 'html' | 'text' | 'binary' | 'unknown' {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html'
  if (texts.test(type)) return 'text'
  return type === '' || type === 'application/octet-stream' ? 'unknown' : 'binary'
}

/** Decodes by byte order mark, header, declaration in the page, or as UTF-8. */
export function decodeContent(
  bytes: Uint8Array,
  contentType: ContentType,
): { readonly kind: 'html' | 'text' | 'binary'; readonly text: string } {
  const stated = kindOf(contentType)
  const beginning = new TextDecoder('latin1').decode(bytes.subarray(0, 1_024))
  const isHtml = stated === 'html' || (stated === 'unknown' && /^\s*(?:<!doctype html|<html|<head|<body)/i.test(beginning))
  const text = decoder(markOf(bytes) ?? contentType.charset ?? (isHtml || stated === 'text' ? charsetIn(beginning) : undefined)).decode(
    bytes,
  )
  // Text has no NUL. A replacement character at the end may come from cutting a letter.
  const isBinary = text.includes('\0') || (stated === 'unknown' && text.slice(0, 10_000).includes('\uFFFD'))
  if (isBinary) return { kind: 'binary', text: '' }
  return { kind: isHtml ? 'html' : 'text', text }
}

function markOf(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return a === 0xff && b === 0xfe ? 'utf-16le' : undefined
}

function charsetIn(beginning: string): string | undefined {
  const found =
    /<meta[^>]{0,500}?charset\s{0,10}=\s{0,10}["']?([\w.:-]{1,40})/i.exec(beginning)?.[1] ??
    /^<\?xml[^>]{0,200}?encoding\s{0,10}=\s{0,10}["']([\w.:-]{1,40})/.exec(beginning)?.[1]
  // A declaration that is readable in single bytes cannot be UTF-16.
  return found && /^utf-?16/i.test(found) ? 'utf-8' : found
}

function decoder(label = 'utf-8'): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label)
  } catch {
    return new TextDecoder()
  }
}
