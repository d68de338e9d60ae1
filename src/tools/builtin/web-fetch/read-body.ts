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
