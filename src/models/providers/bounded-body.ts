import { FailureError } from '../ai-sdk/index.ts'

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** Events are gathered until they are whole; the longest are those that repeat a whole reply at its end. */
const longestEvent = 16 * 1024 * 1024

/** The bytes as they come, but no event without an end. Counts by chunks of the network, so it costs next to nothing. */
export function boundedEvents(reader: Reader, first: readonly Uint8Array[] = []): ReadableStream<Uint8Array> {
  const waiting = [...first]
  let open = 0
  const grow = (chunk: Uint8Array): void => {
    const end = lastBlankLine(chunk)
    open = end < 0 ? open + chunk.length : chunk.length - end
    if (open <= longestEvent) return
    reader.cancel().catch(() => {})
    throw new FailureError({
      class: 'invalid_response',
      message: 'The server sent an event that did not stop.',
      remedy: 'Check what answers there, or name a further model to fall back on.',
    })
  }
  return new ReadableStream(
    {
      async pull(controller) {
        const chunk = waiting.shift()
        const { done, value } = chunk ? { done: false, value: chunk } : await reader.read()
        if (done || !value) return controller.close()
        grow(value)
        controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

const lineFeed = 10
const carriageReturn = 13

/** Where the last event in a chunk ends; below 0 where none does. One that ends between two chunks is missed, to no harm. */
function lastBlankLine(chunk: Uint8Array): number {
  for (let at = chunk.lastIndexOf(lineFeed); at > 0; at = chunk.lastIndexOf(lineFeed, at - 1)) {
    const before = chunk[at - 1] === carriageReturn ? at - 2 : at - 1
    if (chunk[before] === lineFeed) return at + 1
  }
  return -1
}

/** The beginning of a body; the rest is not read. */
export async function beginningOf(reader: Reader, mostBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  while (length < mostBytes) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    length += value.length
  }
  reader.cancel().catch(() => {})
  return new Uint8Array(Buffer.concat(chunks).subarray(0, mostBytes))
}
