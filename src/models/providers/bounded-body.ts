import type { Clock } from '../../contracts/index.ts'
import { FailureError } from '../failures/index.ts'
import { type EndMark, EndWatch } from './end-mark.ts'

export type BodyReader = ReadableStreamDefaultReader<Uint8Array>

/** Events are buffered until they are complete. The longest ones repeat a whole reply. */
const maxEventBytes = 16 * 1024 * 1024

interface EventRules {
  readonly clock: Clock
  readonly endMark?: EndMark | undefined
  /** Chunks that were already read. */
  readonly first?: readonly Uint8Array[]
}

/** The bytes of the response, but no endless event, and nothing after the end of the reply, even if the connection stays open. */
export function boundedEvents(reader: BodyReader, { clock, endMark, first = [] }: EventRules): ReadableStream<Uint8Array> {
  const bound = new EventBound()
  const watch = endMark && new EndWatch(endMark)
  const waiting = [...first]
  /** The deadline for the end of the response, once the reply has ended. */
  let deadline: number | undefined
  /** The next chunk; `undefined` at the end, or when the deadline has passed. */
  const next = async (): Promise<Uint8Array | undefined> => {
    const chunk = waiting.shift()
    if (chunk) return chunk
    if (deadline === undefined) return (await reader.read()).value
    const ms = deadline - clock.monotonic()
    return ms > 0 ? withTimeout(() => reader.read().then(({ value }) => value), { clock, ms }) : undefined
  }
  return new ReadableStream(
    {
      async pull(controller) {
        let chunk = await next()
        // After the reply only the end of the response is awaited, so that the connection can be reused.
        while (chunk && endMark?.isFinal && deadline !== undefined) chunk = await next()
        if (!chunk) {
          cancelReader(reader)
          return controller.close()
        }
        const end = watch?.read(chunk)
        if (endMark && end !== undefined) deadline = clock.monotonic() + endMark.timeoutMs
        if (!bound.holds(chunk)) {
          cancelReader(reader)
          throw eventTooLong()
        }
        controller.enqueue(endMark?.isFinal ? chunk.subarray(0, end) : chunk)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

const eventTooLong = (): FailureError =>
  new FailureError({
    class: 'invalid_response',
    message: 'The server sent an event that is too long.',
    remedy: 'Check the server, or add a fallback model.',
  })

const lineFeed = 10
const carriageReturn = 13

/** Counts by chunk, which costs next to nothing. */
class EventBound {
  #open = 0

  /** Whether the current event is within the limit. */
  holds(chunk: Uint8Array): boolean {
    const end = lastBlankLine(chunk)
    this.#open = end < 0 ? this.#open + chunk.length : chunk.length - end
    return this.#open <= maxEventBytes
  }
}

/** Where the last event in a chunk ends, or -1. An end that is split between two chunks is missed, which does no harm. */
function lastBlankLine(chunk: Uint8Array): number {
  for (let at = chunk.lastIndexOf(lineFeed); at > 0; at = chunk.lastIndexOf(lineFeed, at - 1)) {
    const before = chunk[at - 1] === carriageReturn ? at - 2 : at - 1
    if (chunk[before] === lineFeed) return at + 1
  }
  return -1
}

interface BeginningRules {
  readonly clock: Clock
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** The beginning of a body, as far as it arrives in time. The rest is not read. */
export async function readBeginning(reader: BodyReader, { clock, maxBytes, timeoutMs }: BeginningRules): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  const read = async (): Promise<void> => {
    while (length < maxBytes) {
      const { value } = await reader.read()
      if (!value) return
      chunks.push(value)
      length += value.length
    }
  }
  await withTimeout(read, { clock, ms: timeoutMs })
  cancelReader(reader)
  return new Uint8Array(Buffer.concat(chunks).subarray(0, maxBytes))
}

/** The result of the work, or `undefined` if it takes longer or fails. */
function withTimeout<T>(work: () => Promise<T>, { clock, ms }: { readonly clock: Clock; readonly ms: number }): Promise<T | undefined> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(undefined))
    const settle = (value: T | undefined): void => {
      cancel()
      resolve(value)
    }
    work().then(settle, () => settle(undefined))
  })
}

export function cancelReader(reader: BodyReader): void {
  reader.cancel().catch(() => {})
}
