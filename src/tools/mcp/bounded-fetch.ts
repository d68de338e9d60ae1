// 1. A response is cut at `maxMessageBytes`, a stream of events at events of that size.
// 2. A request whose stream ends without an answer fails; the library would wait for its deadline.
import type { FetchLike, RequestId } from '@modelcontextprotocol/client'
import { maxMessageBytes } from './mcp-limits.ts'
import type { TransportEvents } from './stdio-transport.ts'

/** How a stream of events ended. */
export interface StreamEnd {
  /** The id of the request that it belongs to. */
  readonly id: RequestId | undefined
  /** Its events have ids, so the library can go on where it ended. */
  readonly isResumable: boolean
}

/** `onStreamEnd`: the server, not this process, ended a stream. */
export function boundedFetch(fetch: typeof globalThis.fetch, events: TransportEvents, onStreamEnd: (end: StreamEnd) => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (!response.body) return response
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    const onEnd = (isResumable: boolean): void => {
      // The library reads the last event first.
      if (isStream && !init?.signal?.aborted) setImmediate(() => onStreamEnd({ id: requestIdOf(init), isResumable }))
    }
    const body = ReadableStream.from(boundedBody(response.body, { isStream, events, onEnd }))
    const bounded = new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers })
    Object.defineProperty(bounded, 'url', { value: response.url })
    return bounded
  }
}

function requestIdOf(init: RequestInit | undefined): RequestId | undefined {
  if (init?.method !== 'POST' || typeof init.body !== 'string' || !init.body.startsWith('{')) return undefined
  const { id, method } = JSON.parse(init.body) as { readonly id?: RequestId; readonly method?: string }
  return method === undefined ? undefined : id
}

interface BodyOptions {
  readonly isStream: boolean
  readonly events: TransportEvents
  readonly onEnd: (isResumable: boolean) => void
}

/** An event of a stream ends at an empty line. */
async function* boundedBody(body: ReadableStream<Uint8Array>, { isStream, events, onEnd }: BodyOptions): AsyncGenerator<Uint8Array> {
  let bytes = 0
  let endsLine = true
  let isResumable = false
  try {
    for await (const chunk of body) {
      events.onBytes(chunk.length)
      bytes += chunk.length
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      isResumable ||= isStream && hasIdLine(text, endsLine)
      const end = isStream ? lastEmptyLine(text, endsLine) : -1
      if (end !== -1) bytes = chunk.length - end
      endsLine = isNewline(chunk.at(-1))
      if (bytes > maxMessageBytes) {
        events.onOversized()
        throw new Error(`a message is larger than ${maxMessageBytes} bytes`)
      }
      yield chunk
    }
  } catch (error) {
    onEnd(isResumable)
    throw error
  }
  onEnd(isResumable)
}

/** `id:` at the beginning of a line; elsewhere it is content. */
const hasIdLine = (text: Buffer, isAfterLine: boolean): boolean =>
  (isAfterLine && text.indexOf('id:') === 0) || text.includes('\nid:') || text.includes('\rid:')

const isNewline = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d

/** Also one that began in the chunk before. */
function lastEmptyLine(text: Buffer, isAfterLine: boolean): number {
  const found = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'))
  return found === -1 && isAfterLine && isNewline(text[0]) ? 0 : found
}
